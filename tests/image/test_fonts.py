"""B7: every script and emoji drawn without a missing glyph, by matplotlib with any font that a script chooses."""
import pytest

SCRIPTS = {
    "Latin": "Grüße, Žluťoučký kůň, Tiếng Việt", "Cyrillic": "Выручка по городам Ґґ Її", "Greek": "Καλημέρα κόσμε",
    "Chinese": "你好，世界 繁體字", "Japanese": "こんにちは カタカナ 漢字", "Korean": "안녕하세요 세계", "Arabic": "مرحبا بالعالم",
    "Persian": "سلام دنیا پچژگ", "Hebrew": "שלום עולם", "Devanagari": "नमस्ते दुनिया", "Thai": "สวัสดีชาวโลก", "Bengali": "ওহে বিশ্ব",
    "Tamil": "வணக்கம் உலகம்", "Telugu": "హలో ప్రపంచం", "Gujarati": "હેલો વિશ્વ", "Gurmukhi": "ਸਤ ਸ੍ਰੀ ਅਕਾਲ", "Kannada": "ಹಲೋ ವಿಶ್ವ",
    "Malayalam": "ഹലോ ലോകം", "Sinhala": "ආයුබෝවන්", "Georgian": "გამარჯობა", "Armenian": "Բարև աշխարհ", "Ethiopic": "ሰላም ልዑል",
    "Khmer": "សួស្តីពិភពលោក", "Lao": "ສະບາຍດີ", "Burmese": "မင်္ဂလာပါ", "Tibetan": "བཀྲ་ཤིས་བདེ་ལེགས", "Mongolian": "ᠰᠠᠢᠨ ᠪᠠᠢᠨ᠎ᠠ",
    "Symbols": "₽ € ₹ ₿ → ⇒ ∑ ∞ ≤ ★ ☎ ♞ ⚑ ½ № ™", "Emoji": "😀 🚀 📈 ❤ 👍 🎉 🐍 🥰 🦊 🧑 🫠 🫡",
}
PAGE = f'''
import matplotlib.pyplot as plt
texts = {SCRIPTS!r}
fig, ax = plt.subplots(figsize=(14, 12))
for i, (name, text) in enumerate(texts.items()):
    ax.text(0.02, 1 - (i + 0.7) / len(texts), name, fontsize=12)
    ax.text(0.2, 1 - (i + 0.7) / len(texts), text, fontsize=15)
    ax.text(0.6, 1 - (i + 0.7) / len(texts), text, fontsize=15, weight="bold")
ax.axis("off")
fig.savefig("page.png")
'''


def test_B7_a_page_of_all_scripts_and_emoji(person):
    page = person.python(PAGE).picture("page.png", 1400, 1200)
    assert page["spread"] > 20


# What scripts set, seaborn's and matplotlib's styles, names of fonts that are not free, and the PDF and SVG backends.
STYLES = [
    'plt.rcParams["font.family"] = "sans-serif"', 'plt.rcParams["font.sans-serif"] = ["SimHei", "Arial"]', 'plt.style.use("ggplot")',
    'plt.rcParams["font.family"] = "Arial"', 'plt.rcParams["font.family"] = "Times New Roman"', 'plt.rcParams["font.family"] = "monospace"',
    'plt.rcParams["font.family"] = "Noto Sans CJK SC"', 'import seaborn; seaborn.set_theme()',
]


@pytest.mark.parametrize("first", range(0, len(STYLES), 2))
def test_B7_whatever_font_a_script_asks_for(person, first):
    styles = STYLES[first:first + 2]
    made = "\n".join(f"plt.rcdefaults(); {style}\ndraw('style{i}')" for i, style in enumerate(styles))
    run = person.python(f'''
import matplotlib; matplotlib.use("Agg")
import matplotlib.pyplot as plt
text = "Жук Ωμέγα 你好 한글 مرحبا שלום नमस्ते ไทย 😀🚀"
def draw(name):
    fig, ax = plt.subplots(figsize=(6, 2))
    ax.set_title(text); ax.text(0.1, 0.5, text); ax.set_xlabel(text, style="italic", weight="bold")
    fig.savefig(name + ".png"); plt.close(fig)
{made}
''')
    for i in range(len(styles)):
        run.picture(f"style{i}.png", 600, 200)


@pytest.mark.parametrize("kind", ["pdf", "svg"])
def test_B7_in_other_formats(person, kind):
    facts = person.python(f'''
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.set_title("Жук 你好 한글 مرحبا नमस्ते ไทย 😀")
ax.plot([1, 2])
fig.savefig("chart.{kind}")
''').made(f"chart.{kind}")
    assert facts["bytes"] > 8000 and facts.get("pages", 1) == 1


def test_I6_the_font_list_is_the_image_s(person):
    run = person.python('''
import os, time
import matplotlib.font_manager as fonts
print(len(fonts.fontManager.ttflist) > 200, os.listdir(os.environ["MPLCONFIGDIR"]) if os.path.exists(os.environ["MPLCONFIGDIR"]) else [])
''')
    assert run.text == "True []\n"


def test_ffmpeg_draws_text_of_any_script(person):
    run = person.bash('''
ffmpeg -v error -f lavfi -i color=white:s=480x80 -frames:v 1 \\
    -vf "drawtext=text='Выручка 2026':fontsize=40:x=10:y=20" out.png
''')
    run.picture("out.png", 480, 80)


def test_pillow_finds_fonts_by_their_usual_names(person):
    run = person.python('''
from PIL import Image, ImageDraw, ImageFont
image = Image.new("RGB", (400, 160), "white")
draw = ImageDraw.Draw(image)
for y, name in enumerate(["arial.ttf", "DejaVuSans.ttf", "NotoSansCJK-Regular.ttc"]):
    draw.text((10, 50 * y), "Привет 你好" if "CJK" in name else "Привет", font=ImageFont.truetype(name, 36), fill="navy")
image.save("text.png")
''')
    run.picture("text.png", 400, 160)
