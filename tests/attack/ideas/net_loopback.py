# attacks: nothing; loopback within the run works, so that the tests of it prove something
# line: namespaces
listener = socket.create_server(("127.0.0.1", 0))
caller = socket.create_connection(listener.getsockname(), 2)
peer, _ = listener.accept()
caller.sendall(b"ping")
if peer.recv(4) != b"ping":
    escaped("loopback does not work")
verdict()
