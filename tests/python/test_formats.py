"""The formats of docs/formats.md: their JSON schemas (docs/schemas) against shipped files, outputs and the program.

    EMPLACE_PROGRAM=build/release/emplace python3 -m pytest tests/python/test_formats.py

runs in any folder and needs python3-pytest, python3-jsonschema and Python 3.11 (tomllib). Where a policy, a
learner, an evaluator or a strategy got another option, the parts of recipe.schema.json and sweep.schema.json that list
options are written anew by

    python3 tests/python/test_formats.py --update

which keeps the bounds that stand there: those of new options are to be added by hand.
"""

import copy
import csv
import itertools
import json
import os
import re
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import jsonschema

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = str(Path(os.environ.get("EMPLACE_PROGRAM", ROOT / "build/release/emplace")).resolve())
SCHEMAS = ROOT / "docs/schemas"
PAGE = ROOT / "docs/formats.md"
TWO_BRANCHES = "configs/problems/two-branches.json"


# ---- Tools -----------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def in_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)  # recipes and tables name files of the repository


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


# ---- The schemas and the shipped files -------------------------------------------------------------------------------


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


# ---- Option lists of recipes and sweeps follow the program -----------------------------------------------------------

JSON_TYPES = {
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
    "number": {"type": "number"},
    "text": {"type": "string"},
    "list of texts": {"type": "array", "items": {"type": "string"}},
}
BOUNDS = ("minimum", "maximum", "exclusiveMinimum")
# Keys that may not vary in a sweep: they change what is measured, or every trial has its own.
FIXED_IN_SWEEPS = {"seed", "run", "problem", "graph", "machine", "problems", "shape", "batch", "schedule", "objective",
                   "held_out", "workers", "evaluator"}


def entries(kind):
    return {entry["name"]: entry["options"] for entry in printed("list", kind, "--json")}


def option_schema(option, before):
    """Of what `emplace list` says of an option; bounds, and the unit behind the sentence, are as they were."""
    found = copy.deepcopy(JSON_TYPES[option["type"]])
    if "choices" in option:
        inner = found["items"] if found["type"] == "array" else found
        inner.pop("type")
        inner["enum"] = option["choices"]
    found.update({key: before[key] for key in BOUNDS if key in before})
    default = option["default"]
    if found.get("type") in ("boolean", "integer", "number") and default != "":
        found["default"] = json.loads(default)
    elif option["type"] == "text" and default != "":
        found["default"] = default
    said = before.get("description", "")
    found["description"] = said if said.startswith(option["help"]) else option["help"]
    return found


def options_schema(options, before):
    old = before.get("properties", {})
    return {
        "type": "object",
        "properties": {each["name"]: option_schema(each, old.get(each["name"], {})) for each in options},
        "additionalProperties": False,
    }


def named(key, name, default):
    """A recipe whose `key` is `name`, by its default or said."""
    condition = {"properties": {key: {"const": name}}}
    return condition if name == default else dict(condition, required=[key])


def not_named(key, name, default):
    unlike = {"properties": {key: {"not": {"const": name}}}}
    return dict(unlike, required=[key]) if name == default else unlike


