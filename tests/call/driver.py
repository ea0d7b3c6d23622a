"""Talks to the test program of this folder: calls by name, each answered when it is."""
import json
import os
import queue
import subprocess
import threading

ANSWER_S = 60


class Driver:
    """do() calls and waits; send() and wait() for calls side by side; events(id) tells what came meanwhile."""

    def __init__(self, program, jaild, log, **config):
        settings = [f"{name}={value}" for name, value in config.items() if name != "pass_fds"]
        self.process = subprocess.Popen(
            [str(program), f"jaild={jaild}", *settings],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
            pass_fds=config.get("pass_fds", ()),
        )
        self.n = 0
        self.answers = {}
        self.told = {}
        self.lock = threading.Lock()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            said = json.loads(line)
            if "event" in said:
                self.told[said["id"]].append(said)
            else:
                self.answers[said["id"]].put(said)

    def send(self, verb, **arguments):
        with self.lock:
            self.n += 1
            number = self.n
            self.answers[number] = queue.Queue()
            self.told[number] = []
            self.process.stdin.write(json.dumps({"id": number, "do": verb, **arguments}) + "\n")
            self.process.stdin.flush()
        return number

    def wait(self, number, timeout_s=ANSWER_S):
        said = self.answers[number].get(timeout=timeout_s)
        if "answer" in said:
            said["answer"] = json.loads(said["answer"])
        return said

    def do(self, verb, **arguments):
        return self.wait(self.send(verb, **arguments))

    def run(self, key, code, **arguments):
        """A run that must end: its answer."""
        said = self.do("run", key=key, code=code, **arguments)
        assert "answer" in said, said
        return said["answer"]

    def events(self, number, name=None):
        return [e for e in self.told[number] if name in (None, e["event"])]

    def count_fds(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def rss_kib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

    def end(self):
        """Lets it go; its exit status (ThreadSanitizer's is 66)."""
        self.process.stdin.close()
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return -9
