# attacks: file capabilities and other privileged extended attributes
# line: privileges
import shutil
shutil.copy("/usr/bin/id", "id")
caps = struct.pack("<IIIII", 0x02000001, 1 << 21, 0, 0, 0)
caps3 = struct.pack("<IIIIII", 0x03000001, 1 << 21, 0, 0, 0, 0)
fails("security.capability", lambda: os.setxattr("id", "security.capability", caps))
fails("security.capability v3", lambda: os.setxattr("id", "security.capability", caps3))
fails("trusted.x", lambda: os.setxattr("id", "trusted.x", b"1"))
verdict()