def with_options(recipe, sweep):
    """Both schemas with the options that the program has now."""
    roles = {"policy": entries("policies"), "learner": entries("learners"), "evaluator": entries("evaluators")}
    defaults = {role: recipe["properties"][role]["default"] for role in roles}
    methods = recipe["$defs"].get("methods", {})
    tables, conditions = {}, []
    for role, of_role in roles.items():
        recipe["properties"][role]["enum"] = list(of_role)
        for name in of_role:
            tables.setdefault(name, [])
    for name in tables:
        mine = {role: of_role[name] for role, of_role in roles.items() if name in of_role}
        # A policy and a learner of one name share a table.
        options = {each["name"]: each for of_role in mine.values() for each in of_role}
        tables[name] = options_schema(list(options.values()), methods.get(name, {}))
        wanted = [named(role, name, defaults[role]) for role in mine]
        conditions.append({"if": {"required": [name]}, "then": wanted[0] if len(wanted) == 1 else {"anyOf": wanted}})
        for role in mine if len(mine) > 1 else []:
            others = {each["name"] for other in mine if other != role for each in mine[other]}
            conditions.append({
                "if": not_named(role, name, defaults[role]),
                "then": {"properties": {name: {"propertyNames": {"enum": sorted(others)}}}},
            })
    recipe["$defs"]["methods"] = tables
    for name in [key for key, value in recipe["properties"].items() if "/methods/" in value.get("$ref", "")]:
        del recipe["properties"][name]
    recipe["properties"].update({name: {"$ref": f"#/$defs/methods/{name}"} for name in tables})
    recipe["allOf"] = conditions

    strategies = entries("strategies")
    old = sweep["$defs"].get("strategies", {})
    sweep["$defs"]["strategies"] = {
        name: options_schema(options, old.get(name, {})) for name, options in strategies.items()
    }
    sweep["properties"]["strategy"]["enum"] = list(strategies)
    own = {key: value for key, value in sweep["properties"].items()
           if "recipe.schema.json" not in value.get("$ref", "") and "/strategies/" not in value.get("$ref", "")}
    of_recipe = [key for key in recipe["properties"] if key not in own]
    own.update({key: {"$ref": f"recipe.schema.json#/properties/{key}"} for key in of_recipe})
    own.update({name: {"$ref": f"#/$defs/strategies/{name}"} for name in strategies})
    sweep["properties"] = own
    default = sweep["properties"]["strategy"]["default"]
    sweep["allOf"] = [{"if": {"required": [name]}, "then": named("strategy", name, default)} for name in strategies]

    varies, space = {"$ref": "#/$defs/varies"}, {}
    option_tables = dict(tables)
    for key in recipe["properties"]:
        if key not in tables and key not in FIXED_IN_SWEEPS and key != "roofline":
            space[key] = varies
    for name, table in option_tables.items():
        keys = list(table["properties"])
        if keys:
            space[name] = {"type": "object", "properties": {key: varies for key in keys}, "additionalProperties": False}
            space.update({f"{name}.{key}": varies for key in keys})
    sweep["$defs"]["space"] = {"type": "object", "minProperties": 1, "properties": space, "additionalProperties": False}
    return recipe, sweep


def test_the_schemas_of_recipes_and_sweeps_list_the_options_that_the_program_has():
    recipe, sweep = schema("recipe"), schema("sweep")
    now = with_options(copy.deepcopy(recipe), copy.deepcopy(sweep))
    assert (recipe, sweep) == now, "write them anew: python3 tests/python/test_formats.py --update"


def test_the_schema_of_recipes_has_every_key_that_the_manual_has():
    manual = emplace("manual").stdout
    recipes = manual[manual.index("\n.SH RECIPES") : manual.index("\n.SH PLACERS")]
    keys = re.findall(r"^\\fB([\w\\.-]+)\\fR=", recipes, re.MULTILINE)
    flat = {key.replace("\\", "") for key in keys}
    recipe = schema("recipe")
    of_tables = {f"roofline.{key}" for key in recipe["$defs"]["roofline"]["properties"]}
    for name, table in recipe["$defs"]["methods"].items():
        of_tables.update(f"{name}.{key}" for key in table["properties"])
    own = {key for key, value in recipe["properties"].items() if "$ref" not in value}
    assert own | of_tables == flat


# ---- What the program prints and writes ------------------------------------------------------------------------------

# A chain on a CPU and a GPU of little memory: `a` does not fit the GPU, `b` cannot run there.
CHAIN = {
    "emplace": "problem/1",
    "name": "chain",
    "devices": [
        {"name": "cpu:0", "kind": "cpu", "memory_bytes": None},
        {"name": "gpu:0", "kind": "gpu", "memory_bytes": 4096},
    ],
    "channels": [
        {"name": "h2d", "latency_s": 1e-5, "bytes_per_s": 1.2e10},
        {"name": "d2h", "latency_s": 1e-5, "bytes_per_s": 1.2e10, "contention": False},
    ],
    "routes": [{"from": 0, "to": 1, "channels": [0]}, {"from": 1, "to": 0, "channels": [1]}],
    "ops": [
        {"name": "a", "type": "MatMul", "seconds": [0.010, 0.001], "resident_bytes": 8192, "scratch_bytes": 64},
        {"name": "b", "type": "Relu", "seconds": [0.010, None], "colocate": "end"},
        {"name": "c", "seconds": [0.001, 0.001], "colocate": None},
    ],
    "tensors": [{"from": 0, "bytes": 4096, "to": [1, 2]}, {"from": 1, "bytes": 0, "to": []}],
}
ON_CPU = {"a": "cpu:0", "b": "cpu:0", "c": "cpu:0"}
# Neither device has room for it.
TOO_BIG = dict(
    CHAIN,
    devices=[dict(device, memory_bytes=1024) for device in CHAIN["devices"]],
)
RECIPE = {
    "problem": TWO_BRANCHES,
    "policy": "post",
    "learner": "post",
    "grouping": "colocation",
    "seed": 1,
    "evaluations": 40,
    "compare": [],
    "post": {"samples_per_update": 20, "elite_fraction": 0.2},
}


