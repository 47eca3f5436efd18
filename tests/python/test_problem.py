"""Problems: loaded, made of arrays, saved, pickled, and read as arrays."""

import json
import pickle

import numpy as np
import pytest

from support import ROOT, emplace, error_of, load_quietly, needs_program, printed, random_problem, write_problem


def same(a, b):
    return a._handle.same_as(b._handle)


def test_the_version_is_the_repositorys():
    assert f"project(emplace VERSION {emplace.__version__} " in (ROOT / "CMakeLists.txt").read_text()


def test_arrays_say_what_the_file_says(tmp_path):
    document = random_problem(6)
    (tmp_path / "p.json").write_text(json.dumps(document))
    problem = emplace.Problem.from_file(tmp_path / "p.json")
    ops, devices = len(document["ops"]), len(document["devices"])
    assert problem.op_count == ops and problem.device_count == devices and problem.name == document["name"]
    seconds = [[np.nan if s is None else s for s in op["seconds"]] for op in document["ops"]]
    wanted = np.where(np.isnan(seconds), -1, np.maximum(1, np.rint(np.nan_to_num(seconds) * 1e12)))
    assert problem.op_times_ps.dtype == np.int64 and (problem.op_times_ps == wanted).all()
    assert problem.resident_bytes.tolist() == [op["resident_bytes"] for op in document["ops"]]
    assert problem.scratch_bytes.tolist() == [op["scratch_bytes"] for op in document["ops"]]
    assert list(problem.op_names) == [op["name"] for op in document["ops"]]
    assert list(problem.op_types) == [op["type"] for op in document["ops"]]
    groups = [None if group < 0 else problem.group_names[group] for group in problem.groups]
    assert groups == [op["colocate"] for op in document["ops"]]
    assert [tuple(device) for device in problem.devices] == [
        (device["name"], device["kind"], device["memory_bytes"]) for device in document["devices"]
    ]
    assert [channel.contention for channel in problem.channels] == [c["contention"] for c in document["channels"]]
    routes = {(route["from"], route["to"]): tuple(route["channels"]) for route in document["routes"]}
    assert all(problem.routes[i][j] == routes.get((i, j), ()) for i in range(devices) for j in range(devices))
    assert ((problem.route_classes >= 0) == [[(i, j) in routes for j in range(devices)] for i in range(devices)]).all()
    assert problem.tensors["producer"].tolist() == [tensor["from"] for tensor in document["tensors"]]
    assert problem.tensors["bytes"].tolist() == [tensor["bytes"] for tensor in document["tensors"]]
    edges = [(t["from"], to, i) for i, t in enumerate(document["tensors"]) for to in t["to"]]
    assert [tuple(edge) for edge in problem.edges.tolist()] == edges
    assert problem.edge_count == len(edges) and problem.tensor_count == len(document["tensors"])
    assert sorted(problem.topological_order.tolist()) == list(range(ops))
    assert not problem.backward.any() and problem.expert is None


def test_arrays_of_a_problem_are_read_only_and_outlive_it():
    times = load_quietly("zoo:nmt?layers=2", machine="k40x2").op_times_ps
    total = int(times.sum())
    with pytest.raises(ValueError, match="read-only"):
        times[0, 0] = 1
    assert int(times.sum()) == total


@pytest.mark.parametrize("seed", range(40, 50))
def test_a_problem_saved_or_pickled_is_the_same(tmp_path, seed):
    problem = load_quietly(write_problem(tmp_path / "p.json", seed))
    problem.save(tmp_path / "saved.json")
    assert same(problem, load_quietly(tmp_path / "saved.json"))
    copy = pickle.loads(pickle.dumps(problem))
    assert same(problem, copy) and copy.output_shapes == problem.output_shapes and copy.warnings == problem.warnings


