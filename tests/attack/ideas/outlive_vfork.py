# attacks: a parent stuck in vfork behind a stopped child cannot be interrupted, but must die
# line: end
# expect: timeout
# timeout: 2
# within: 10
# program: vforkstop.c
os.chmod("vforkstop", 0o755)
os.execv("./vforkstop", ["vforkstop"])
