"""The kept placements: LIST.tsv is an index that a person can read, LIST.placements.jsonl has the placements."""

import array
import base64
import contextlib
import fcntl
import json
import os
import sys
import zlib
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase

LISTS = ("zoo", "published")  # of GRAPH@MACHINE, and of files that are not in the repository


class Refused(Exception):
    """Bad input, in one sentence."""


@dataclass(frozen=True)
class Row:
    problem: str  # GRAPH@MACHINE, or a published file in the folder of workloads with its instance
    objective: str  # step or pipeline
    schedule: str  # by which placements of the problem are simulated
    ops: int
    devices: int
    digest: str  # of the problem's content, as `emplace inspect` prints it
    step_ps: int  # of the best known placement
    bound_ps: int  # no placement has less
    bound_by: str
    who: str
    how: str
    version: str  # of the program that found it
    date: str
    tries: int  # of `improve`, and how many seconds of search they had
    tried_s: int

    @property
    def name(self):
        return self.problem if self.objective == "step" else f"{self.problem} ({self.objective})"

    @property
    def gap(self):
        return self.step_ps / self.bound_ps - 1

    @property
    def solved(self):
        """Ops of no cost take a picosecond in the simulation and none in some bounds."""
        return self.gap < 1e-6


COLUMNS = [field.name for field in fields(Row)]
NUMBERS = {field.name for field in fields(Row) if field.type is int}


@dataclass(frozen=True)
class Placement:
    devices: bytes  # one for each op, in the problem's order
    order: tuple = ()  # of ops, for schedules that need one


def row_of(line, place):
    cells = line.split("\t")
    if len(cells) != len(COLUMNS):
        raise Refused(f"{place}: a row has {len(COLUMNS)} cells, found {len(cells)}")
    values = dict(zip(COLUMNS, cells))
    for column in NUMBERS:
        if not values[column].isascii() or not values[column].isdigit():
            raise Refused(f"{place}: {column} is a whole number, found '{values[column]}'")
        values[column] = int(values[column])
    row = Row(**values)
    if not 0 < row.bound_ps <= row.step_ps:
        raise Refused(f"{place}: the bound of {row.name} is {row.bound_ps} ps, and its step {row.step_ps} ps")
    return row


def packed(data):
    return base64.b64encode(zlib.compress(data, 9)).decode()


def words_of(order):
    words = array.array("I", order)
    if sys.byteorder == "big":
        words.byteswap()
    return words.tobytes()


def order_of(data):
    words = array.array("I", data)
    if sys.byteorder == "big":
        words.byteswap()
    return tuple(words)


def line_of(row, placement):
    line = {"problem": row.problem, "objective": row.objective, "step_ps": row.step_ps, "devices": packed(placement.devices)}
    if placement.order:
        line["order"] = packed(words_of(placement.order))
    return json.dumps(line) + "\n"


def unpacked(text):
    return zlib.decompress(base64.b64decode(text, validate=True))


def placement_of(row, line, place):
    try:
        devices = unpacked(line["devices"])
        order = order_of(unpacked(line["order"])) if "order" in line else ()
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        raise Refused(f"{place}: the placement of {row.name} is damaged: {error}") from None
    if len(devices) != row.ops or max(devices) >= row.devices or sorted(order) not in ([], list(range(row.ops))):
        raise Refused(f"{place}: the placement of {row.name} is damaged: it is not one of {row.ops} ops on {row.devices} devices")
    return Placement(devices, order)


class Folder:
    """The lists in a folder. Each change reads the files, and replaces them whole, under a lock: several processes may
    improve problems at the same time, and one that is killed loses nothing."""

    def __init__(self, path):
        self.path = path

    @contextlib.contextmanager
    def locked(self):
        handle = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def file(self, name):
        return self.path / name

    def lines(self, name):
        try:
            return self.file(name).read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise Refused(f"{self.file(name)}: {error}") from None

    def write(self, name, text):
        new = self.file(name + ".writing")
        with open(new, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(new, self.file(name))

    def rows(self, which):
        lines = self.lines(f"{which}.tsv")
        if lines and lines[0] != "\t".join(COLUMNS):
            raise Refused(f"{self.file(which)}.tsv:1: the header is not: {' '.join(COLUMNS)}")
        rows = {}
        for number, line in enumerate(lines[1:], 2):
            row = row_of(line, f"{self.file(which)}.tsv:{number}")
            if row.name in rows:
                raise Refused(f"{self.file(which)}.tsv:{number}: {row.name} is there twice")
            rows[row.name] = row
        return rows

    def placements(self, which, rows):
        """By the problem's name. A line that belongs to no row is what an interrupted writer left: see keep()."""
        found = {}
        of_line = {(row.problem, row.objective, row.step_ps): row for row in rows.values()}
        name = f"{which}.placements.jsonl"
        for number, text in enumerate(self.lines(name), 1):
            place = f"{self.file(name)}:{number}"
            try:
                line = json.loads(text)
                key = (line["problem"], line["objective"], line["step_ps"])
            except (ValueError, KeyError, TypeError):
                raise Refused(f"{place}: the line is damaged: it is no JSON object with problem, objective and step_ps") from None
            if key in of_line:
                found[of_line[key].name] = placement_of(of_line[key], line, place)
        for row in rows.values():
            if row.name not in found:
                raise Refused(f"{self.file(name)}: no line has the placement of {row.name} with a step of {row.step_ps} ps")
        return found

    def keep(self, which, row, placement=None):
        """Adds the row or puts it in place of that of the same problem, with a placement unless its step is the old one."""
        rows = self.rows(which)
        placements = self.placements(which, rows)
        if placement is not None:
            # The new placement's line is written first, beside the old one, and the index then chooses between them.
            old = [line_of(each, placements[name]) for name, each in rows.items()]
            self.write(f"{which}.placements.jsonl", "".join([*old, line_of(row, placement)]))
            placements[row.name] = placement
        rows[row.name] = row
        lines = ["\t".join(str(getattr(each, column)) for column in COLUMNS) for each in rows.values()]
        self.write(f"{which}.tsv", "\n".join(["\t".join(COLUMNS), *lines]) + "\n")
        if placement is not None:
            self.write(f"{which}.placements.jsonl", "".join(line_of(each, placements[name]) for name, each in rows.items()))


def chosen(rows, patterns):
    """Those whose name contains or matches a pattern; all of them without patterns."""
    return [row for row in rows.values() if not patterns or any(p in row.name or fnmatchcase(row.name, p) for p in patterns)]


def tried(row, seconds):
    return replace(row, tries=row.tries + 1, tried_s=row.tried_s + round(seconds))
