"""REINFORCE (Williams 1992) in NumPy: learns the devices of the units of a 2-layer NMT model, in seconds."""

import numpy as np

import emplace

problem = emplace.load("zoo:nmt?layers=2", machine="k40x2", training=True)
units = problem.units("chain", groups=64)
single = problem.place("single")
print(f"{problem}\nbest single device: {single.makespan_ps / 1e12:.4f} s")

rng = np.random.default_rng(1)
samples, updates, rate = 64, 200, 0.3
allowed = units.allowed  # [U, D]
logits = np.where(allowed, 0.0, -np.inf)
best_ps, best = np.inf, None

for update in range(updates):
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    # Gumbel-max: [B, U] devices of units, drawn from p.
    devices = np.argmax(logits + rng.gumbel(size=(samples, *logits.shape)), axis=2).astype(np.uint8)
    placements = devices[:, units.unit_of_op]
    result = problem.simulate(placements, peaks=False)

    seconds = np.where(result.feasible, result.makespan_ps, 10 * single.makespan_ps) / 1e12
    if seconds.min() * 1e12 < best_ps:
        best_ps, best = seconds.min() * 1e12, placements[seconds.argmin()]

    reward = -np.log(seconds)
    advantage = (reward - reward.mean()) / (reward.std() + 1e-8)
    chosen = devices[:, :, None] == np.arange(problem.device_count)  # [B, U, D]
    gradient = (advantage[:, None, None] * (chosen - p)).mean(axis=0)  # of E[log p x advantage]
    logits = np.where(allowed, logits + rate * gradient, -np.inf)
    if update % 20 == 19:
        print(f"update {update + 1:3}: mean {seconds.mean():.4f} s, best {best_ps / 1e12:.4f} s")

print(f"learned: {best_ps / 1e12:.4f} s, {1 - best_ps / single.makespan_ps:.0%} below the best single device")
assert best_ps < single.makespan_ps
problem.save_placement("learned.placement.json", best)
