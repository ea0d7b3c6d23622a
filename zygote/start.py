"""The file that a zygote's interpreter is started with (zygote.py says what for).

Python keeps the parsed text of its main file until that ends, which is in each copy, just before the
script; to free it there would copy its pages. So this file is small, and executes the other one.
"""
with open("/etc/cloche/zygote.py", "rb") as file:
    text = file.read()
names = {"__name__": "zygote", "__builtins__": __builtins__}
exec(compile(text, file.name, "exec", 0, True), names)
__file__ = names["BOOTSTRAP"]
raise KeyboardInterrupt
