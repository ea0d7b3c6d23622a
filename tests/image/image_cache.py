"""The image that the suite runs in, made once and kept: where it is, and how it is made.

CLOCHE_IMAGE_CACHE names the folder (default: ~/.cache/cloche): downloads, and the tree in rootfs. A clone of the
project that finds a tree of the same recipe there builds nothing.
"""
import os
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("CLOCHE_BIN", REPO / "build/cloche"))
CACHE = Path(os.environ.get("CLOCHE_IMAGE_CACHE") or Path.home() / ".cache/cloche")
TREE = CACHE / "rootfs"


def build(*options, **settings):
    return subprocess.run([PROGRAM, "image", "build", "--out", TREE, "--cache", CACHE, *options], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, **settings)


if __name__ == "__main__":
    print(f"image: in {CACHE}", flush=True)
    sys.exit(build(stderr=sys.stdout).returncode)