def placement(ops, **more):
    return dict({"emplace": "placement/1", "problem": "chain", "ops": ops}, **more)


@pytest.fixture(name="chain")
def chain_of(tmp_path):
    return write_json(tmp_path / "chain.json", CHAIN)


@pytest.mark.parametrize(
    "ops, feasible, timed",
    [(ON_CPU, True, True), (dict(ON_CPU, a="gpu:0"), False, True), (dict(ON_CPU, b="gpu:0"), False, False)],
    ids=["feasible", "short of memory", "cannot run"],
)
@pytest.mark.parametrize("objective", ["step", "pipeline"])
def test_simulate_prints_what_its_schema_says(tmp_path, chain, ops, feasible, timed, objective):
    file = write_json(tmp_path / "placement.json", placement(ops))
    output = printed("simulate", chain, file, "--objective", objective, "--json")
    check_output("simulate-output", output)
    assert output["feasible"] == feasible
    assert (output["devices"][0]["busy_s"] is not None) == timed


def test_published_simulators_print_what_the_schema_of_simulate_says(tmp_path, chain):
    file = write_json(tmp_path / "placement.json", placement(ON_CPU))
    for simulator in ("placeto", "giph"):
        check_output("simulate-output", printed("simulate", chain, file, "--simulator", simulator, "--json"))


@pytest.mark.parametrize("schedule", ["fifo", "priority", "in-order"])
def test_place_prints_and_writes_what_its_schemas_say(tmp_path, chain, schedule):
    file = tmp_path / "placed.json"
    check_output("place-output", printed("place", "heft", chain, "--schedule", schedule, "-o", file, "--json"))
    assert errors("placement-1", json.loads(file.read_text())) == []


def test_place_prints_what_its_schema_says_for_the_pipeline_and_where_nothing_is_feasible(tmp_path, chain):
    check_output("place-output", printed("place", "greedy", chain, "--objective", "pipeline", "--json"))
    too_big = write_json(tmp_path / "big.json", TOO_BIG)
    output = printed("place", "greedy", too_big, "--json", codes=(3,))
    check_output("place-output", output)
    assert output["feasible"] is False


def test_bound_prints_what_its_schema_says(tmp_path, chain):
    check_output("bound-output", printed("bound", chain, "--seconds", "0.5", "--json"))
    check_output("bound-output", printed("bound", chain, "--seconds", "0.5", "--objective", "pipeline", "--json"))
    too_big = write_json(tmp_path / "big.json", TOO_BIG)
    output = printed("bound", too_big, "--seconds", "0.5", "--json", codes=(3,))
    check_output("bound-output", output)
    assert output["lower_bound_s"] is None


def kinds_of_list():
    usage = re.search(r"policies(\|[a-z]+)+", emplace("list", "--help").stdout)
    return usage.group(0).split("|")


def test_list_prints_what_its_schema_says():
    kinds = kinds_of_list()
    assert len(kinds) >= 11
    for kind in kinds:
        check_output("list-output", printed("list", kind, "--json"))


@pytest.mark.parametrize("source", ["zoo:inception-v3", "zoo:rnnlm?layers=2&training=true", "zoo:rnnlm?layers=2@k40x2",
                                    "k40x2", TWO_BRANCHES, "configs/machines/laptop.toml"])
def test_inspect_prints_what_its_schema_says(source):
    check_output("inspect-output", printed("inspect", source, "--json"))


def test_inspect_prints_what_its_schema_says_of_placements(tmp_path):
    for more in ({}, {"schedule": "fifo"}):
        file = write_json(tmp_path / "placement.json", placement(ON_CPU, **more))
        check_output("inspect-output", printed("inspect", file, "--json"))


def test_cost_writes_what_the_schema_of_problems_says(tmp_path):
    file = tmp_path / "problem.json"
    emplace("cost", "zoo:rnnlm?layers=2&sequence=4", "k40x2", "--training", "-o", file, "--json")
    document = json.loads(file.read_text())
    assert errors(document["emplace"].replace("/", "-"), document) == []


def code_on_the_page():
    """Texts in backticks."""
    return set(re.findall(r"`([^`\n]+)`", PAGE.read_text()))


