"""The package as a whole: stubs, types, the example, the README, import without Gymnasium."""

import ast
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support import ROOT, emplace


def test_what_is_public_is_described():
    for name in emplace.__all__:
        thing = getattr(emplace, name)
        if name.startswith("_"):
            continue
        assert name in ("BugError", "EnvironmentError", "InputError") or inspect.getdoc(thing), name
        if inspect.isclass(thing) and thing.__module__.startswith("emplace."):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or hasattr(value, "fget") or hasattr(value, "func")):
                    assert inspect.getdoc(value), f"{name}.{member}"


def test_the_stub_of_the_module_lists_its_functions_and_their_numbers_of_arguments():
    core = emplace._core

    def arguments_of(thing):
        """Counts them in the signature with which pybind11 begins a docstring: f(arg0: int, arg1: str) -> str."""
        return 0 if "()" in thing.__doc__.splitlines()[0] else thing.__doc__.splitlines()[0].count(": ")

    def compare(definitions, owner, place):
        stubs = {each.name: each for each in definitions if isinstance(each, (ast.FunctionDef, ast.ClassDef))}
        public = {name for name in vars(owner) if not name.startswith("_")}
        assert {name for name in stubs if not name.startswith("_")} == public, place
        for name in public:
            stub, thing = stubs[name], getattr(owner, name)
            if isinstance(stub, ast.ClassDef):
                if not issubclass(thing, Exception):
                    compare(stub.body, thing, f"{place}.{name}")
            elif not isinstance(thing, property):
                given = len(stub.args.posonlyargs) + len(stub.args.args)
                assert given == arguments_of(thing), f"{place}.{name}: {thing.__doc__}"

    stub_file = Path(core.__file__).with_name("_core.pyi")
    compare(ast.parse(stub_file.read_text()).body, core, "_core")


def test_types_are_as_the_stubs_say(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed: scripts/python-test installs it")
    allowed = tmp_path / "allowed"
    allowed.write_text("emplace._core.Outcomes\nemplace._core.Problem\n")  # their metaclass is pybind11's
    checks = [
        [sys.executable, "-m", "mypy.stubtest", "emplace", "--allowlist", allowed],
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path, "-p", "emplace"],
    ]
    for check in checks:
        done = subprocess.run(check, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (Path(emplace.__file__).parent / "py.typed").is_file()


def test_a_module_of_an_old_pybind11_refuses_numpy_2():
    """It would read arrays with strides of 0."""
    if emplace._core.reads_numpy_2():
        pytest.skip("this module reads arrays of NumPy 2")
    code = f"""
import importlib.util, sys, types
sys.modules["numpy"] = types.ModuleType("numpy")
sys.modules["numpy"].__version__ = "2.4.6"
spec = importlib.util.spec_from_file_location("_core", {str(emplace._core.__file__)!r})
importlib.util.module_from_spec(spec)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ImportError: NumPy 2.4.6 needs pybind11 2.12 or newer" in done.stderr


def test_importing_needs_neither_gymnasium_nor_mpirun():
    program = "import sys; sys.modules['gymnasium'] = None; import emplace; print(emplace.__version__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.strip() == emplace.__version__, done.stderr


def test_the_example_learns_more_than_the_best_single_device(tmp_path):
    example = ROOT / "examples/python/reinforce.py"
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    below = re.search(r"^learned: .* s, (\d+)% below the best single device$", done.stdout, re.M)
    assert below and int(below[1]) >= 10, done.stdout
    assert (tmp_path / "learned.placement.json").is_file()


def test_the_readmes_python_runs_from_top_to_bottom(tmp_path, monkeypatch):
    text = (ROOT / "python/README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) >= 4
    if importlib.util.find_spec("gymnasium") is None:
        blocks = [block for block in blocks if "emplace.gym" not in block]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "python/README.md", "exec"), names)
