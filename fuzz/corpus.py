#!/usr/bin/python3
"""usage: fuzz/corpus.py
Writes the first inputs of the binary fuzz targets: for each form a few good ones and one of each
kind of mistake. Run it again when a form in src/wire or src/jail/plan changes.
"""

import struct
from pathlib import Path

TOP = Path(__file__).resolve().parent

# strict.conf, in the order of src/wire/limits.def
MIB = 1 << 20
LIMITS = {
    "memory_bytes": 256 * MIB,
    "home_bytes": 100 * MIB,
    "home_inodes": 16384,
    "tmp_bytes": 100 * MIB,
    "tmp_inodes": 4096,
    "shm_bytes": 64 * MIB,
    "file_bytes": 100 * MIB,
    "stack_bytes": 8 * MIB,
    "open_files": 1024,
    "processes": 16,
    "cpu_ms_per_s": 1000,
    "wall_ms": 30000,
    "own_proc": 0,
}


def write(stem, inputs):
    (TOP / stem).mkdir(exist_ok=True)
    for name, data in inputs.items():
        (TOP / stem / name).write_bytes(data)


def limits(**changes):
    values = {**LIMITS, **changes}
    return struct.pack(f"<{len(values)}Q", *values.values())


def message(fds, kind, body=b"", version=1):
    """src/wire/message.h, behind a byte with the number of descriptors."""
    return bytes([fds]) + struct.pack("<HHI", kind, version, 7) + body


def session_open(key, reserved=bytes(7)):
    return message(0, 2, key.ljust(129, b"\0") + reserved + limits())


def file(kind, path=b"folder/file.csv", mode=0, padding=bytes(7)):
    return message(0, kind, struct.pack("<QII", 3, mode, 0) + path.ljust(4097, b"\0") + padding)


def make(kind, path, text=b"", mode=0):
    names = (path + b"\0" + text).ljust(4097, b"\0")
    return message(0, 13, struct.pack("<QqII", 3, 5, kind, mode) + names + bytes(7))


def package(language, args=(), env=(), text=b"", **changes):
    """src/wire/package_form.h; changes make the head lie."""
    strings = b"".join(string + b"\0" for string in (*args, *env))
    head = {
        "magic": 0x31504C43,
        "language": language,
        "n_args": len(args),
        "n_env": len(env),
        "strings_size": len(strings),
        "code_size": len(text),
        **changes,
    }
    return struct.pack("<6I", *head.values()) + strings + text


def record(path, kind=0, record_size=None, path_size=None, target=b""):
    """src/wire/listing.h"""
    padded = (len(path + target) + 7) & ~7
    head = struct.pack(
        "<IHBBIIQQqqQQII",
        72 + padded if record_size is None else record_size,
        len(path) if path_size is None else path_size,
        *(kind, 1, 0o644, 1, 5, 77, 10**18, 10**18, 1, 2, len(target), 0),
    )
    return head + (path + target).ljust(padded, b"\0")


def told(tag, text, size=None):
    """src/wire/report.h"""
    return bytes([tag]) + struct.pack("<I", len(text) if size is None else size) + text


def shown(flags, mime, value):
    """A result of src/wire/report.h"""
    return told(4, bytes([flags, len(mime)]) + mime + value)


def plan(fds=3, version=1, abi=7, count=278, reserved=0, **changes):
    """src/jail/plan/plan.h, behind a byte with the number of descriptors."""
    head = struct.pack("<II", 0x4E414C50, version) + limits(**changes)
    return bytes([fds]) + head + struct.pack("<QIIII", 1, abi, count, 0, reserved)