def is_on_the_page(path):
    """Capitals and ... of the page stand for anything: `history/COLUMN`, `learner/...`."""
    patterns = [re.sub(r"\\\.\\\.\\\.|[A-Z]+", ".*", re.escape(code)) for code in code_on_the_page() if "/" in code]
    return any(re.fullmatch(pattern, path) for pattern in patterns)


def test_a_run_folder_holds_what_the_page_and_the_schemas_say(tmp_path):
    run = tmp_path / "run"
    recipe = write_toml(tmp_path / "recipe.toml", dict(RECIPE, checkpoint_every=1, greedy_every=1))
    report = printed("train", recipe, f"run={run}", "evaluations=300", "--json")
    check_output("place-output", report)
    assert errors("recipe", read_toml(run / "config.toml")) == []
    assert errors("placement-1", json.loads((run / "best.placement.json").read_text())) == []
    assert (run / "status").read_text() == "finished\n"
    for name in ("checkpoint.h5", "checkpoint.previous.h5", "log.txt", "tensorboard"):
        assert (run / name).exists()
    with open(run / "metrics.csv", encoding="utf-8") as metrics:
        assert set(next(csv.reader(metrics))) <= code_on_the_page()
    inspected = printed("inspect", run, "--json")
    check_output("inspect-output", inspected)
    check_output("inspect-output", printed("inspect", run / "checkpoint.h5", "--json"))
    assert [path for path in inspected["arrays"] if not is_on_the_page(path)] == []


def test_a_training_on_several_problems_prints_a_list(tmp_path):
    sources = [str(write_json(tmp_path / f"{i}.json", dict(CHAIN, name=f"chain {i}"))) for i in range(2)]
    recipe = write_toml(tmp_path / "recipe.toml", RECIPE)
    several = f"problems={json.dumps(sources)}"
    output = printed("train", recipe, several, f"run={tmp_path / 'run'}", "--json", codes=(0, 3))
    check_output("place-output", output)
    assert len(output) == 2
    check_output("inspect-output", printed("inspect", tmp_path / "run", "--json"))


TABLE = {
    "title": "Two branches",
    "source": "made up",
    "methods": ["single", "heft"],
    "method": {"heft": {"label": "HEFT", "seeds": 1}},
    "best": {"budget": {"evaluations": 50}, "quick": {"evaluations": 50}},
    "row": [
        {"label": "as it is", "model": "two", "problem": "two-branches.json",
         "published": {"single": 0.04, "heft": 0.03}},
        {"label": "again", "model": "other", "problem": "two-branches.json", "published": {"single": "OOM"},
         "skip": ["heft"], "search": {"single": 12.5}, "unconfirmed": ["single"], "notes": ["a footnote"]},
    ],
}


def test_reproduce_prints_what_its_schema_says(tmp_path):
    assert errors("table", TABLE) == []
    file = write_toml(tmp_path / "table.toml", TABLE)
    output = printed("reproduce", file, "--files", "configs/problems", "-o", tmp_path / "made", "--json")
    check_output("reproduce-output", output)
    assert {row["method"] for row in output["rows"]} == {"single", "heft", "best", "bound"}


# ---- The page's examples ---------------------------------------------------------------------------------------------


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


# ---- The same verdict as the program ---------------------------------------------------------------------------------


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


PROBLEM_CHANGES = {
    "whole numbers with a point": put("tensors", 0, "bytes", 4096.0),
    "half a byte": put("tensors", 0, "bytes", 4096.5),
    "negative bytes": put("ops", 0, "resident_bytes", -1),
    "bytes over 2^62": put("ops", 0, "scratch_bytes", 2**62 + 1),
    "bandwidth 0": put("channels", 0, "bytes_per_s", 0),
    "latency 0": put("channels", 0, "latency_s", 0),
    "negative latency": put("channels", 0, "latency_s", -1e-9),
    "an op that runs nowhere": put("ops", 1, "seconds", [None, None]),
    "no times": put("ops", 1, "seconds", []),
    "time 0": put("ops", 1, "seconds", [0, 0]),
    "negative time": put("ops", 1, "seconds", [-1, 0]),
    "half a year": put("ops", 1, "seconds", [1.6e7, 0]),
    "an empty group": put("ops", 0, "colocate", ""),
    "an empty name": put("ops", 0, "name", ""),
    "no name of the problem": put("name", ""),
    "no ops": put("ops", []),
    "no devices": put("devices", []),
    "no channels": lambda problem: dict(problem, channels=[], routes=[]),
    "a route without channels": put("routes", 0, "channels", []),
    "a channel twice on a route": put("routes", 0, "channels", [0, 0]),
    "a consumer twice": put("tensors", 0, "to", [1, 1]),
    "no consumers": put("tensors", 0, "to", []),
    "another format": put("emplace", "problem/9"),
    "no limit of memory": put("devices", 1, "memory_bytes", None),
}


