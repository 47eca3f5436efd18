"""A problem, a placement, a recipe and a table that several tests of formats use or change."""

from support import TWO_BRANCHES

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
