"""Runs inside the guest as root: every test, one JSON line each on standard output (the second serial port)."""

import json
import os
import re
import time
import traceback

import guest_cell
import guest_kernel
import guest_limits
import guest_rootless
import guest_runs
import guest_up
from guest_table import TESTS, Skip

# In the order in which they run; naming the modules also keeps the imports from looking unused.
MODULES = (guest_kernel, guest_runs, guest_limits, guest_rootless, guest_up)


def tell(**message):
    print(json.dumps(message), flush=True)


def judge(function):
    try:
        return "ok", function() or ""
    except Skip as skip:
        return "skip", str(skip)
    except BaseException:
        failure = traceback.format_exc()[-3000:]
        # The next test must not fail for what this one left.
        guest_cell.sweep()
        return "fail", failure


def main():
    with open("/proc/uptime") as uptime:
        tell(ready_s=float(uptime.read().split()[0]))
    with open("/proc/cmdline") as line:
        only = re.search(r"cloche\.only=(\S*)", line.read()).group(1)
    for name, function in TESTS.items():
        if only and name not in only.split(","):
            continue
        began = time.monotonic()
        result, detail = judge(function)
        tell(name=name, result=result, detail=detail, seconds=round(time.monotonic() - began, 2))
    os.sync()


if __name__ == "__main__":
    main()
