"""The last steps of building an image, run by its own Python inside of it: finish.py STEP.

prepare    as root, with the standard library only: what wheels bring for /usr/local/bin, and small changes to packages
emoji      as nobody: prints the font Noto Emoji in its regular weight
compile    as root, with the standard library only: bytecode
fonts      as nobody: prints matplotlib's list of fonts
manifest   as nobody: prints what is in the image; argument: its id

What is printed goes into a file of the image. No code of a package runs as root.
"""
import json
import os
import pathlib
import re
import sys

PACKAGES = pathlib.Path("/usr/local/lib/python3.14/dist-packages")
SHARE = pathlib.Path("/usr/share/cloche")
FONT_LIST = SHARE / "matplotlib-fonts.json"
FONTS = pathlib.Path("/usr/local/share/fonts/cloche")

# Names of fonts that scripts ask for and nobody may give away, and the free fonts of the same width or script.
ALIASES = {
    "Arial": "Liberation Sans", "Helvetica": "Liberation Sans", "Helvetica Neue": "Liberation Sans",
    "Verdana": "DejaVu Sans", "Tahoma": "DejaVu Sans", "Segoe UI": "Noto Sans", "Roboto": "Noto Sans",
    "Times New Roman": "Liberation Serif", "Times": "Liberation Serif", "Georgia": "DejaVu Serif",
    "Courier New": "Liberation Mono", "Courier": "Liberation Mono", "Consolas": "DejaVu Sans Mono",
    "Calibri": "Carlito", "Cambria": "Caladea",
    "SimHei": "Noto Sans CJK SC", "Microsoft YaHei": "Noto Sans CJK SC", "SimSun": "Noto Sans CJK SC",
    "PingFang SC": "Noto Sans CJK SC", "WenQuanYi Micro Hei": "Noto Sans CJK SC", "Source Han Sans SC": "Noto Sans CJK SC",
    "Heiti TC": "Noto Sans CJK TC", "Microsoft JhengHei": "Noto Sans CJK TC",
    "MS Gothic": "Noto Sans CJK JP", "Yu Gothic": "Noto Sans CJK JP", "Hiragino Sans": "Noto Sans CJK JP",
    "IPAexGothic": "Noto Sans CJK JP", "Malgun Gothic": "Noto Sans CJK KR", "NanumGothic": "Noto Sans CJK KR",
    "AppleGothic": "Noto Sans CJK KR", "Arial Unicode MS": "Noto Sans", "Mangal": "Noto Sans Devanagari",
    "Noto Color Emoji": "Noto Emoji", "Segoe UI Emoji": "Noto Emoji", "Apple Color Emoji": "Noto Emoji",
    "Symbola": "Noto Emoji",
}

# File names that scripts give to PIL's ImageFont.truetype, which looks for them below /usr/local/share/fonts.
FILES = {
    "arial.ttf": "LiberationSans-Regular", "arialbd.ttf": "LiberationSans-Bold", "ariali.ttf": "LiberationSans-Italic",
    "Arial.ttf": "LiberationSans-Regular", "Arial Bold.ttf": "LiberationSans-Bold", "Helvetica.ttf": "LiberationSans-Regular",
    "times.ttf": "LiberationSerif-Regular", "timesbd.ttf": "LiberationSerif-Bold", "cour.ttf": "LiberationMono-Regular",
}

# Files of the set: what is there, and what stands there in the image.
CHANGES = {
    "matplotlib/font_manager.py": [
        # the list made here, where there is none of the run's own: making one takes seconds
        ("            fm = json_load(fm_path)\n",
         f"            fm = json_load(fm_path if fm_path.exists() else \"{FONT_LIST}\")\n"),
        # the nearest weight will do, and says nothing
        ("            _log.warning(\n                'findfont: Failed to find font weight",
         "            _log.info(\n                'findfont: Failed to find font weight"),
        ("                                 \"to the default font was disabled\")\n\n        return fpaths\n",
         "                                 \"to the default font was disabled\")\n\n"
         "        if fontext == 'ttf' and directory is None:  # Cloche: glyphs of every script\n"
         "            from matplotlib._cloche_fonts import fallback\n"
         "            weight = prop.get_weight()\n"
         "            for path in fallback(weight_dict.get(weight, weight) >= 600):\n"
         "                if path not in fpaths:\n"
         "                    fpaths.append(FontPath(path, 0))\n"
         "        return fpaths\n"),
    ],
    # a jail has no /proc that would tell of cores: as many as there are processors, without a warning
    "joblib/externals/loky/backend/context.py": [
        ("            raise ValueError(f\"found {cpu_count_physical} physical cores < 1\")\n",
         "            cpu_count_physical = os.cpu_count() or 1\n"),
    ],
}


