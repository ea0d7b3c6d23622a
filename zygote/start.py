# The file that a zygote's interpreter is started with (zygote.py says what for).
#
# Python keeps the parsed text of its main file until that ends, which is in each copy, just before the
# script; to free it there copies its pages. So this file is small, and executes the other one.
text = open("/etc/cloche/zygote.py", "rb", 0).read()
code = compile(text, "/etc/cloche/zygote.py", "exec", 0, True)
names = {"__name__": "zygote", "__builtins__": __builtins__}
exec(code, names)
__file__ = names["BOOTSTRAP"]
raise KeyboardInterrupt
