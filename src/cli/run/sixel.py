"""Draws picture.png for a terminal, as picture.six, at most argv[1] dots wide and argv[2] high.

`cloche run` runs this in a jail of its own, because the picture is a script's. Form: sixel.h.
"""
import re
import sys

from PIL import Image

COLOURS = 256
ROW_BITS = [bytes([1 << n]) for n in range(6)]


def masks(colour):
    """For each row of a band: a table that makes the row's bit of the colour and nothing of all others."""
    return [bytes(colour) + bit + bytes(255 - colour) for bit in ROW_BITS]


def shorten(sixels):
    return re.sub(rb"(.)\1{3,}", lambda run: b"!%d%b" % (len(run[0]), run[1]), sixels, flags=re.S)


def read(size):
    with Image.open("picture.png") as image:
        if image.mode not in ("RGB", "RGBA"):
            image = image.convert("RGBA")
        image.thumbnail(size)
        paper = Image.new("RGB", image.size, "white")
        paper.paste(image, mask=image if image.mode == "RGBA" else None)
    return paper.quantize(COLOURS)


def sixel(image):
    width, height = image.size
    pixels, palette = image.tobytes(), image.getpalette()
    tables = [masks(colour) for colour in range(COLOURS)]
    blank = int.from_bytes(b"?" * width, "big")
    yield b'\x1bPq"1;1;%d;%d' % (width, height)
    for colour in sorted(set(pixels)):
        yield b"#%d;2;%d;%d;%d" % (colour, *(round(part * 100 / 255) for part in palette[3 * colour:3 * colour + 3]))
    for top in range(0, height, 6):
        rows = [pixels[y * width:(y + 1) * width] for y in range(top, min(top + 6, height))]
        for colour in sorted(set(b"".join(rows))):
            bits = sum(int.from_bytes(row.translate(table), "big") for row, table in zip(rows, tables[colour]))
            yield b"#%d%b$" % (colour, shorten((bits + blank).to_bytes(width, "big").rstrip(b"?")))
        yield b"-"
    yield b"\x1b\\"


with open("picture.six", "wb") as file:
    file.writelines(sixel(read((int(sys.argv[1]), int(sys.argv[2])))))
