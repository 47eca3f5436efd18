"""The PyTorch path of TUTORIAL.md runs as it is written, from torch.export to a measured placement; its commands refuse what
is no model."""

import json
import re
import subprocess
import sys

import pytest

from program import EMPLACE, ROOT


pytest.importorskip("torch", reason="left out: PyTorch is not installed; run scripts/frameworks")


def blocks(mark):
    return re.findall(rf"^```{mark}\n(.*?)^```", (ROOT / "TUTORIAL.md").read_text(), re.MULTILINE | re.DOTALL)


def test_the_pytorch_path_of_the_tutorial_runs(tmp_path):
    for name in ("configs", "launch"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "build/release").mkdir(parents=True)
    (tmp_path / "build/release/emplace").symlink_to(EMPLACE)
    (tmp_path / "build/frameworks/venv/bin").mkdir(parents=True)
    (tmp_path / "build/frameworks/venv/bin/python").write_text(f"#!/bin/sh\nexec {sys.executable} \"$@\"\n")
    (tmp_path / "build/frameworks/venv/bin/python").chmod(0o755)
    [program], [commands] = blocks("python pytorch"), blocks("sh pytorch")
    (tmp_path / "two_towers.py").write_text(program)
    printed = {}
    for command in commands.splitlines():
        done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        printed[command.split()[0]] = done.stdout
    measured = json.loads(printed["launch/run-pytorch.py"])
    assert measured["devices"] == 2 and measured["ops"]["elsewhere"] == 0 and measured["difference"] < 1e-5
    placed = json.loads((tmp_path / "towers-placed.json").read_text())
    devices = {segment["device"] for segment in placed["segments"]}
    assert devices == {"cuda:0", "cuda:1"} and placed["module_of_op"]["linear"] == "left.0"


@pytest.mark.parametrize("framework", ["pytorch", "onnxruntime"])
def test_a_file_that_is_no_model_is_one_sentence(tmp_path, framework):
    (tmp_path / "model").write_text("no model")
    done = subprocess.run([sys.executable, ROOT / "launch/profile-model.py", framework, tmp_path / "model", "-o",
                           tmp_path / "profile"], capture_output=True, text=True)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
    assert f"{framework} cannot run it" in done.stderr and not (tmp_path / "profile").exists()
