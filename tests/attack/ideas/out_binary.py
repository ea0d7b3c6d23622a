# attacks: bytes that are no text, in both streams: the answer stays valid
# line: supervisor
# rootless: yes
everything = bytes(range(256)) * 16
os.write(1, everything + os.urandom(20000) + b"\xed\xa0\x80\xf4\x90\x80\x80\xc0\x80\xff\xfe\x00\"\\\n")
os.write(2, everything + b"\xf0\x9f\x98")
print("\u2028 \u202e \x7f \x1b]0;title\x07 \x00")
verdict()