@pytest.mark.parametrize("seed", range(10))
def test_a_problem_of_arrays_is_that_of_the_file_with_the_same_numbers(tmp_path, seed):
    rng = np.random.default_rng(seed)
    ops, devices = 20, 3
    seconds = rng.integers(0, 9, (ops, devices)) * 1e-6
    seconds[rng.random((ops, devices)) < 0.2] = np.nan
    seconds[:, 0] = 1e-6
    bandwidth = np.where(rng.random((devices, devices)) < 0.2, 0, 1e9)
    latency = rng.integers(0, 5, (devices, devices)) * 1e-7
    tensors = [(int(op), int(rng.integers(0, 1000))) for op in range(ops)]
    consumers = [[int(to) for to in range(op + 1, ops) if rng.random() < 0.15] for op in range(ops)]
    document = {
        "emplace": "problem/2",
        "name": "arrays",
        "devices": [
            {"name": f"device:{d}", "kind": "", "memory_bytes": [4000, None, 10**6][d]} for d in range(devices)
        ],
        "channels": [],
        "routes": [],
        "ops": [
            {
                "name": f"op:{op}",
                "seconds": [None if np.isnan(s) else float(s) for s in seconds[op]],
                "resident_bytes": 7 * op,
                "scratch_bytes": 3,
                "colocate": "group:1" if op in (2, 5) else None,
            }
            for op in range(ops)
        ],
        "tensors": [{"from": op, "bytes": size, "to": to} for (op, size), to in zip(tensors, consumers)],
    }
    for i in range(devices):
        for j in range(devices):
            if i != j and bandwidth[i, j] > 0:
                document["routes"].append({"from": i, "to": j, "channels": [len(document["channels"])]})
                channel = {"name": f"device:{i}->device:{j}", "latency_s": float(latency[i, j]), "bytes_per_s": 1e9}
                document["channels"].append(channel)
    (tmp_path / "p.json").write_text(json.dumps(document))
    edges = [(op, to) for op in range(ops) for to in consumers[op] or [-1]]
    producers = np.array([op for op, _ in edges])
    made = emplace.Problem.from_arrays(
        seconds,
        edges=edges,
        edge_bytes=[tensors[op][1] for op in producers],
        edge_tensors=producers,
        bandwidth_bytes_per_s=bandwidth,
        latency_s=latency,
        memory_bytes=[4000, None, 10**6],
        resident_bytes=7 * np.arange(ops),
        scratch_bytes=3,
        groups=[1 if op in (2, 5) else -1 for op in range(ops)],
    )
    assert same(made, load_quietly(tmp_path / "p.json"))
    placements = rng.integers(0, devices, (10, ops), dtype=np.uint8)
    wanted = load_quietly(tmp_path / "p.json").simulate(placements)
    assert made.simulate(placements).makespan_ps.tolist() == wanted.makespan_ps.tolist()


def test_pairs_of_devices_may_share_a_channel():
    # Two ops of 1 s end at once on devices 0 and 1 and send 1e9 bytes at 1e9 bytes/s to device 2: 1 s each, one after
    # the other where they share the channel.
    def seconds(**channels):
        problem = emplace.Problem(
            np.full((4, 3), 1.0),
            edges=[(0, 2), (1, 3)],
            edge_bytes=10**9,
            bandwidth_bytes_per_s=1e9,
            **channels,
        )
        return float(problem.simulate([0, 1, 2, 2]).seconds)

    assert seconds() == 4.0  # ends at 2 s, arrives at 2 s; then both ops on device 2
    assert seconds(channels=np.zeros((3, 3), dtype=int)) == 4.0
    problem = emplace.Problem(
        np.full((4, 4), 1.0),
        edges=[(0, 2), (1, 3)],
        edge_bytes=10**9,
        bandwidth_bytes_per_s=1e9,
        channels=np.zeros((4, 4), int),
    )
    assert float(problem.simulate([0, 1, 2, 3]).seconds) == 4.0  # the second arrives at 3 s
    apart = emplace.Problem(np.full((4, 4), 1.0), edges=[(0, 2), (1, 3)], edge_bytes=10**9, bandwidth_bytes_per_s=1e9)
    assert float(apart.simulate([0, 1, 2, 3]).seconds) == 3.0


