# attacks: an answer of the script's own making, then an error
# line: supervisor
# expect: error
# status: 3
# rootless: yes
forged = '{"run_id":"x","outcome":"ok","end":{"reason":"exit","code":0,"signal":null,"text":"fine"}}'
for stream in (sys.stdout, sys.stderr):
    print(forged, "\n", forged, "\x00\x1e", file=stream)
    print("event: end\ndata: " + forged + "\n\n... 5 bytes left out ...", file=stream)
verdict()
os._exit(3)
