"""A session with a live interpreter, and what one of its calls came to."""
import dataclasses
import os

import wire

ERROR, VALUE, TRACEBACK, RESULT, ADVICE, NAMES = range(1, 7)  # src/wire/report.h


@dataclasses.dataclass
class Called:
    """What a call came to."""

    started: dict
    ended: dict
    out: str
    err: str
    report: dict

    @property
    def is_reused(self):
        return self.started["interpreter"] == wire.Interpreter.REUSED

    @property
    def end(self):
        return wire.End(self.ended["end"])

    @property
    def lost(self):
        return wire.Lost(self.ended["lost"])

    @property
    def names(self):
        return self.report.get(NAMES, "").split()


class Session:
    def __init__(self, client, **limits):
        self.client = client
        self.id = client.open(os.urandom(8).hex(), **limits)
        self.calls = []

    def begin(self, code, **options):
        """Asks for a call and does not wait."""
        run = self.client.live(self.id, code, **options)
        self.calls.append(run)
        return run

    def finish(self, run, within=20):
        ended = run.ended(within)
        return Called(run.start, ended, *run.rest())

    def __call__(self, code, **options):
        run = self.begin(code, **options)
        try:
            return self.finish(run)
        finally:
            run.close()

    def good(self, code, **options):
        """The output of a call that has to succeed."""
        called = self(code, **options)
        assert called.end == wire.End.EXIT and called.ended["code"] == 0, f"{called}"
        assert called.ended["is_kept"] == 1, f"{called}"
        return called.out


    def close(self):
        for run in self.calls:
            run.close()
        self.client.close(self.id)