def test_the_schema_of_problem_1_says_of_changed_problems_what_the_program_says(tmp_path):
    accepts = read_by(lambda file: ("inspect", file), write_json, tmp_path / "problem.json")
    assert same_verdict("problem-1", [("as it is", CHAIN)], accepts) == 0
    documents = [(label, change(CHAIN)) for label, change in PROBLEM_CHANGES.items()]
    # Routes that name channels which are not there are beyond a schema.
    documents += [each for each in systematic(CHAIN) if each[0] != "without ('channels',)"]
    assert same_verdict("problem-1", documents, accepts) > 50


CHAIN_2 = dict(
    copy.deepcopy(CHAIN),
    emplace="problem/2",
    ops=[dict(CHAIN["ops"][0], layer="encoder/0", module="encoder/layer.0/attention"), *CHAIN["ops"][1:]],
    tensors=[dict(CHAIN["tensors"][0], shape=[32, 32], type="float32"), dict(CHAIN["tensors"][1], shape=[])],
    expert=ON_CPU,
)
PROBLEM_2_CHANGES = {
    "an unknown size": put("tensors", 0, "shape", [None, 32]),
    "an unknown rank": put("tensors", 0, "shape", None),
    "a size of 0": put("tensors", 0, "shape", [0, 32]),
    "a negative size": put("tensors", 0, "shape", [-1, 32]),
    "half a size": put("tensors", 0, "shape", [0.5, 32]),
    "an unknown element type": put("tensors", 0, "type", "float31"),
    "no element type": put("tensors", 0, "type", None),
    "an empty layer": put("ops", 0, "layer", ""),
    "no layer": put("ops", 0, "layer", None),
    "an empty module": put("ops", 0, "module", ""),
    "an empty part of a module": put("ops", 0, "module", "encoder//attention"),
    "no expert": put("expert", None),
    "an expert of nothing": put("expert", {}),
    "an expert's device as a number": put("expert", "a", 0),
    "of version 1": put("emplace", "problem/1"),
}


def test_the_schema_of_problem_2_says_of_changed_problems_what_the_program_says(tmp_path):
    assert errors("problem-2", CHAIN_2) == []
    assert errors("problem-2", dict(CHAIN, emplace="problem/2")) == []
    file = write_json(tmp_path / "problem.json", CHAIN_2)
    accepts = read_by(lambda file: ("inspect", file), write_json, file)
    assert same_verdict("problem-2", [("as it is", CHAIN_2)], accepts) == 0
    documents = [(label, change(CHAIN_2)) for label, change in PROBLEM_2_CHANGES.items() if label != "of version 1"]
    documents += [(label, change(CHAIN_2)) for label, change in PROBLEM_CHANGES.items()]
    # Beyond a schema: routes over channels that are not there, an expert that names what has another name.
    beyond = ("without ('channels',)", "text ('expert',", "text ('devices', 0, 'name')", "text ('ops', 0, 'name')")
    documents += [each for each in systematic(CHAIN_2, free=[("expert",)]) if not each[0].startswith(beyond)]
    assert same_verdict("problem-2", documents, accepts) > 50
    assert same_verdict("problem-1", [("of version 1", PROBLEM_2_CHANGES["of version 1"](CHAIN_2))], accepts) == 1


PLACEMENT_CHANGES = {
    "an order": lambda document: dict(document, schedule="in-order", order=["a", "b", "c"]),
    "an order without schedule": lambda document: dict(document, order=["a", "b", "c"]),
    "no order": lambda document: dict(document, order=None),
    "an empty order": lambda document: dict(document, schedule="fifo", order=[]),
    "an op twice in the order": lambda document: dict(document, schedule="fifo", order=["a", "b", "b"]),
    "another schedule": lambda document: dict(document, schedule="lifo"),
    "no schedule": lambda document: dict(document, schedule=None),
    "no ops": put("ops", {}),
    "a device as a number": put("ops", "a", 0),
    "another format": put("emplace", "placement/9"),
}


