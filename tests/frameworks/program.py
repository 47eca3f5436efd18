"""The program that the tests with frameworks run; without it they are left out."""
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EMPLACE = os.environ.get("EMPLACE", str(ROOT / "build/release/emplace"))

if not os.access(EMPLACE, os.X_OK):
    pytest.skip("left out: there is no emplace; run scripts/build", allow_module_level=True)


def inspect(model):
    """What `emplace inspect` says of a model."""
    run = subprocess.run([EMPLACE, "inspect", model, "--json"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)
