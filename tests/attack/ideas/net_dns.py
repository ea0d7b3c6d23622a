# attacks: name resolution as a way out
# line: namespaces
began = time.monotonic()
for name in ("example.com", "localhost.localdomain.example", "metadata.google.internal"):
    fails(f"resolve {name}", lambda: socket.getaddrinfo(name, 80))
if time.monotonic() - began > 3:
    escaped("names are asked for somewhere: it took long")
verdict()
