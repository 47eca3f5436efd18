"""Schemas are schemas, and the files of configs/ are as they say."""

import json
from pathlib import Path

import pytest

from support import errors, files, jsonschema, read_toml


@pytest.mark.parametrize("file", files("docs/schemas", ".schema.json"))
def test_every_schema_is_one(file):
    jsonschema.Draft202012Validator.check_schema(json.loads(Path(file).read_text()))


def filled_in(value):
    """A preset's family as the program reads it: 2 where it has a capital for a number."""
    if isinstance(value, dict):
        return {key: filled_in(each) for key, each in value.items()}
    if isinstance(value, list):
        return [filled_in(each) for each in value]
    return 2 if value in ("N", "H", "G") else value


@pytest.mark.parametrize("file", files("configs/machines", ".toml"))
def test_shipped_machines_are_valid(file):
    assert errors("machine", filled_in(read_toml(file))) == []


@pytest.mark.parametrize("file", files("configs/recipes", ".toml"))
def test_shipped_recipes_are_valid(file):
    assert errors("recipe", read_toml(file)) == []


@pytest.mark.parametrize("file", files("configs/sweeps", ".toml"))
def test_shipped_sweeps_are_valid(file):
    assert errors("sweep", read_toml(file)) == []


@pytest.mark.parametrize("file", files("configs/tables", ".toml"))
def test_shipped_tables_are_valid(file):
    assert errors("table", read_toml(file)) == []


@pytest.mark.parametrize("file", files("configs/problems", ".json"))
def test_shipped_problems_are_valid(file):
    document = json.loads(Path(file).read_text())
    assert errors(document["emplace"].replace("/", "-"), document) == []
