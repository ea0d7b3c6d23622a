# attacks: numbers that the filter's author did not know
# line: filter
# rootless: yes
for number in [340, 350, 400, 423] + list(range(480, 512)) + list(range(548, 1200)) + [4096, 65535, 0x3FFFFFFF, 0x7FFFFFFF,
                                                                                       0x80000000, 0xFFFFFFFF, -1]:
    refused(f"call {number}", sc(number, 0, 0, 0, 0, 0), ENOSYS)
verdict()
