"""Problem.simulate(), timeline() and critical_path() against the program, and what they refuse."""

import threading

import numpy as np
import pytest

from support import (
    SCHEDULES,
    emplace,
    load_quietly,
    needs_program,
    printed,
    random_order,
    random_placements,
    write_problem,
)


def random_case(tmp_path, seed, count):
    path = write_problem(tmp_path / "problem.json", seed)
    problem = load_quietly(path)
    rng = np.random.default_rng(1000 + seed)
    return path, problem, random_placements(problem, count, rng), random_order(problem, rng)


@pytest.fixture(scope="module")
def nmt():
    return load_quietly("zoo:nmt?layers=2", machine="k40x2", training=True)


@needs_program
@pytest.mark.parametrize("seed", range(15))
def test_times_feasibility_reasons_and_memory_are_those_of_the_program(tmp_path, seed):
    path, problem, placements, order = random_case(tmp_path, seed, 4)
    for schedule in SCHEDULES:
        by = None if schedule == "fifo" else order
        result = problem.simulate(placements, schedule, by)
        for i, placement in enumerate(placements):
            problem.save_placement(tmp_path / "placement.json", placement, schedule, by)
            program = printed("simulate", path, tmp_path / "placement.json", "--json")
            timed = program["makespan_ps"] is not None
            assert result.makespan_ps[i] == (program["makespan_ps"] if timed else -1)
            assert result.feasible[i] == program["feasible"]
            assert result.reason(i) == (program["reason"] or "")
            peaks = [device["peak_memory_bytes"] for device in program["devices"]]
            assert result.peak_bytes[i].tolist() == (peaks if timed else [-1] * problem.device_count)
            if timed:
                over = [
                    max(0, peak - device.memory_bytes)
                    for peak, device in zip(peaks, problem.devices)
                    if device.memory_bytes is not None
                ]
                assert result.overflow_bytes[i] == sum(over)
                timeline = problem.timeline(placement, schedule, by)
                busy = [device["busy_s"] for device in program["devices"]]
                assert timeline.device_busy_ps.tolist() == [round(seconds * 1e12) for seconds in busy]
                moved = [channel["bytes"] for channel in program["channels"]]
                assert timeline.channel_bytes.tolist() == moved


@pytest.mark.parametrize("seed", range(15, 30))
def test_every_way_to_ask_gives_the_same_bits(tmp_path, seed):
    _, problem, placements, order = random_case(tmp_path, seed, 40)
    orders = np.broadcast_to(order, placements.shape)
    for schedule in SCHEDULES:
        by = None if schedule == "fifo" else order
        wanted = problem.simulate(placements, schedule, by, threads=1)
        each = [problem.simulate(placement, schedule, by) for placement in placements]
        others = [problem.simulate(placements, schedule, by, threads=threads) for threads in (0, 2, 7)]
        others.append(problem.simulate(placements, schedule, by, peaks=False))  # in-order: in lock step
        others.append(problem.simulate(placements[:, None, :], schedule, by))
        if by is not None:
            others.append(problem.simulate(placements, schedule, orders, threads=3))
        for other in others:
            assert other.makespan_ps.ravel().tolist() == wanted.makespan_ps.tolist()
            assert other.feasible.ravel().tolist() == wanted.feasible.tolist()
            assert other.overflow_bytes.ravel().tolist() == wanted.overflow_bytes.tolist()
            if other.peak_bytes is not None:
                assert (other.peak_bytes.reshape(wanted.peak_bytes.shape) == wanted.peak_bytes).all()
        assert [int(one.makespan_ps) for one in each] == wanted.makespan_ps.tolist()
        assert [one.reason() for one in each] == [wanted.reason(i) for i in range(len(placements))]


@pytest.mark.parametrize("seed", range(30, 40))
def test_a_timeline_holds_together(tmp_path, seed):
    _, problem, placements, order = random_case(tmp_path, seed, 8)
    for schedule in SCHEDULES:
        by = None if schedule == "fifo" else order
        result = problem.simulate(placements, schedule, by)
        for i, placement in enumerate(placements):
            if result.makespan_ps[i] < 0:
                with pytest.raises(emplace.InputError, match="placement: has no times: "):
                    problem.timeline(placement, schedule, by)
                continue
            timeline = problem.timeline(placement, schedule, by)
            lasts = problem.op_times_ps[np.arange(problem.op_count), placement]
            assert (timeline.op_end_ps - timeline.op_start_ps == lasts).all()
            assert timeline.op_end_ps.max() == timeline.makespan_ps == result.makespan_ps[i]
            assert (timeline.device_peak_bytes == result.peak_bytes[i]).all()
            transfers = timeline.transfers
            producer = problem.tensors["producer"][transfers["tensor"]]
            assert (timeline.op_end_ps[producer] == transfers["requested_ps"]).all()
            assert (transfers["start_ps"] >= transfers["requested_ps"]).all()
            kind = problem.route_classes[transfers["from_device"], transfers["to_device"]]
            lasts = problem.transfer_times_ps[transfers["tensor"], kind]
            assert (transfers["end_ps"] - transfers["start_ps"] == lasts).all()

            path = problem.critical_path(placement, schedule, by)
            assert path.start_ps[0] == 0 and path.end_ps[-1] == timeline.makespan_ps
            assert (path.start_ps[1:] == path.end_ps[:-1]).all()
            assert path.computing_ps + path.transferring_ps + path.waiting_ps == timeline.makespan_ps
            assert ((path.op >= 0) != (path.transfer >= 0)).all()
            ops = path.op >= 0
            assert (timeline.op_start_ps[path.op[ops]] == path.start_ps[ops]).all()
            assert (transfers["end_ps"][path.transfer[~ops]] == path.end_ps[~ops]).all()
            assert set(path.reason) <= {"none", "input", "device busy", "channel busy", "turn"}


