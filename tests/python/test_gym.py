"""emplace.gym: Gymnasium's checker, rewards computed by hand, and random episodes."""

import copy
import math
import pickle

import numpy as np
import pytest

from support import emplace, load_quietly

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: scripts/test-packages installs it")
from gymnasium.utils.env_checker import check_env  # noqa: E402

from emplace.gym import PlacementEnv  # noqa: E402


@pytest.fixture(scope="module")
def nmt():
    return load_quietly("zoo:nmt?layers=2", machine="k40x2", training=True)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "options",
    [
        {"grouping": "chain", "groups": 16},
        {"grouping": "chain", "groups": 12, "schedule": "priority"},
        {"groups": 24, "schedule": "in-order", "reward": "seconds"},
    ],
)
def test_the_environment_passes_gymnasiums_checker(nmt, options):
    check_env(PlacementEnv(nmt, **options), skip_render_check=True)


def test_the_reward_is_how_much_faster_than_the_reference():
    # Two ops of 4 s on either device, nothing between them: 8 s on one device, 4 s on two.
    problem = emplace.Problem(
        np.full((2, 2), 4.0), bandwidth_bytes_per_s=1e9, memory_bytes=[100, 15], resident_bytes=10
    )
    env = PlacementEnv(problem)
    assert env.reference_seconds == 8.0 and env.units.count == 2
    observation, info = env.reset()
    s = lambda x: x / (1 + x)  # noqa: E731
    # Times 2 units x 4 s / 8 s = 1 on each; both may run; nothing so far.
    np.testing.assert_allclose(observation, [s(1), s(1), 1, 1, 0, 0, 0, 0, 0, 0, 0], rtol=1e-6)
    assert info["action_mask"].tolist() == [True, True]
    observation, reward, ended, cut, info = env.step(0)
    assert (reward, ended, cut) == (0, False, False)
    np.testing.assert_allclose(observation, [s(1), s(1), 1, 1, s(0.5), 0, 0, 0, s(0.1), 0, 0.5], rtol=1e-6)
    observation, reward, ended, cut, info = env.step(1)
    assert reward == math.log(8 / 4) and ended and not cut
    assert info["makespan_ps"] == 4 * 10**12 and info["feasible"] and info["placement"].tolist() == [0, 1]
    assert observation.tolist() == [0] * 10 + [1]
    with pytest.raises(emplace.InputError, match="the episode has ended"):
        env.step(0)
    assert env.rewards([[0, 0], [0, 1], [1, 1]]).tolist() == [0.0, math.log(2), -10.0]  # 20 bytes do not fit into 15
    assert PlacementEnv(problem, reward="seconds").rewards([0, 1]) == -math.log(4)
    assert PlacementEnv(problem, reference_seconds=2.0, infeasible_reward=-3.0).rewards([[0, 0], [1, 1]]).tolist() == [
        math.log(2 / 8),
        -3.0,
    ]


def test_inputs_show_where_they_were_made():
    # Op 2 reads 300 bytes of op 0 and 100 of op 1.
    problem = emplace.Problem(np.ones((3, 2)), edges=[(0, 2), (1, 2)], edge_bytes=[300, 100], bandwidth_bytes_per_s=1e9)
    env = PlacementEnv(problem)
    env.reset()
    env.step(1)
    observation = env.step(0)[0]
    np.testing.assert_allclose(observation[6:8], [0.25, 0.75])


def test_samples_are_whole_episodes_and_follow_probabilities(nmt):
    env = PlacementEnv(nmt, "chain", 20)
    env.reset(seed=7)
    actions, rewards = env.sample(50)
    assert actions.shape == (50, 20) and actions.dtype == np.uint8 and rewards.shape == (50,)
    assert env.units.allowed[np.arange(20), actions].all()
    env.reset(seed=7)
    again = env.sample(50, threads=1)
    assert (again[0] == actions).all() and (again[1] == rewards).all()
    assert (env.sample(50)[0] != actions).any()
    for row, reward in zip(actions[:3], rewards):
        env.reset()
        for action in row:
            last = env.step(action)
        assert last[1] == reward and last[2]
    only = np.zeros((20, 3))
    only[:, 1] = 5.0
    assert (env.sample(4, only)[0] == 1).all()
    drawn = env.sample(4000, np.tile([1.0, 2.0, 1.0], (20, 1)))[0]
    assert env.units.allowed.all()
    assert abs((drawn == 1).mean() - 0.5) < 0.05
    with pytest.raises(emplace.InputError, match="probabilities: must have shape"):
        env.sample(2, only[:3])
    with pytest.raises(emplace.InputError, match="probabilities: each unit needs one above 0"):
        env.sample(2, np.zeros((20, 3)))
    with pytest.raises(emplace.InputError, match="actions: must be whole numbers"):
        env.rewards(np.zeros((2, 3)))


def test_a_step_before_the_first_episode_is_refused(nmt):
    env = PlacementEnv(nmt, "chain", 4)
    with pytest.raises(gymnasium.error.ResetNeeded, match="step: no episode has begun"):
        env.step(0)
    assert env.action_masks().shape == (3,)
    env.reset()
    assert not env.step(1)[2]


def test_units_go_only_where_the_mask_allows():
    problem = emplace.Problem([[1.0, np.nan], [np.nan, 1.0]], bandwidth_bytes_per_s=1e9)
    env = PlacementEnv(problem, reference_seconds=1.0)
    assert env.reset()[1]["action_mask"].tolist() == [True, False]
    actions, rewards = env.sample(20)
    assert (actions == [0, 1]).all() and (rewards == 0).all()
    env.reset()
    env.step(1)
    _, reward, ended, _, info = env.step(1)
    assert reward == -10.0 and ended and info["makespan_ps"] == -1
    assert info["reason"] == "op 'op:0' cannot run on device 'device:1'"


def test_the_environment_is_copied_and_pickled(nmt):
    env = PlacementEnv(nmt, "chain", 10)
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        actions = np.ones((1, 10), dtype=np.uint8)
        assert other.rewards(actions) == env.rewards(actions)


def test_vector_environments_of_gymnasium_run_it(nmt):
    small = {"grouping": "chain", "groups": 4}
    envs = gymnasium.vector.SyncVectorEnv([lambda: PlacementEnv(nmt, **small) for _ in range(3)])
    observations, _ = envs.reset(seed=1)
    assert observations.shape == (3, 16)
    for _ in range(4):
        _, rewards, ended, _, _ = envs.step(np.ones(3, dtype=np.int64))
    assert ended.all() and (rewards == rewards[0]).all()
