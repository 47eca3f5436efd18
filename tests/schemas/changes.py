"""Documents changed in one place, and the comparison of a schema's verdict with the program's."""

import copy

from support import emplace, errors


def changed(document, path, change):
    """A copy in which `change` was done to what holds the end of the path."""
    copied = copy.deepcopy(document)
    inner = copied
    for step in path[:-1]:
        inner = inner[step]
    change(inner, path[-1])
    return copied


def places(document, path=()):
    """The path of every key and of every first element of a list."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield (*path, key)
            yield from places(value, (*path, key))
    elif isinstance(document, list) and document:
        yield from places(document[0], (*path, 0))


def systematic(document, free=()):
    """Every key left out, of a wrong type, and beside an unknown one. `free`: objects whose keys are names."""
    for path in places(document):
        if not any(path[: len(prefix)] == prefix and len(path) > len(prefix) for prefix in free):
            yield f"without {path}", changed(document, path, lambda inner, key: inner.pop(key))
        yield f"wrong {path}", changed(document, path, lambda inner, key: inner.__setitem__(key, [[]]))
        yield f"text {path}", changed(document, path, lambda inner, key: inner.__setitem__(key, "a\ttext"))
        if path[:-1] not in free:
            yield f"beside {path}", changed(document, path, lambda inner, key: inner.__setitem__(key + "x", 1))


def put(*path_and_value):
    *path, value = path_and_value
    return lambda document: changed(document, tuple(path), lambda inner, key: inner.__setitem__(key, value))


def same_verdict(name, documents, accepts):
    """Compares the schema's verdict with the program's; gives how many both refuse."""
    refused, unlike = 0, []
    for label, document in documents:
        found = errors(name, document)
        done = accepts(document)
        program_refuses = done.returncode == 2
        assert done.returncode in (0, 2, 3), done.stderr
        if bool(found) != program_refuses:
            unlike.append(f"{label}: schema {found[:1]}, program {done.stderr.strip()}")
        refused += bool(found)
    assert unlike == []
    return refused


def read_by(command, write, file):
    """A function that hands a document to the program."""
    def run(document):
        write(file, document)
        return emplace(*command(file), codes=(0, 2, 3))
    return run
