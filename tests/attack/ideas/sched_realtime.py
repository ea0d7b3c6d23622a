# attacks: real-time and deadline scheduling, with high bits and reset-on-fork
# line: denied calls
param = struct.pack("i", 1)
for policy in (1, 2, 6, 1 | 0x40000000, 2 | 0x40000000):
    for high in (0, 1 << 32):
        refused(f"sched_setscheduler({policy | high:#x})", sc(144, 0, policy | high, param))
for policy in (1, 2, 6):
    attr = struct.pack("IIQiIQQQ", 48, policy, 0, 0, 1, 10**6, 10**7, 10**7)
    refused(f"sched_setattr({policy})", sc(314, 0, attr, 0))
verdict()