def test_edges_of_one_tensor_are_sent_once():
    # Op 0 sends to ops 1 and 2 on device 1: 1 s as one tensor, 2 s as two.
    def seconds(edge_tensors):
        problem = emplace.Problem(
            [[1.0, 1.0], [0.5, 0.5], [0.5, 0.5]],
            edges=[(0, 1), (0, 2)],
            edge_bytes=10**9,
            edge_tensors=edge_tensors,
            bandwidth_bytes_per_s=1e9,
        )
        return float(problem.simulate([0, 1, 1]).seconds)

    assert seconds([0, 0]) == 3.0  # 1 + 1 + 0.5 + 0.5
    assert seconds(None) == 3.5  # the second arrives at 3 s


def test_arrays_may_have_shapes_layers_modules_and_an_experts_placement(tmp_path):
    problem = emplace.Problem(
        np.ones((3, 2)),
        edges=[(0, 1), (0, 2), (1, 2), (2, -1)],
        edge_bytes=[24, 24, 0, 8],
        edge_tensors=[0, 0, 1, 2],
        edge_shapes=[(2, 3), (2, 3), None, [-1, 2]],
        layers=["encoder", "encoder", ""],
        modules=["encoder/0", "encoder/1", ""],
        expert=[0, 0, 1],
        bandwidth_bytes_per_s=1e9,
    )
    assert problem.output_shapes == [[[2, 3]], [], [[0, 2]]]  # the tensor of op 1 is a control dependency
    assert problem.layers == ("encoder", "encoder", "") and problem.modules == ("encoder/0", "encoder/1", "")
    assert problem.expert.tolist() == [0, 0, 1] and problem.place("expert").placement.tolist() == [0, 0, 1]
    problem.save(tmp_path / "p.json")
    saved = load_quietly(tmp_path / "p.json")
    for other in (saved, pickle.loads(pickle.dumps(problem))):
        assert same(problem, other) and other.output_shapes == problem.output_shapes
        assert (other.layers, other.modules) == (problem.layers, problem.modules)
        assert other.expert.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({"op_seconds": [1.0, 2.0]}, "op_seconds: must have shape [N, D], found [2]"),
        ({"op_seconds": np.zeros((0, 2))}, "from_arrays: the problem has no ops"),
        ({"edges": [0, 1]}, "edges: must have shape [E, 2], found [2]"),
        ({"edges": [[0.0, 1.0]]}, "edges: must be whole numbers, found float64"),
        ({"edges": [[0, 7]]}, "edges[0]: names op 7, but there are 3 ops"),
        ({"edges": [[-1, 1]]}, "edges[0]: names op -1, but there are 3 ops"),
        ({"edges": [[0, 1], [1, 0]]}, "from_arrays: the ops form a cycle: 'op:1' -> 'op:0' -> 'op:1'"),
        ({"edges": [[0, 1]], "edge_bytes": [1, 2]}, "edge_bytes: must have shape [1], found [2]"),
        ({"edges": [[0, 1]], "edge_bytes": -1}, "edges: the tensor's bytes must not be negative, got -1"),
        (
            {"edges": [[0, 1], [1, 2]], "edge_tensors": [4, 4]},
            "edges[1]: tensor 4 has another producer, other bytes or another shape than before",
        ),
        ({"bandwidth_bytes_per_s": None}, "bandwidth_bytes_per_s: is missing; it must have shape [2, 2]"),
        ({"bandwidth_bytes_per_s": [1e9]}, "bandwidth_bytes_per_s: must have shape [2, 2], found [1]"),
        (
            {"bandwidth_bytes_per_s": -1.0},
            "channels: the bandwidth of channel 'device:0->device:1' must be above zero and finite, got -1 bytes/s",
        ),
        ({"memory_bytes": [1, 2, 3]}, "memory_bytes: must have shape [2], found [3]"),
        ({"memory_bytes": -5}, "memory_bytes: must be from 0 to 2^62, found -5 for device 0"),
        ({"op_names": ["a", "b"]}, "op_names: must have 3 texts, found 2"),
        ({"op_names": ["a", "b", "a"]}, "ops[2]: the op name 'a' is used twice (also by number 0)"),
        ({"op_names": "abc"}, "op_names: must be a list of texts"),
        ({"resident_bytes": [0.5, 1, 2]}, "resident_bytes: must be whole numbers, found float64"),
        ({"op_seconds": [[np.nan, np.nan]] * 3}, "ops[0]: no device can run op 'op:0'"),
        (
            {"op_seconds": [[-1.0, 1.0]] * 3},
            "ops[0]: the time of op 'op:0' on device 'device:0' must be from 0 to 4611686 s, got -1",
        ),
        ({"groups": [0, 0]}, "groups: must have shape [3], found [2]"),
        ({"layers": ["a"]}, "layers: must have 3 texts, found 1"),
        ({"edges": [[0, 1]], "edge_shapes": []}, "edge_shapes: must have 1 shapes, found 0"),
        ({"edges": [[0, 1]], "edge_shapes": [[2.5]]}, "edge_shapes: must be whole numbers, found float64"),
        ({"expert": [0, 0, 2]}, "expert: op 'op:2' is on device 2, but there are 2 devices"),
        ({"expert": [0]}, "expert: must have shape [3] (one device per op), found [1]"),
    ],
)
def test_arrays_that_are_no_problem_are_refused_with_a_sentence(arrays, text):
    given = {"op_seconds": np.ones((3, 2)), "bandwidth_bytes_per_s": 1e9, **arrays}
    with pytest.raises(emplace.InputError) as error:
        emplace.Problem(**given)
    assert str(error.value) == text


