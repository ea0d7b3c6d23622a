"""Runs in the image: reads {"name", "data"} lines, answers with facts about each file, by its extension."""
import base64
import csv
import io
import json
import os
import subprocess
import sys
import tempfile


def picture(data):
    import numpy as np
    from PIL import Image

    image = Image.open(io.BytesIO(data))
    frames = getattr(image, "n_frames", 1)
    paper = Image.new("RGBA", image.size, "white")  # what is transparent is seen on white
    pixels = np.asarray(Image.alpha_composite(paper, image.convert("RGBA")).convert("RGB"))
    few = pixels[:: max(1, pixels.shape[0] // 400), :: max(1, pixels.shape[1] // 400)].reshape(-1, 3)
    return {"kind": image.format, "width": image.width, "height": image.height, "frames": frames, "mode": image.mode,
            "colours": len(np.unique(few, axis=0)), "spread": float(few.std()), "mean": [float(v) for v in few.mean(axis=0)],
            "corner": [int(v) for v in pixels[0, 0]]}


def vector(data):
    import cairosvg

    return {**picture(cairosvg.svg2png(bytestring=data)), "kind": "SVG", "text": data.decode()}


def workbook(data):
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(data))
    return {"sheets": {s.title: [[c if isinstance(c, (int, float, str)) or c is None else str(c) for c in row]
                                 for row in s.iter_rows(values_only=True)] for s in book},
            "charts": sum(len(s._charts) for s in book), "pictures": sum(len(s._images) for s in book)}


def document(data):
    import docx

    made = docx.Document(io.BytesIO(data))
    return {"text": "\n".join(p.text for p in made.paragraphs), "pictures": len(made.inline_shapes),
            "tables": [[[c.text for c in row.cells] for row in t.rows] for t in made.tables]}


def slides(data):
    import pptx

    made = pptx.Presentation(io.BytesIO(data))
    return {"slides": [[s.text_frame.text for s in slide.shapes if s.has_text_frame] for slide in made.slides],
            "charts": sum(s.has_chart for slide in made.slides for s in slide.shapes)}


def pdf(data):
    import pypdf

    made = pypdf.PdfReader(io.BytesIO(data))
    return {"pages": len(made.pages), "text": "\n".join(page.extract_text() for page in made.pages),
            "encrypted": made.is_encrypted}


def media(data, name):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file" + os.path.splitext(name)[1])
        with open(path, "wb") as file:
            file.write(data)
        probe = ["ffprobe", "-v", "error", "-count_frames", "-show_format", "-show_streams", "-of", "json", path]
        found = json.loads(subprocess.run(probe, capture_output=True, check=True).stdout)
        facts = {"seconds": float(found["format"]["duration"]), "streams": [s["codec_type"] for s in found["streams"]]}
        for stream in found["streams"]:
            if stream["codec_type"] == "video":
                facts |= {"codec": stream["codec_name"], "width": stream["width"], "height": stream["height"],
                          "frames": int(stream["nb_read_frames"])}
                png = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-frames:v", "1", "-f", "image2pipe", "-c:v", "png", "-"],
                                     capture_output=True, check=True).stdout
                facts["first"] = picture(png)
            else:
                import numpy as np

                raw = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-f", "f32le", "-ac", "1", "-ar", "8000", "-"],
                                     capture_output=True, check=True).stdout
                wave = np.frombuffer(raw, dtype="<f4")
                half = np.abs(np.fft.rfft(wave))
                facts |= {"audio": stream["codec_name"], "rms": float(np.sqrt((wave ** 2).mean())),
                          "hertz": float(half[1:].argmax() + 1) * 8000 / len(wave)}
        return facts


def text(data):
    return {"text": data.decode()}


def table(data):
    made = data.decode("utf-8-sig")
    return {"text": made, "rows": list(csv.reader(io.StringIO(made)))}


KINDS = {"png": picture, "jpg": picture, "gif": picture, "webp": picture, "bmp": picture, "tiff": picture, "svg": vector,
         "xlsx": workbook, "docx": document, "pptx": slides, "pdf": pdf, "csv": table}
MEDIA = {"mp4", "webm", "wav", "mp3", "ogg", "mkv", "flac"}

for line in sys.stdin:
    asked = json.loads(line)
    suffix = asked["name"].rpartition(".")[2].lower()
    content = base64.b64decode(asked["data"])
    try:
        facts = media(content, asked["name"]) if suffix in MEDIA else KINDS.get(suffix, text)(content)
        facts["bytes"] = len(content)
    except Exception as e:
        facts = {"trouble": f"{type(e).__name__}: {e}"}
    print(json.dumps(facts), flush=True)
