"""What the tests of formats share: running the program, reading schemas, writing files."""

import json
import os
import subprocess
import tomllib
import warnings
from pathlib import Path

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import jsonschema

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = str(Path(os.environ.get("EMPLACE_PROGRAM", ROOT / "build/release/emplace")).resolve())
SCHEMAS = ROOT / "docs/schemas"
PAGE = ROOT / "docs/formats.md"
TWO_BRANCHES = "configs/problems/two-branches.json"


def emplace(*arguments, codes=(0,), stdin=None):
    """Runs the program, which must end with one of `codes`; gives the finished process."""
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300, input=stdin, check=False
    )
    assert done.returncode in codes, f"{arguments} ended with {done.returncode}: {done.stderr}"
    return done


def printed(*arguments, codes=(0,)):
    """The one JSON value that the command prints."""
    return json.loads(emplace(*arguments, codes=codes).stdout)


def schema(name):
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text())


def validator(name, of=None):
    content = of if of is not None else schema(name)
    address = (SCHEMAS / f"{name}.schema.json").as_uri()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        resolver = jsonschema.RefResolver(base_uri=address, referrer=content)
    return jsonschema.Draft202012Validator(content, resolver=resolver)


def errors(name, document, of=None):
    """What is wrong with the document, one sentence each."""
    return [f"{error.json_path}: {error.message[:200]}" for error in validator(name, of).iter_errors(document)]


def closed(part):
    """The schema without room for keys that it does not describe."""
    if isinstance(part, list):
        return [closed(each) for each in part]
    if not isinstance(part, dict):
        return part
    inner = {key: closed(each) for key, each in part.items()}
    if inner.get("type") == "object" and "properties" in inner and "additionalProperties" not in inner:
        inner["additionalProperties"] = False
    return inner


def check_output(name, document):
    """It validates, and every key that it has is described."""
    assert errors(name, document) == []
    assert errors(name, document, closed(schema(name))) == []


def toml_text(value):
    """A TOML value; of a dictionary an inline table."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml_text(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False)  # texts, numbers, true and false are written alike


def write_toml(path, document):
    path.write_text("".join(f"{json.dumps(key)} = {toml_text(value)}\n" for key, value in document.items()))
    assert tomllib.loads(path.read_text()) == document
    return path


def write_json(path, document):
    path.write_text(json.dumps(document))
    return path


def read_toml(path):
    return tomllib.loads(Path(path).read_text())


def files(folder, ending):
    found = sorted(str(path.relative_to(ROOT)) for path in (ROOT / folder).glob("*" + ending))
    assert found, f"{folder} has no files that end with {ending}"
    return found