def test_the_schema_of_placements_says_of_changed_ones_what_the_program_says(tmp_path, chain):
    accepts = read_by(lambda file: ("simulate", chain, file), write_json, tmp_path / "placement.json")
    full = placement(ON_CPU, schedule="fifo", order=["a", "b", "c"])
    assert same_verdict("placement-1", [("as it is", full)], accepts) == 0
    documents = [(label, change(placement(ON_CPU))) for label, change in PLACEMENT_CHANGES.items()]
    # A name that is no device is beyond a schema.
    documents += [each for each in systematic(full, free=[("ops",)])
                  if each[0] != "without ('schedule',)" and not each[0].startswith("text ('ops',")]
    assert same_verdict("placement-1", documents, accepts) > 15


MACHINE = {
    "name": "box",
    "device": [
        {"name": "gpu", "kind": "gpu", "count": 2, "memory_bytes": 12884901888, "memory_bytes_per_s": 3e11,
         "launch_overhead_s": 5e-6, "unsupported": ["LSTM"], "overlap": 0.5,
         "peak_flops": {"f32": 1e13, "default": 5e12}, "efficiency": {"matmul": 0.7, "default": 0.1},
         "memory_efficiency": {"default": 0.9}, "half_flops": {"matmul": 1e6}, "half_bytes": {"movement": 1e4},
         "fused_speedup": {"convolution": 1.2}},
        {"name": "cpu", "kind": "cpu", "memory": "64 GiB", "memory_bytes_per_s": 6e10,
         "peak_flops": {"default": 1e12}, "efficiency": {"default": 0.5}},
    ],
    "topology": [{"kind": "pcie-switch", "name": "pcie", "host": "cpu", "devices": ["gpu"], "latency_s": 1e-5,
                  "bytes_per_s": 1.2e10, "peers": False, "uplink_bytes_per_s": 2e10}],
    "channel": [{"name": "bridge", "latency_s": 5e-6, "bytes_per_s": 4e10, "contention": True}],
    "route": [{"channels": ["bridge"], "serves": ["gpu -> gpu"]}],
    "hosts": {"count": 2, "name": "lan", "latency_s": 1e-5, "bytes_per_s": 1.25e9},
}
MACHINE_CHANGES = {
    "unlimited memory": put("device", 1, "memory", "unlimited"),
    "memory without a unit": put("device", 1, "memory", "64"),
    "memory twice": put("device", 1, "memory_bytes", 1),
    "memory of 0 bytes": put("device", 0, "memory_bytes", 0),
    "an unknown number type": put("device", 0, "peak_flops", "f8", 1e12),
    "an unknown op class": put("device", 0, "efficiency", "matmuls", 0.5),
    "an efficiency over 1": put("device", 0, "efficiency", "matmul", 1.1),
    "an efficiency of 0": put("device", 0, "efficiency", "matmul", 0),
    "no default efficiency": put("device", 0, "efficiency", {"matmul": 0.5}),
    "no peak": put("device", 0, "peak_flops", {}),
    "an overlap over 1": put("device", 0, "overlap", 1.5),
    "no devices of a kind": put("device", 0, "count", 0),
    "a letter for a count": put("device", 0, "count", "N"),
    "a blank in a name": put("device", 0, "name", "a gpu"),
    "an empty kind": put("device", 0, "kind", ""),
    "a number for a text": put("device", 0, "kind", 1),
    "an unknown topology": put("topology", 0, "kind", "ring"),
    "a key of another topology": put("topology", 0, "hosts", [{"devices": ["gpu"]}, {"devices": ["cpu"]}]),
    "nothing served": put("route", 0, "serves", []),
    "no arrow": put("route", 0, "serves", ["gpu gpu"]),
    "a channel twice on a route": put("route", 0, "channels", ["bridge", "bridge"]),
    "a bandwidth of 0": put("channel", 0, "bytes_per_s", 0),
    "no hosts": put("hosts", "count", 0),
    "a preset of a number": put("extends", 2),
}
EXTENDED = {"extends": "k40x2", "name": "mine", "device": [{"name": "gpu", "peak_flops": {"f32": 4e12}}]}
EXTENDED_CHANGES = {
    "as it is": lambda document: document,
    "without a name": lambda document: {"extends": "k40x2"},
    "an unknown key": put("device", 0, "speed", 1),
    "a share over 1": put("device", 0, "efficiency", {"default": 2}),
    "an unknown key of the file": put("devices", []),
    "memory in bytes": put("device", 0, "memory_bytes", 1),
}


