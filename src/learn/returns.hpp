// Returns of the rounds of a sample, computed from the rewards of all its rounds (docs/papers/placeto.md, section 2.5;
// docs/papers/hsdag.md, section 2.5).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace emplace::learn {

// With R_i the reward of round i and R_-1 = 0 (a sample of one round has G_0 = R_0 in the first three):
//   final  G_i = R_last for every round (Placeto's one_shot)
//   step   r_i = R_i - R_{i-1},  G_i = r_i + discount x G_{i+1}
//   best   G_i = max_{j >= i} R_j - R_{i-1} (Placeto's use_min_runtime)
//   own    G_i = discount^(i + 1) x R_i (HSDAG's paper, whose steps count from 1)
//   late   G_i = sum_{j = 0..last} discount^(last - j) x R_j for every round (HSDAG's code)
// Placeto counts steps from the initial placement: its rho_t is -R_t, and its G_t is the return of round t + 1, the one
// that decided. The initial placement's own return belongs to no decision.
enum class ReturnForm : std::uint8_t { final, step, best, own, late };

// Sets `returns` to the return of each round.
void returns_of(std::span<const double> rewards, ReturnForm form, double discount, std::vector<double>& returns);

}  // namespace emplace::learn