@needs_program
@pytest.mark.parametrize(
    "source",
    [
        "nowhere.json",
        "zoo:nmtt@k40x2",
        "zoo:nmt@k40x",
        "zoo:nmt?layer=2@k40x2",
        "zoo:nmt",
        "CMakeLists.txt",
        "README.md@laptop",
    ],
)
def test_sources_are_refused_with_the_programs_words(source, monkeypatch):
    monkeypatch.chdir(ROOT)
    with pytest.raises(emplace.InputError) as error:
        emplace.load(source)
    assert str(error.value) == error_of("bound", source, "--seconds", "1")


def test_errors_are_pythons_kinds_of_errors(tmp_path):
    assert issubclass(emplace.InputError, ValueError) and issubclass(emplace.EnvironmentError, OSError)
    assert issubclass(emplace.BugError, RuntimeError) and emplace.InputError.__module__ == "emplace"
    problem = load_quietly(write_problem(tmp_path / "p.json", 1))
    with pytest.raises(OSError) as error:
        problem.save(tmp_path / "no" / "such.json")
    assert isinstance(error.value, emplace.EnvironmentError)
    assert str(error.value) == f"{tmp_path}/no/such.json: cannot be written: No such file or directory"


def test_what_was_guessed_is_a_warning(tmp_path):
    pb = 'node { name: "x" op: "Placeholder" } node { name: "odd" op: "NoSuchOp" input: "x" }'
    (tmp_path / "graph.pbtxt").write_text(pb)
    with pytest.raises(emplace.InputError, match="2 of 2 ops .* unknown size"):
        emplace.load(tmp_path / "graph.pbtxt", machine="laptop")
    with pytest.warns(emplace.InputWarning) as caught:
        problem = emplace.load(tmp_path / "graph.pbtxt", machine="laptop", allow_unsized=True)
    assert [str(warning.message) for warning in caught] == list(problem.warnings) and problem.warnings