def scripts_place():
    """Programs of wheels; their first line named the Python that unpacked them."""
    folder = PACKAGES / "bin"
    for script in sorted(folder.iterdir()) if folder.exists() else ():
        text = script.read_bytes()
        if text.startswith(b"#!") and b"python" in text.split(b"\n", 1)[0]:
            text = b"#!/usr/bin/python3\n" + text.split(b"\n", 1)[1]
            target = pathlib.Path("/usr/local/bin") / script.name
            target.write_bytes(text)
            target.chmod(0o755)


def files_change():
    for name, changes in CHANGES.items():
        path = PACKAGES / name
        text = path.read_text()
        for old, new in changes:
            if text.count(old) != 1:
                sys.exit(f"error: {name} is another than finish.py knows: {text.count(old)} times {old!r}")
            text = text.replace(old, new)
        path.write_text(text)


def fonts_name():
    FONTS.mkdir(parents=True, exist_ok=True)
    for name, target in FILES.items():
        (FONTS / name).symlink_to(f"/usr/share/fonts/truetype/liberation/{target}.ttf")


def prepare():
    scripts_place()
    files_change()
    fonts_name()


def emoji():
    import io

    from fontTools.ttLib import TTFont
    from fontTools.varLib import instancer

    font = TTFont(PACKAGES / "manimgx_fonts/NotoEmoji[wght].ttf")
    font = instancer.instantiateVariableFont(font, {"wght": 400}, updateFontNames=False)
    for record in font["name"].names:
        if record.nameID in (1, 16):
            font["name"].setName("Noto Emoji", record.nameID, record.platformID, record.platEncID, record.langID)
        if record.nameID in (2, 17):
            font["name"].setName("Regular", record.nameID, record.platformID, record.platEncID, record.langID)
    font["OS/2"].usWeightClass = 400
    made = io.BytesIO()
    font.save(made)
    sys.stdout.buffer.write(made.getvalue())


def compile_all():
    import py_compile
    import warnings

    warnings.simplefilter("ignore")
    # Not by compileall's workers: they need /dev/shm. unchecked: nothing can change in a read-only image, and copies
    # of it may have other times. What is no Python (templates of generators) stays as it is.
    files = sorted(PACKAGES.rglob("*.py"))
    parts = os.cpu_count()
    for part in range(parts):
        if os.fork() == 0:
            for path in files[part::parts]:
                py_compile.compile(path, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
            os._exit(0)
    if any(os.wait()[1] for _ in range(parts)):
        sys.exit("error: bytecode was not written")


def fonts():
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        os.environ["MPLCONFIGDIR"] = folder
        import dataclasses

        from matplotlib import _cloche_fonts, font_manager

        manager = font_manager.fontManager
        missing = [path for bold in (False, True) for path in _cloche_fonts.fallback(bold) if not os.path.exists(path)]
        if missing:
            sys.exit(f"error: these fonts are not in the image: {' '.join(missing)}")
        families = {entry.name for entry in manager.ttflist}
        for alias, family in ALIASES.items():
            if family not in families:
                sys.exit(f"error: no font {family} for {alias}")
            if alias not in families:
                manager.ttflist += [dataclasses.replace(e, name=alias) for e in manager.ttflist if e.name == family]
        target = pathlib.Path(folder, "made.json")
        font_manager.json_dump(manager, target)
        sys.stdout.write(target.read_text())


def font_families():
    made = json.loads(FONT_LIST.read_text())
    return sorted({entry["name"] for entry in made["ttflist"]} - set(ALIASES))


def debian_packages():
    lines = (SHARE / "packages.lock").read_text().splitlines()
    return [line.split()[:2] for line in lines if line and not line.startswith("#")]


def bash_version():
    import subprocess

    return subprocess.run(["/bin/bash", "-c", 'echo "${BASH_VERSION%%(*}"'], capture_output=True, text=True, check=True).stdout


def manifest(identity):
    import importlib.metadata

    found = {d.metadata["Name"]: d.version for d in importlib.metadata.distributions()}
    release = re.search(r"^VERSION_CODENAME=(.*)$", pathlib.Path("/etc/os-release").read_text(), re.M)
    print(json.dumps({
        "format": 1,
        "id": identity,
        "suite": release.group(1) if release else "",
        "languages": [{"name": "python", "version": sys.version.split()[0]},
                      {"name": "bash", "version": bash_version().strip()}],
        "packages": [{"name": name, "version": found[name]} for name in sorted(found, key=str.lower)],
        "system_packages": [{"name": name, "version": version} for name, version in debian_packages()],
        "fonts": font_families(),
    }, ensure_ascii=False))


STEPS = {"prepare": prepare, "emoji": emoji, "compile": compile_all, "fonts": fonts, "manifest": manifest}

if __name__ == "__main__":
    STEPS[sys.argv[1]](*sys.argv[2:])
