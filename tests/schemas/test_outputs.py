"""What the program prints and writes is as the schemas and docs/formats.md say."""

import csv
import json
import re

import pytest

from samples import CHAIN, ON_CPU, RECIPE, TABLE, TOO_BIG, placement
from support import PAGE, TWO_BRANCHES, check_output, emplace, errors, printed, read_toml, write_json, write_toml


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


def test_auto_prints_and_writes_what_its_schemas_say(tmp_path):
    file = tmp_path / "placed.json"
    for model, machine in (("zoo:nmt?layers=2&sequence=4&training=true", ("k40x2",)), (TWO_BRANCHES, ())):
        output = printed("auto", model, *machine, "--seconds", "1", "-o", file, "--json")
        check_output("auto-output", output)
        assert output["feasible"] is True and output["reason"] is None
        assert errors("placement-1", json.loads(file.read_text())) == []


def test_auto_prints_what_its_schema_says_where_nothing_is_feasible(tmp_path):
    too_big = write_json(tmp_path / "big.json", TOO_BIG)
    output = printed("auto", too_big, "--seconds", "1", "-o", tmp_path / "placed.json", "--json", codes=(3,))
    check_output("auto-output", output)
    assert output["feasible"] is False and output["reason"] and output["next"] is None


def test_bound_prints_what_its_schema_says(tmp_path, chain):
    check_output("bound-output", printed("bound", chain, "--seconds", "0.5", "--json"))
    check_output("bound-output", printed("bound", chain, "--seconds", "0.5", "--objective", "pipeline", "--json"))
    too_big = write_json(tmp_path / "big.json", TOO_BIG)
    output = printed("bound", too_big, "--seconds", "0.5", "--json", codes=(3,))
    check_output("bound-output", output)
    assert output["lower_bound_s"] is None


def test_fit_prints_what_its_schema_says(tmp_path):
    output = printed("fit", "zoo:mixtral?type=Q4_K", "laptop", "--what-if", "--json")
    check_output("fit-output", output)
    assert output["fits"] is True and len(output["what_if"]) == 20
    check_output("fit-output", printed("fit", "zoo:llama", "h100-x2", "--objective", "throughput", "--runtime", "vllm", "--json"))
    divided = ("zoo:llama", "a100-nvlink-x4", "--objective", "throughput", "--sequences", "16", "--runtime", "vllm")
    output = printed("fit", *divided, "--json")
    check_output("fit-output", output)
    assert len(output["alternatives"]) == 6
    output = printed("fit", "zoo:llama?size=405b", "laptop", "--json", codes=(3,))
    check_output("fit-output", output)
    assert output["fits"] is False and output["longest_context"] == 0


def test_export_prints_what_its_schema_says(tmp_path):
    model, placed = "zoo:rnnlm?layers=1&sequence=3", tmp_path / "placed.json"
    options = ("--for", "json", "--model", model, "--training", "-o", tmp_path / "out.json", "--json")
    emplace("place", "single", f"{model}@k40x2", "--training", "-o", placed)
    output = printed("export", placed, *options)
    check_output("export-output", output)
    assert output["plan"] is None
    emplace("place", "round-robin", f"{model}@k40x2", "--training", "-o", placed)
    output = printed("export", placed, *options)
    check_output("export-output", output)
    assert output["plan"]["plan_s"] > 0
    write_json(placed, dict(json.loads(placed.read_text()), problem="another"))
    output = printed("export", placed, *options)
    check_output("export-output", output)
    assert output["plan"]["plan_s"] is None and output["plan"]["reason"]


def kinds_of_list():
    usage = re.search(r"policies(\|[a-z-]+)+", emplace("list", "--help").stdout)
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


def test_reproduce_prints_what_its_schema_says(tmp_path):
    assert errors("table", TABLE) == []
    file = write_toml(tmp_path / "table.toml", TABLE)
    output = printed("reproduce", file, "--files", "configs/problems", "-o", tmp_path / "made", "--json")
    check_output("reproduce-output", output)
    assert {row["method"] for row in output["rows"]} == {"single", "heft", "best", "bound"}