def test_the_schema_of_machines_says_of_changed_ones_what_the_program_says(tmp_path):
    accepts = read_by(lambda file: ("inspect", file), write_toml, tmp_path / "machine.toml")
    assert same_verdict("machine", [("as it is", MACHINE)], accepts) == 0
    documents = [(label, change(MACHINE)) for label, change in MACHINE_CHANGES.items()]
    documents += [(label, change(EXTENDED)) for label, change in EXTENDED_CHANGES.items()]
    # Beyond a schema: names of what is not there, channels without routes, two routes for one pair.
    beyond = {"without ('device', 0, 'count')", "text ('topology', 0, 'host')", "without ('topology', 0, 'peers')",
              "without ('channel',)", "without ('route',)"}
    documents += [each for each in systematic(MACHINE) if each[0] not in beyond]
    assert same_verdict("machine", documents, accepts) > 50


RECIPE_CHANGES = {
    "a budget of 0": put("evaluations", 0),
    "a negative budget": put("updates", -1),
    "a budget of no seconds": put("seconds", 0.0),
    "half an evaluation": put("evaluations", 20.5),
    "an unknown key": put("learning_rate", 0.1),
    "an unknown policy": put("policy", "posts"),
    "an unknown learner": put("learner", "sgd"),
    "an unknown grouping": put("grouping", "both"),
    "an unknown schedule": put("schedule", "lifo"),
    "an unknown objective": put("objective", "time"),
    "an unknown option": put("post", "elites", 3),
    "an option out of bounds": put("post", "elite_fraction", 1.5),
    "an option of the wrong type": put("post", "samples_per_update", "many"),
    "the table of another learner": put("ppo", {"epochs": 2}),
    "the table of another policy": put("gdp", {"hidden": 8}),
    "an option of a learner that is not there": lambda recipe: dict(
        recipe, learner="reinforce", post={"elite_fraction": 0.2}),
    "two kinds of problem": put("problems", [TWO_BRANCHES]),
    "a graph beside the problem": lambda recipe: dict(recipe, graph="zoo:rnnlm", machine="k40x2"),
    "a negative seed": put("seed", -1),
    "a share of 0": put("group_share", 0),
    "a text for a list": put("compare", "single"),
    "an unknown key of the cost model": put("roofline", {"fused": True}),
    "an unknown optimiser": put("roofline", {"optimizer": "adamw"}),
}


def test_the_schema_of_recipes_refuses_what_the_program_refuses(tmp_path):
    runs = itertools.count()  # a folder that holds a run is refused

    def train(file):
        return ("train", file, f"run={tmp_path / 'run'}{next(runs)}")

    accepts = read_by(train, write_toml, tmp_path / "recipe.toml")
    fine = [("as it is", RECIPE), ("without its table", {k: v for k, v in RECIPE.items() if k != "post"}),
            ("another learner", dict(RECIPE, learner="reinforce", post={}, reinforce={"samples_per_update": 20}))]
    assert same_verdict("recipe", fine, accepts) == 0
    documents = [(label, change(RECIPE)) for label, change in RECIPE_CHANGES.items()]
    assert same_verdict("recipe", documents, accepts) == len(documents)


SWEEP = {
    "problem": TWO_BRANCHES,
    "evaluations": 40,
    "strategy": "random",
    "trials": 2,
    "seeds": [1],
    "compare": [],
    "space": {
        "learner": ["post", "reinforce"],
        "post": {"elite_fraction": {"uniform": [0.1, 0.5], "when": {"learner": "post"}}},
        "reinforce.learning_rate": {"log_uniform": [0.01, 0.1], "when": {"learner": ["reinforce"]}},
    },
}
SWEEP_CHANGES = {
    "no space": lambda sweep: {key: value for key, value in sweep.items() if key != "space"},
    "an empty space": put("space", {}),
    "an unknown strategy": put("strategy", "anneal"),
    "options of another strategy": put("tpe", {"startup": 4}),
    "no trials": put("trials", 0),
    "no seeds": put("seeds", []),
    "0 seeds": put("seeds", 0),
    "a seed twice": put("seeds", [1, 1]),
    "a varying seed": put("space", "seed", [1, 2]),
    "a varying problem": put("space", "problem", [TWO_BRANCHES]),
    "an unknown key that varies": put("space", "speed", [1, 2]),
    "an unknown option that varies": put("space", "post.speed", [1, 2]),
    "no choices": put("space", "groups", []),
    "two forms": put("space", "groups", {"integers": [1, 4], "uniform": [1, 4]}),
    "no form": put("space", "groups", {"when": {"learner": "post"}}),
    "one end": put("space", "groups", {"integers": [1]}),
    "an end that is none": put("space", "groups", {"integers": [1, 2.5]}),
    "a step of a real range": put("space", "group_share", {"uniform": [0.1, 1], "step": 0.1}),
    "a step of 0": put("space", "groups", {"integers": [1, 4], "step": 0}),
    "a step on a logarithmic scale": put("space", "groups", {"integers": [1, 4], "step": 2, "log": True}),
    "a logarithmic range from 0": put("space", "group_share", {"log_uniform": [0, 1]}),
    "a condition that is no table": put("space", "groups", {"integers": [1, 4], "when": "post"}),
    "a condition that never holds": put("space", "groups", {"integers": [1, 4], "when": {"learner": []}}),
    "an unknown form": put("space", "groups", {"between": [1, 4]}),
    "an unknown key": put("strategys", "random"),
    "a budget of 0": put("evaluations", 0),
}


