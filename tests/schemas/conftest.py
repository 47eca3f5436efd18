import pytest

from samples import CHAIN
from support import ROOT, write_json


@pytest.fixture(autouse=True)
def in_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)  # recipes and tables name files of the repository


@pytest.fixture(name="chain")
def chain_of(tmp_path):
    return write_json(tmp_path / "chain.json", CHAIN)
