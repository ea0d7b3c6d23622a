# attacks: the home itself: no rights on it, sticky, no entries left
# line: names
open("kept.txt", "w").write("own")
os.chmod("/mnt/data", 0)
verdict()
