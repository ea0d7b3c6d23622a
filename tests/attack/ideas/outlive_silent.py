# attacks: close both streams and sleep: silence must not be taken for the end, nor the end for silence
# line: end
# within: 10
time.sleep(0.1)
verdict()
os.close(1)
os.close(2)
time.sleep(1)
os._exit(0)