def test_the_schema_of_sweeps_refuses_what_the_program_refuses(tmp_path):
    accepts = read_by(lambda file: ("sweep", file, f"run={tmp_path / 'sweep'}"), write_toml, tmp_path / "sweep.toml")
    assert same_verdict("sweep", [("as it is", SWEEP)], accepts) == 0
    assert errors("sweep", read_toml(tmp_path / "sweep" / "config.toml")) == []
    documents = [(label, change(SWEEP)) for label, change in SWEEP_CHANGES.items()]
    assert same_verdict("sweep", documents, accepts) == len(documents)


TABLE_CHANGES = {
    "no title": lambda table: {key: value for key, value in table.items() if key != "title"},
    "no rows": put("row", []),
    "no methods": put("methods", []),
    "a method twice": put("methods", ["single", "single"]),
    "an unknown status": put("status", "rumour"),
    "an unknown objective": put("objective", "time"),
    "0 seeds": put("seeds", 0),
    "1001 seeds": put("method", "heft", "seeds", 1001),
    "an unknown key": put("caption", "x"),
    "an unknown key of a method": put("method", "heft", "recipes", "post"),
    "a placer and a recipe": put("method", "heft", {"placer": "heft", "recipe": "post"}),
    "an unknown key of a row": put("row", 0, "batch", 1),
    "a row without a model": lambda table: changed(table, ("row", 0, "model"), lambda row, key: row.pop(key)),
    "a row without a problem": lambda table: changed(table, ("row", 0, "problem"), lambda row, key: row.pop(key)),
    "a graph beside a problem": put("row", 0, "graph", "zoo:rnnlm"),
    "0 seconds": put("row", 0, "published", "single", 0),
    "another word than OOM": put("row", 0, "published", "single", "oom"),
    "a search of 0 s": put("row", 1, "search", "single", 0),
    "a budget of 0": put("best", "budget", "evaluations", 0),
    "an unknown kind of budget": put("best", "budget", "updates", 1),
    "pretraining without a recipe": put("pretraining", {"options": {}}),
}


def test_the_schema_of_tables_refuses_what_the_program_refuses(tmp_path):
    def reproduce(file):
        return ("reproduce", file, "--files", "configs/problems", "-o", tmp_path / "made")

    accepts = read_by(reproduce, write_toml, tmp_path / "table.toml")
    documents = [(label, change(TABLE)) for label, change in TABLE_CHANGES.items()]
    assert same_verdict("table", documents, accepts) == len(documents)


# ---- Writing the option lists anew -----------------------------------------------------------------------------------


def laid_out(value, indent=0, before=0, width=118):
    """JSON with what fits one line on one line."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value or indent + before + len(flat) <= width:
        return flat
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        rows = []
        for key, each in value.items():
            name = json.dumps(key, ensure_ascii=False) + ": "
            rows.append(inner + name + laid_out(each, indent + 2, len(name) + 1, width))
        return "{\n" + ",\n".join(rows) + "\n" + " " * indent + "}"
    rows = [inner + laid_out(each, indent + 2, 1, width) for each in value]
    return "[\n" + ",\n".join(rows) + "\n" + " " * indent + "]"


def update():
    for name, content in zip(("recipe", "sweep"), with_options(schema("recipe"), schema("sweep"))):
        (SCHEMAS / f"{name}.schema.json").write_text(laid_out(content) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--update"]:
        sys.exit(__doc__)
    update()
