"""The examples of docs/formats.md are as their schemas say, and the program reads them."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from support import PAGE, emplace, errors, files


def examples():
    """(schema, kind, text) of each fenced example that names a schema."""
    found = re.findall(r"^```(json|toml) ([a-z0-9-]+)\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found, f"{PAGE} has no examples"
    return [(name, kind, text) for kind, name, text in found]


def test_the_page_has_an_example_of_each_schema():
    names = {Path(file).name.removesuffix(".schema.json") for file in files("docs/schemas", ".schema.json")}
    assert {name for name, _, _ in examples()} == names


@pytest.mark.parametrize("name, kind, text", examples(), ids=[f"{i}: {e[0]}" for i, e in enumerate(examples())])
def test_examples_of_the_page_are_valid(name, kind, text):
    document = json.loads(text) if kind == "json" else tomllib.loads(text)
    assert errors(name, document) == []


@pytest.mark.parametrize("name", ["problem-1", "problem-2", "machine"])
def test_the_program_reads_the_examples_of_the_page(tmp_path, name):
    for position, (of, kind, text) in enumerate(examples()):
        if of != name:
            continue
        file = tmp_path / f"{position}.{kind}"
        file.write_text(text)
        emplace("inspect", file)
