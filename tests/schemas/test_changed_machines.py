"""Of changed machines, the schema and the program say the same."""

from changes import put, read_by, same_verdict, systematic
from support import write_toml

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
