# attacks: better nice values and input/output classes, for oneself and for init
# line: rlimits
first = os.getpriority(os.PRIO_PROCESS, 0)
fails("setpriority -20", lambda: os.setpriority(os.PRIO_PROCESS, 0, -20))
fails("setpriority of init", lambda: os.setpriority(os.PRIO_PROCESS, 1, 5))
fails("nice -1", lambda: os.nice(-1))
os.nice(3)
fails("back from nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, first))
refused("ioprio_set real time", sc(251, 1, 0, 1 << 13 | 4))
refused("ioprio_set of init", sc(251, 1, 1, 3 << 13))
verdict()
