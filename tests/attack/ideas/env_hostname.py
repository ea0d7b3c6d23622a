# attacks: the host's name
# line: namespaces
# args: {hostname}
if sys.argv[1] in (os.uname().nodename, socket.gethostname()):
    escaped("the host's name shows")
hosts = open("/etc/hosts").read() if os.path.exists("/etc/hosts") else ""
if sys.argv[1] in hosts.split():
    escaped("the host's name is in /etc/hosts")
verdict()
