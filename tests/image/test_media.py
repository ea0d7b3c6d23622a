"""I5, I8: pictures, sound and video, by Python and by ffmpeg."""


def test_pictures_by_pillow(person):
    run = person.python('''
from PIL import Image, ImageDraw, ImageFilter
image = Image.new("RGB", (400, 300), "white"); d = ImageDraw.Draw(image)
for i in range(40): d.ellipse((i * 5, i * 4, i * 5 + 90, i * 4 + 60), outline=(i * 6, 90, 200), width=3)
image.filter(ImageFilter.GaussianBlur(1)).resize((200, 150)).rotate(90, expand=True).save("a.jpg", quality=85)
image.save("a.webp"); image.convert("P").save("a.gif"); image.save("a.tiff")
''')
    assert run.picture("a.jpg", 150, 200)["kind"] == "JPEG"
    for name in ("a.webp", "a.gif", "a.tiff"):
        run.picture(name, 400, 300)


def test_pictures_by_opencv(person):
    run = person.python('''
import cv2, numpy as np
image = np.full((240, 320, 3), 255, np.uint8)
cv2.circle(image, (100, 120), 50, (0, 0, 255), -1); cv2.rectangle(image, (200, 60), (280, 180), (255, 0, 0), -1)
grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY); edges = cv2.Canny(grey, 50, 150)
contours, _ = cv2.findContours(255 - cv2.threshold(grey, 250, 255, cv2.THRESH_BINARY)[1], cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
cv2.imwrite("edges.png", edges); print(len(contours))
''')
    assert run.text == "2\n"
    run.picture("edges.png", 320, 240, colours=2)


def test_pictures_by_scikit_image(person):
    run = person.python('''
import numpy as np
from skimage import data, filters, io, measure, transform
image = data.checkerboard(); print(image.shape, measure.label(image > 100, connectivity=1).max() > 1)
io.imsave("small.png", (transform.resize(filters.gaussian(image), (120, 160)) * 255).astype(np.uint8), check_contrast=False)
''')
    assert run.text == "(200, 200) True\n"
    run.picture("small.png", 160, 120)


def test_pictures_by_imagemagick(person):
    run = person.bash('''
set -e
magick -size 300x200 gradient:blue-yellow -pointsize 40 -fill black -gravity center -annotate 0 "Привет" a.png
magick a.png -resize 50% -colorspace Gray b.jpg
identify -format '%w %h\\n' b.jpg
''')
    assert run.text == "150 100\n"
    run.picture("a.png", 300, 200)
    run.picture("b.jpg", 150, 100)


def test_frames_to_gif_and_video_by_imageio(person):
    run = person.python('''
import imageio.v3 as iio, numpy as np
frames = np.zeros((12, 96, 128, 3), np.uint8)
for i in range(12): frames[i, :, i * 10:i * 10 + 10] = (255, i * 20, 0)
iio.imwrite("a.gif", frames, duration=80, loop=0); iio.imwrite("a.mp4", frames, fps=6)
print(iio.imread("a.mp4").shape[0])
''')
    assert run.text == "12\n"
    assert run.picture("a.gif", 128, 96, colours=2)["frames"] == 12
    assert run.made("a.mp4")["frames"] == 12


def test_moviepy_joins_clips_and_sound(person):
    facts = person.python('''
import numpy as np
from moviepy import AudioClip, ColorClip, TextClip, CompositeVideoClip, concatenate_videoclips
parts = [ColorClip((160, 120), color=c, duration=1) for c in ((255, 0, 0), (0, 0, 255))]
text = TextClip(font="/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", text="Привет", font_size=24, color="white", duration=2)
clip = CompositeVideoClip([concatenate_videoclips(parts), text.with_position("center")])
clip = clip.with_audio(AudioClip(lambda t: np.sin(440 * 2 * np.pi * t), duration=2, fps=22050))
clip.write_videofile("joined.mp4", fps=8, logger=None, threads=1)
''').made("joined.mp4")
    assert facts["frames"] == 16 and sorted(facts["streams"]) == ["audio", "video"] and 430 < facts["hertz"] < 450


def test_ffmpeg_cuts_scales_and_converts(person):
    run = person.bash('''
set -e
ffmpeg -v error -f lavfi -i testsrc=size=320x240:rate=10 -f lavfi -i sine=frequency=880 -t 4 -pix_fmt yuv420p in.mp4
ffmpeg -v error -ss 1 -t 2 -i in.mp4 -vf scale=160:-2,setpts=0.5*PTS -an fast.webm
ffmpeg -v error -i in.mp4 -vn -b:a 96k sound.mp3
ffmpeg -v error -i in.mp4 -vf "fps=5,scale=120:-1:flags=lanczos,split[a][b];[a]palettegen[p];[b][p]paletteuse" -t 2 small.gif
ffmpeg -v error -i in.mp4 -ss 2 -frames:v 1 shot.png
ffprobe -v error -show_entries format=duration -of csv=p=0 in.mp4
''')
    assert run.text.startswith("4.0")
    assert run.made("fast.webm")["width"] == 160
    assert 870 < run.made("sound.mp3")["hertz"] < 890
    assert run.picture("small.gif", 120, 90)["frames"] == 10
    run.picture("shot.png", 320, 240)


def test_ffmpeg_puts_subtitles_and_a_watermark(person):
    run = person.bash('''
set -e
printf '1\\n00:00:00,000 --> 00:00:02,000\\nПривет, мир\\n' > s.srt
ffmpeg -v error -f lavfi -i color=black:s=320x180:r=5 -t 2 -vf "subtitles=s.srt:force_style='FontSize=32'" -pix_fmt yuv420p out.mp4
''')
    assert run.made("out.mp4")["first"]["spread"] > 3


def test_slideshow_from_pictures(person):
    run = person.bash('''
set -e
for i in 1 2 3; do magick -size 320x240 xc:"hsl($((i * 100)),200,120)" "$i.png"; done
ffmpeg -v error -framerate 1 -i %d.png -r 10 -pix_fmt yuv420p show.mp4
''')
    facts = run.made("show.mp4")
    assert facts["frames"] == 30 and facts["first"]["spread"] > 3


def test_sound_made_and_changed(person):
    run = person.python('''
import numpy as np, soundfile as sf
from pydub import AudioSegment
from scipy.io import wavfile
rate = 22050; t = np.arange(rate) / rate
wavfile.write("a.wav", rate, (np.sin(2 * np.pi * 440 * t) * 20000).astype(np.int16))
data, read = sf.read("a.wav"); sf.write("b.flac", data * .5, read); sf.write("c.ogg", data, read)
sound = AudioSegment.from_file("a.wav"); (sound + AudioSegment.silent(500) + sound.reverse()).fade_in(100).export("d.mp3", format="mp3").close()
print(len(sound), read)
''')
    assert run.text == "1000 22050\n"
    assert 438 < run.made("b.flac")["hertz"] < 442
    assert 2.4 < run.made("d.mp3")["seconds"] < 2.7
    assert run.made("c.ogg")["rms"] > 0.1


def test_spectrum(person):
    run = person.python('''
import numpy as np, matplotlib.pyplot as plt
from scipy import signal
fs = 8000; t = np.arange(fs * 2) / fs
wave = signal.chirp(t, 200, 2, 3000)
plt.specgram(wave, Fs=fs); plt.savefig("spectrum.png")
b, a = signal.butter(4, 1000, fs=fs); print(np.abs(signal.filtfilt(b, a, wave)[-4000:-1000]).max() < .1)
''')
    assert run.text == "True\n"
    run.picture("spectrum.png", 600, 400)
