"""The answer of architecture.md section 6, field by field: unknown, missing or ill-typed fields are errors.

The command adds `saved` to a file: the name under which it was put into --out.
"""

REASONS = {"exit", "signal", "timeout", "memory", "cancelled", "setup"}
OUTCOME_OF = {"timeout": "timeout", "memory": "killed", "signal": "killed", "cancelled": "killed"}
NUMBER = (int, float)
STREAM = {"text": str, "bytes": int, "dropped": int}
TOP = {
    "run_id": str, "session": (str, type(None)), "session_state": str, "language": str, "outcome": str, "end": dict,
    "stdout": dict, "stderr": dict, "error": (dict, type(None)), "reset": (dict, type(None)),
    "restored": (dict, type(None)), "advice": list,
    "results": list, "files": list, "usage": dict, "egress": dict, "protections": (str, list),
}
END = {"reason": str, "code": (int, type(None)), "signal": (int, str, type(None)), "text": str}
USAGE = {"queue_ms": NUMBER, "start_ms": NUMBER, "wall_ms": NUMBER, "cpu_ms": NUMBER, "memory_peak_bytes": int}
SYSTEM = {"kind": str, "path": str, "id": (str, type(None)), "python": (str, type(None))}  # of a run by the command alone
FILE = {"size": (int, type(None)), "mime": (str, type(None)), "change": str}


def _fields(found, wanted, where, optional=()):
    missing = set(wanted) - set(found)
    unknown = set(found) - set(wanted) - set(optional)
    problems = [f"{where}: no field {name}" for name in sorted(missing)]
    problems += [f"{where}: unknown field {name}" for name in sorted(unknown)]
    for name, kind in wanted.items():
        value = found.get(name)
        wrong = not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)
        if name in found and wrong:
            problems.append(f"{where}.{name}: {value!r} is not {kind}")
    return problems


def _end(answer):
    end, outcome = answer["end"], answer["outcome"]
    problems = _fields(end, END, "end", optional=("stage",))
    if end.get("reason") not in REASONS:
        problems.append(f"end.reason: {end.get('reason')!r}")
    wanted = OUTCOME_OF.get(end.get("reason"))
    if end.get("reason") == "exit":
        wanted = "ok" if end.get("code") == 0 else "error"
        if not isinstance(end.get("code"), int) or end.get("signal") is not None:
            problems.append(f"end: an exit with code {end.get('code')!r} and signal {end.get('signal')!r}")
    if end.get("reason") == "signal" and not end.get("signal"):
        problems.append("end: a signal without its number")
    if wanted and outcome != wanted:
        problems.append(f"outcome {outcome!r} with end.reason {end.get('reason')!r}")
    return problems


def _stream(answer, name):
    stream = answer[name]
    problems = _fields(stream, STREAM, name)
    if not problems:
        if not 0 <= stream["dropped"] <= stream["bytes"]:
            problems.append(f"{name}: {stream['dropped']} dropped of {stream['bytes']}")
        if (stream["dropped"] > 0) != ("bytes left out ..." in stream["text"]) and stream["dropped"]:
            problems.append(f"{name}: dropped bytes without the mark in the text")
    return problems


def _files(answer):
    problems = []
    for entry in answer["files"]:
        if not {"path", "path_b64"} & set(entry):
            problems.append(f"files: an entry without path: {entry}")
        problems += _fields(entry, FILE, "files[]", optional=("path", "path_b64", "saved", "saved_b64"))
        if entry.get("change") not in ("created", "modified", "deleted"):
            problems.append(f"files[].change: {entry.get('change')!r}")
        if not isinstance(entry.get("saved", ""), str):
            problems.append(f"files[].saved: {entry['saved']!r}")
        path = entry.get("path") or ""
        if path.startswith("/") or ".." in path.split("/"):
            problems.append(f"files[].path leaves the home: {path!r}")
    if len(answer["files"]) > 1000:
        problems.append(f"files: {len(answer['files'])} entries")
    return problems


def problems_of(answer):
    """All that is wrong with an answer, as a list of sentences."""
    problems = _fields(answer, TOP, "answer", optional=("files_truncated", "system"))
    if problems:
        return problems
    problems += _fields(answer["system"], SYSTEM, "system") if "system" in answer else []
    if answer["outcome"] not in ("ok", "error", "timeout", "killed"):
        problems.append(f"outcome: {answer['outcome']!r}")
    if answer["language"] not in ("python", "bash"):
        problems.append(f"language: {answer['language']!r}")
    if answer["session_state"] not in ("new", "reused", "reset"):
        problems.append(f"session_state: {answer['session_state']!r}")
    problems += _end(answer) + _stream(answer, "stdout") + _stream(answer, "stderr") + _files(answer)
    problems += _fields(answer["usage"], USAGE, "usage", optional=("memory_peak_kind",))
    problems += [f"usage.{name} is negative" for name in USAGE if answer["usage"].get(name, 0) < 0]
    problems += _fields(answer["egress"], {"denied": list}, "egress")
    if answer["error"] is not None:
        problems += _fields(answer["error"], {"name": str, "value": str, "traceback": str}, "error")
    if answer["reset"] is not None:
        problems += _fields(answer["reset"], {"reason": str, "lost": list}, "reset")
    if any(not isinstance(text, str) for text in answer["advice"]):
        problems.append(f"advice: {answer['advice']!r}")
    if isinstance(answer["protections"], str) and answer["protections"] != "full":
        problems.append(f"protections: {answer['protections']!r}")
    for result in answer["results"]:
        wanted = {"mime": str, "main": bool}
        problems += _fields(result, wanted, "results[]", optional=("path", "path_b64", "text"))
        if ("path" in result) == ("text" in result):
            problems.append(f"results[]: not one of path and text: {result}")
        if len(result.get("text", "")) > 256 * 1024:
            problems.append("results[]: too long a text")
    return problems
