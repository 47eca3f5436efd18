"""runs.jsonl in the folder of a measurement: a finished run in each line."""

import contextlib
import fcntl
import json
import os
import threading

from best_known.kept import Refused


@contextlib.contextmanager
def only_call(folder):
    """Refused if another call is at work in the folder, which is made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise Refused(f"another call is at work in {folder}") from None
    finally:
        os.close(handle)


class RunLines:
    def __init__(self, folder, take):
        """Calls `take` with every run, now those that are kept, later those that are added."""
        self.file = folder / "runs.jsonl"
        self.take = take
        self.lock = threading.Lock()
        text = self.file.read_text() if self.file.is_file() else ""
        whole = text[:text.rfind("\n") + 1]
        if whole != text:  # an interrupted call left a part of a line
            self.file.write_text(whole)
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                take(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise Refused(f"{self.file}:{number}: the line is damaged: {error!r}") from None

    def add(self, run):
        with self.lock:
            with open(self.file, "a") as stream:
                stream.write(json.dumps(run) + "\n")
            self.take(run)
