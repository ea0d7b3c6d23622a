"""What a run leaves to the kernel for a moment gives the next run of its session nothing."""
from wire import End

# Files in memory that only messages in flight to each other hold: the kernel frees them when it gets round to it.
LEAVE = """
import array, os, socket
files = []
for _ in range(3):
    files.append(os.memfd_create("left"))
    for _ in range(70): os.write(files[-1], bytes(1 << 20))
left, right = socket.socketpair()
for one, other in ((left, right), (right, left)):
    one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [other.fileno(), *files]))])
os._exit(0)
"""

TAKE = "held = bytearray(300 << 20)"


def test_memory_in_flight_is_no_part_of_the_next_runs_limit(jaild):
    """It counted as the home's: run by run, a session got 200 MiB more."""
    session = jaild.open()
    for _ in range(6):
        jaild.result(session, LEAVE)
        assert jaild.result(session, TAKE)[0]["end"] == End.MEMORY
