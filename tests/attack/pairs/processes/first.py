# attacks: processes of another session, by number and by broadcast
# line: namespaces
signal.signal(signal.SIGUSR1, lambda *_: print("ESCAPED a signal came", flush=True))
print("READY", flush=True)
time.sleep(20)
