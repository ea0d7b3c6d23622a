# attacks: bytes that are no text, in the streams and in each part of the error that the report tells
# line: supervisor
import io
import sys
odd = b""
for first in (0, 0x7F, 0x80, 0xC0, 0xC1, 0xC2, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF):
    for second in (0, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xFF):
        for third in (0, 0x80, 0xBE, 0xBF, 0xC0):
            odd += bytes([first, second, third, 0x80]) + b'"},\\u0000|'
report = getattr(sys, "display" + "hook").__globals__["memory"]  # the bootstrap's, which goes without its hook where the word is
memory = io.BytesIO()
for tag, text in ((1, odd), (2, odd[::-1]), (3, odd * 9), (1, b"\0"), (2, b"")):
    memory.write(bytes([tag]) + len(text).to_bytes(4, "little") + text)
report[:memory.tell()] = memory.getvalue()
os.write(1, odd)
os.write(2, odd[::-1])
os.write(1, b"\n")
verdict()