write(
    "message",
    {
        "status": message(0, 1),
        "session_open": session_open(b"chat-42"),
        "session_open_full_key": session_open(b"k" * 129),
        "session_open_hidden": session_open(b"a\0b"),
        "session_open_reserved": session_open(b"chat-42", b"\0\0\0\1\0\0\0"),
        "session_close": message(0, 3, struct.pack("<Q", 1)),
        "run": message(5, 4, struct.pack("<QQII", 1, 0, 0, 0)),
        "run_warm": message(5, 4, struct.pack("<QQII", 1, 0, 2, 0)),
        "run_warm_unknown": message(5, 4, struct.pack("<QQII", 1, 0, 3, 0)),
        "run_without_descriptors": message(0, 4, struct.pack("<QQII", 1, 0, 0, 0)),
        "run_cancel": message(0, 5, struct.pack("<Q", 9)),
        "file_open": file(6),
        "file_create": file(7, mode=0o644),
        "file_unended": file(6, path=b"p" * 4097),
        "file_padding": file(10, padding=bytes(6) + b"x"),
        "file_commit": message(0, 8, struct.pack("<QqII", 2, 5, 1, 0)),
        "file_commit_without_time": message(0, 8, struct.pack("<QqII", 2, 5, 0, 0)),
        "make_folder": make(0, b"a/b", mode=0o755),
        "make_link": make(1, b"a", b"/etc/passwd"),
        "make_same": make(2, b"a", b"b"),
        "make_without_text": make(1, b"a"),
        "make_kind": make(3, b"a", b"b"),
        "list": message(0, 11, struct.pack("<QII16x", 1, 3, 0)),
        "list_reserved": message(0, 11, struct.pack("<QII16x", 1, 3, 1)),
        "attach": message(1, 12),
        "live": message(5, 14, struct.pack("<QQII", 1, 0, 1, 0)),
        "live_reserved": message(5, 14, struct.pack("<QQII", 1, 0, 0, 1)),
        "other_version": message(0, 1, version=2),
        "unknown_type": message(0, 0xFFFF),
        "cut": message(0, 3, bytes(3)),
        "header_cut": message(0, 1)[:4],
        "empty": b"",
    },
)
write(
    "package",
    {
        "python": package(0, [b"one", b"two words"], [b"TZ=UTC", b"A="], b"print(6*7)\n"),
        "bash": package(1, text=b"ls -l\n"),
        "program": package(2, [b"/bin/true"]),
        "program_without_path": package(2),
        "many": package(0, [b"x"] * 64, [b"A=b"] * 64, b"\0"),
        "reserved_variable": package(0, env=[b"LD_PRELOAD=/x"]),
        "nameless_variable": package(0, env=[b"=x"]),
        "counts": package(0, [b"x"], n_args=0xFFFFFFFF),
        "sizes_wrap": package(0, [b"x"], strings_size=0x80000000, code_size=0x80000002),
        "missing_nul": package(0, [b"one"], text=b"code", strings_size=3, code_size=5),
        "surplus": package(0, [b"one", b"two"], n_args=1),
        "magic": package(0, magic=0x32504C43),
        "language": package(3),
        "head_cut": package(0)[:20],
    },
)
write(
    "listing",
    {
        "empty": b"",
        "one": record(b"a"),
        "several": record(b"folder", 1) + record(b"folder/12345678") + record(b"\xff\n", 3),
        "cut": (record(b"a") + record(b"second"))[:-8],
        "size_zero": record(b"a", record_size=0),
        "size_large": record(b"a", record_size=0xFFFFFFF8),
        "path_long": record(b"a", record_size=72 + 65536, path_size=65535),
        "path_empty": record(b""),
        "path_nul": record(b"a\0b"),
        "kind": record(b"a", 4),
        "link": record(b"a", 2, target=b"/etc/passwd"),
        "target_of_a_file": record(b"a", 0, target=b"/etc/passwd"),
    },
)
write(
    "report",
    {
        "all": told(1, b"KeyError") + told(2, b"'x'") + told(3, b"Traceback\n") + bytes(5),
        "untouched": bytes(64),
        "empty": b"",
        "twice": told(1, b"a") + told(1, b"b"),
        "length_huge": told(1, b"a") + told(2, b"b", 0xFFFFFFFF),
        "length_one_too_long": told(3, b"abc", 4),
        "tag": told(7, b"x") + told(1, b"y"),
        "result_path": shown(2, b"image/png", b"figure-1.png"),
        "result_texts": shown(1, b"text/plain", b"42") + shown(1, b"a/b", b"<b>") + told(5, b"\7") + told(1, b"E"),
        "result_bad_mime": told(4, b"\3\xfftext/plain") + shown(0, b"A/b", b""),
        "result_flags": shown(4, b"a/b", b"") + told(5, b"\xff") + told(5, b""),
        "cut": told(1, b"abc")[:6],
    },
)
write(
    "plan",
    {
        "strict": plan(),
        "own_proc": plan(4, own_proc=1),
        "proc_missing": plan(3, own_proc=1),
        "memory_zero": plan(memory_bytes=0),
        "no_landlock": plan(abi=0),
        "filter_large": plan(count=4097),
        "reserved": plan(reserved=1),
        "version": plan(version=2),
        "cut": plan()[:-1],
    },
)


def manifest(entries=(), version=1, count=None, generation=1, tenant=b"t"):
    """src/store/manifest.c"""
    head = struct.pack("<IIQqqQQQQQ", version, len(entries) if count is None else count, generation, 1, 2, 3, 4, 5, 6, 7)
    return head + tenant.ljust(65, b"\0") + b"key".ljust(129, b"\0") + b"strict".ljust(32, b"\0") + bytes(6) + b"".join(entries)


def kept(kind, path, text=b"", mode=0o644, size=0):
    return struct.pack("<HHB3xqQQQQ16sII", len(path), len(text), kind, 9, size, size, 1, 2, b"o" * 16, mode, 0) + path + text


write(
    "manifest",
    {
        "empty": manifest(),
        "all": manifest([kept(0, b"a", size=5), kept(1, b"b"), kept(2, b"c", b"/etc"), kept(3, b"d", b"a")]),
        "order": manifest([kept(0, b"b"), kept(0, b"a")]),
        "twice": manifest([kept(0, b"a"), kept(0, b"a")]),
        "same_of_nothing": manifest([kept(3, b"d", b"a")]),
        "dotdot": manifest([kept(0, b"../a")]),
        "absolute": manifest([kept(0, b"/a")]),
        "nul": manifest([kept(0, b"a\0b")]),
        "kind": manifest([kept(4, b"a")]),
        "mode": manifest([kept(0, b"a", mode=0o4755)]),
        "count": manifest([kept(0, b"a")], count=2),
        "count_huge": manifest(count=0xFFFFFFFF),
        "version": manifest(version=2),
        "generation": manifest(generation=0),
        "tenant": manifest(tenant=b"x" * 65),
        "cut": manifest([kept(0, b"a")])[:-1],
    },
)
SIXEL = b'\x1bPq"1;1;4;7'
write(
    "sixel",
    {
        "picture": SIXEL + b"#0;2;0;50;100#1;2;1;2;3#0~~@A$#1!4?$-#0!3@A-\x1b\\",
        "empty": SIXEL + b"\x1b\\",
        "largest": b'\x1bPq"1;1;1000;1000!1000~\x1b\\',
        "unended": SIXEL + b"~",
        "two": SIXEL + b"\x1b\\" + SIXEL + b"\x1b\\",
        "within": SIXEL + b"\x1b[31m\x1b\\",
        "control": SIXEL + b"\x18\x1b\\",
        "beyond": SIXEL + b"!5~\x1b\\",
        "below": SIXEL + b"---\x1b\\",
        "colour": SIXEL + b"#256;2;0;0;101\x1b\\",
    },
)
