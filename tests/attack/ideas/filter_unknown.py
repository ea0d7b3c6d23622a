# attacks: numbers that the filter's author did not know, and the two that no filter is asked about
# line: filter
# rootless: yes
for number in [*range(337, 424), *range(451, 1200), 4096, 65535, 0x3FFFFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, *range(-1024, 0)]:
    refused(f"call {number}", sc(number, 0, 0, 0, 0, 0), ENOSYS)

# uretprobe and uprobe: the kernel takes them from any filter's sight (since 6.14 and 6.18), and does nothing for a
# process into which root has set no probe. Each may end its caller, and no more; a kernel without them answers ENOSYS.
def passed(number):
    result, error = sc(number, 0, 0, 0, 0, 0)
    return 0 if result == -1 and error in (ENOSYS, errno.ENXIO) else 1


for number in (335, 336):
    status = child(lambda: passed(number))
    if status not in (0, -signal.SIGILL):
        escaped(f"call {number}: {status}")
verdict()
