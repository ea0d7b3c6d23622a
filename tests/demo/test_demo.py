"""tools/demo: what it takes for a whole chart, and the example that it runs."""
import importlib.machinery
import importlib.util
import struct
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def demo():
    loader = importlib.machinery.SourceFileLoader("cloche_demo", str(ROOT / "tools/demo"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("cloche_demo", loader))
    loader.exec_module(module)
    return module


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(pixels):
    """3 x 2 grey pixels."""
    rows = b"".join(b"\0" + pixels[at:at + 3] for at in (0, 3))
    head = struct.pack(">IIBBBBB", 3, 2, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def test_a_whole_chart_is_taken(demo, tmp_path):
    path = tmp_path / "chart.png"
    path.write_bytes(png(bytes([1, 2, 3, 4, 5, 6])))
    assert demo.png_size(path) == (3, 2)


GOOD = png(bytes([1, 2, 3, 4, 5, 6]))


@pytest.mark.parametrize("data", [b"", b"no png", GOOD[:20], GOOD[:-12], GOOD[:-20], GOOD[:30] + b"\xff" + GOOD[31:], png(bytes(6))],
                         ids=["empty", "text", "short", "without its end", "cut", "damaged", "blank"])
def test_what_is_no_whole_chart_is_refused(demo, tmp_path, data):
    path = tmp_path / "chart.png"
    path.write_bytes(data)
    with pytest.raises(demo.Failed):
        demo.png_size(path)


def test_no_program_is_told_in_a_sentence(demo, monkeypatch, capsys):
    monkeypatch.setattr(demo, "prepare", lambda: None)
    monkeypatch.setattr(demo, "CLOCHE", Path("/nowhere/cloche"))
    monkeypatch.setattr(demo, "OUT", Path("/nowhere/out"))
    monkeypatch.setattr(demo.sys, "argv", ["demo"])
    assert demo.main() == 1
    assert "demo: " in capsys.readouterr().err


def test_the_example_is_what_the_demo_runs(demo):
    assert demo.SCRIPT.is_file() and "Выручка" in demo.TABLE.read_text()
    assert f'savefig("{demo.MADE}"' in demo.SCRIPT.read_text() and f'"{demo.TABLE.name}"' in demo.SCRIPT.read_text()


def test_the_last_line_tells_where_the_chart_is(demo, monkeypatch, capsys, tmp_path):
    (tmp_path / demo.MADE).write_bytes(GOOD)
    answer = {"files": [{"path": demo.MADE, "saved": demo.MADE}], "stdout": {"text": "table"}, "protections": "full",
              "usage": {"wall_ms": 1, "cpu_ms": 1, "memory_peak_bytes": 1, "start_ms": 1}}
    for name, value in (("prepare", None), ("run_script", answer), ("show_service", None)):
        monkeypatch.setattr(demo, name, lambda value=value: value)
    monkeypatch.setattr(demo, "OUT", tmp_path)
    monkeypatch.setattr(demo.sys, "argv", ["demo"])
    assert demo.main() == 0
    assert str(tmp_path / demo.MADE) in capsys.readouterr().out.splitlines()[-1]
