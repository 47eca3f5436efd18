"""Of changed problems and placements, the schemas and the program say the same."""

import copy

from changes import put, read_by, same_verdict, systematic
from samples import CHAIN, ON_CPU, placement
from support import errors, write_json

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
