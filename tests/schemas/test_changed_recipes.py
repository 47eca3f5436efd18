"""What the schemas of recipes, sweeps and tables refuse, the program refuses."""

import itertools

from changes import changed, put, read_by, same_verdict
from samples import RECIPE, TABLE
from support import TWO_BRANCHES, errors, read_toml, write_toml

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
    "pretraining without a recipe": put("pretraining", {"tuned": {"options": {}}}),
}


def test_the_schema_of_tables_refuses_what_the_program_refuses(tmp_path):
    def reproduce(file):
        return ("reproduce", file, "--files", "configs/problems", "-o", tmp_path / "made")

    accepts = read_by(reproduce, write_toml, tmp_path / "table.toml")
    documents = [(label, change(TABLE)) for label, change in TABLE_CHANGES.items()]
    assert same_verdict("table", documents, accepts) == len(documents)