def test_results_have_the_batchs_shape(nmt):
    placements = np.ones((2, 3, nmt.op_count), dtype=np.uint8)
    result = nmt.simulate(placements)
    assert result.makespan_ps.shape == result.feasible.shape == result.seconds.shape == (2, 3)
    assert result.peak_bytes.shape == (2, 3, 3) and result.peak_bytes.dtype == np.int64
    assert result.makespan_ps.dtype == np.int64 and result.feasible.dtype == np.bool_
    assert result.reason(1, 2) == "" and len(result) == 2
    with pytest.raises(IndexError):
        result.reason(1)
    with pytest.raises(ValueError):
        result.reason(2, 0)
    one = nmt.simulate(placements[0, 0])
    assert one.makespan_ps.shape == () and one.peak_bytes.shape == (3,)
    assert float(one.seconds) == int(one.makespan_ps) / 1e12
    assert nmt.simulate(placements[:0]).makespan_ps.shape == (0, 3)
    assert nmt.simulate(placements, peaks=False).peak_bytes is None


def test_arrays_need_not_be_contiguous_nor_uint8(nmt):
    rng = np.random.default_rng(3)
    placements = rng.integers(0, 3, (6, nmt.op_count), dtype=np.uint8)
    wanted = nmt.simulate(placements).makespan_ps.tolist()
    wide = np.zeros((12, 2 * nmt.op_count), dtype=np.uint8)
    wide[::2, ::2] = placements
    mirrored = np.ascontiguousarray(placements[::-1, ::-1])
    read_only = placements.copy()
    read_only.setflags(write=False)
    for same in [
        np.asfortranarray(placements),
        wide[::2, ::2],
        mirrored[::-1, ::-1],
        read_only,
        placements.astype(np.int64),
        placements.astype(">i4"),
        placements.tolist(),
    ]:
        assert nmt.simulate(same).makespan_ps.tolist() == wanted
    one = np.asfortranarray(placements)[2]
    assert nmt.timeline(one).makespan_ps == wanted[2]


def test_what_is_no_placement_is_refused_with_a_sentence(nmt):
    ops = nmt.op_count
    good = np.zeros((4, ops), dtype=np.uint8)

    def refuses(text, placements=good, **options):
        with pytest.raises(emplace.InputError) as error:
            nmt.simulate(placements, **options)
        assert str(error.value) == text

    refuses(f"placements: must have shape [..., {ops}] (one device per op), found [4, 5]", good[:, :5])
    refuses(f"placements: must have shape [..., {ops}] (one device per op), found []", np.uint8(3))
    refuses("placements: must be devices as uint8 (or other whole numbers), found float32", good.astype(np.float32))
    refuses("placements: must be devices as uint8 (or other whole numbers), found bool", good.astype(bool))
    refuses("placements: a device is a number from 0 to 254, found -1", good.astype(int) - 1)
    refuses("placements: a device is a number from 0 to 254, found 256", good.astype(int) + 256)
    bad = good.copy()
    bad[2, 7] = 3
    bad[3, 0] = 9
    name = nmt.op_names[7]
    for threads in (1, 3):
        refuses(f"placements[2]: op '{name}' is on device 3, but there are 3 devices", bad, threads=threads)
    refuses(f"placement: op '{name}' is on device 3, but there are 3 devices", bad[2])
    order = nmt.topological_order
    refuses(
        f"placements[2]: op '{name}' is on device 3, but there are 3 devices",
        np.repeat(bad, 8, axis=0)[14:],
        schedule="in-order",
        order=order,
        peaks=False,
    )
    refuses("schedule: unknown schedule 'in-oder' (did you mean 'in-order'?)", schedule="in-oder")
    refuses("order: the schedule priority needs an order", schedule="priority")
    refuses("threads: must be 0 or more, found -1", threads=-1)
    refuses(f"order: must have shape [{ops}] or [4, {ops}], found [3]", order=[0, 1, 2], schedule="priority")
    refuses("order: must be op numbers as uint32 (or other whole numbers), found float64", order=order * 1.0)
    refuses(f"order: an op is a number from 0 to {ops - 1}, found -1 to {ops - 2}", order=order.astype(int) - 1)
    first = nmt.edges[0]
    swapped = order.copy()
    at = [int(np.flatnonzero(order == first[end])[0]) for end in ("producer", "consumer")]
    swapped[at] = swapped[at[::-1]]
    with pytest.raises(emplace.InputError, match="^order: the order has op '.*' before its producer '.*'$"):
        nmt.simulate(good, "in-order", swapped)
    orders = np.repeat(order[None], 4, axis=0)
    orders[3, 0] = orders[3, 1]
    with pytest.raises(emplace.InputError, match=r"^placements\[3\]: op '.*' stands twice in the order$"):
        nmt.simulate(good, "priority", orders, threads=2)


def test_threads_of_python_simulate_side_by_side(nmt):
    rng = np.random.default_rng(5)
    placements = rng.integers(0, 3, (64, nmt.op_count), dtype=np.uint8)
    wanted = nmt.simulate(placements).makespan_ps
    found = [None] * 4

    def work(i):
        for _ in range(3):
            found[i] = nmt.simulate(placements, threads=1 + i % 2).makespan_ps

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((each == wanted).all() for each in found)


def test_the_load_of_a_pipeline_is_the_other_objective(nmt):
    placement = nmt.place("contiguous", objective="pipeline")
    assert nmt.simulate(placement.placement, objective="pipeline").makespan_ps == placement.makespan_ps
    with pytest.raises(emplace.InputError, match="objective: unknown objective"):
        nmt.simulate(placement.placement, objective="stp")