def test_batches_and_shapes_reach_the_reader(tmp_path):
    shape = "dim { size: -1 } dim { size: 64 }"
    (tmp_path / "graph.pbtxt").write_text(
        'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } '
        f'attr {{ key: "shape" value {{ shape {{ {shape} }} }} }} }}\n'
        'node { name: "y" op: "Relu" input: "x" attr { key: "T" value { type: DT_FLOAT } } }\n'
        'node { name: "z" op: "Relu" input: "y" attr { key: "T" value { type: DT_FLOAT } } }\n'
    )
    file = tmp_path / "graph.pbtxt"
    for options, rows in [({"batch": 8}, 8), ({"shapes": {"x": (3, 64)}}, 3)]:
        problem = load_quietly(file, machine="k40x2", **options)
        assert problem.op_names == ("x", "y", "z") and problem.output_shapes[1] == [[rows, 64]]
        assert problem.tensors["bytes"].tolist()[:2] == [rows * 64 * 4] * 2
        learned = emplace.train({"policy": "post", "learner": "post", "updates": 1}, problem=problem)
        assert learned.best[0].problem == problem.name and len(learned.placement) == 3
    with pytest.raises(emplace.InputError, match="batch: must be at least 1, found 0"):
        emplace.load(file, machine="k40x2", batch=0)
    with pytest.raises(emplace.InputError, match="unknown key 'contrat' \\(did you mean 'contract'\\?\\)"):
        emplace.load(file, machine="k40x2", contrat="chain")


@needs_program
def test_a_model_gives_the_problem_that_the_program_makes_of_it(tmp_path):
    run_cost = [
        "cost",
        "zoo:resnet-50?batch=4",
        "k40x2",
        "--training",
        "--optimizer",
        "adam",
        "-o",
        tmp_path / "p.json",
        "--json",
    ]
    printed(*run_cost)
    problem = load_quietly("zoo:resnet-50?batch=4", machine="k40x2", training=True, optimizer="adam")
    assert same(problem, load_quietly(tmp_path / "p.json"))
    assert problem.expert is not None and problem.expert.shape == (problem.op_count,)
    assert len(problem.output_shapes) == problem.op_count


def test_placements_are_saved_and_read(tmp_path):
    problem = load_quietly(write_problem(tmp_path / "p.json", 8))
    placement = problem.place("heft", schedule="priority")
    problem.save_placement(tmp_path / "placement.json", placement.placement, "priority", placement.order)
    read = problem.read_placement(tmp_path / "placement.json")
    assert (read.placement == placement.placement).all() and (read.order == placement.order).all()
    assert read.schedule == "priority"
    order = problem.upward_rank_order(placement.placement)
    assert problem.simulate(placement.placement, "priority", order).makespan_ps >= 0


def test_units_are_those_of_recipes():
    problem = load_quietly("zoo:nmt?layers=2", machine="k40x2", training=True)
    ops = problem.units("op")
    assert ops.count == problem.op_count
    units = problem.units("chain", groups=32)
    assert units.count <= 32 and units.allowed.shape == (units.count, 3) and units.allowed.dtype == np.bool_
    assert sorted(set(units.unit_of_op.tolist())) == list(range(units.count))
    for group in range(len(problem.group_names)):
        assert len(set(units.unit_of_op[problem.groups == group])) == 1
    with pytest.raises(emplace.InputError, match="grouping: unknown grouping 'chian'"):
        problem.units("chian")


def test_lists_name_what_there_is():
    assert {"single", "heft", "best"} <= {entry.name for entry in emplace.list_placers()}
    assert {"post", "gdp"} <= {entry.name for entry in emplace.list_policies()}
    assert {"nmt", "resnet-50"} <= {entry.name for entry in emplace.list_models()}
    assert {"post", "ppo"} <= {entry.name for entry in emplace.list_learners()}
    assert "simulator" in {entry.name for entry in emplace.list_evaluators()}
    assert "laptop" in {entry.name for entry in emplace.list_machines()}
    assert "onnx" in {entry.name for entry in emplace.list_readers()}
    climb = next(entry for entry in emplace.list_placers() if entry.name == "climb")
    kicks = next(option for option in climb.options if option.name == "kicks")
    assert kicks.default == "3" and kicks.help.endswith(".") and climb.reference and climb.summary
