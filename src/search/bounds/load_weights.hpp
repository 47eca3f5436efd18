// The load bound's dual: weights of devices. With integers k_d >= 0 that sum to K, every assignment has
//   K x makespan >= sum over d of k_d x (busy time of d) >= sum over units u of min over d of k_d x time(u, d),
// whatever the weights are (weak duality of the linear program of unrelated machines, Lenstra, Shmoys and Tardos 1990,
// with the assignment relaxed). All in integers: what it returns is a proof, wherever the weights come from.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "search/common/deadline.hpp"

namespace emplace::search {

__extension__ typedef __int128 Wide;  // sums of weights x ticks

// Times of units (rows) on devices; cannot_run where a unit cannot be.
struct UnitTimes {
  std::size_t devices = 0;
  std::vector<Ticks> time;  // U x D

  [[nodiscard]] std::size_t count() const { return devices == 0 ? 0 : time.size() / devices; }
};
// Co-location groups and single ops, where `possible` (N x D) allows them; units without any device are left out.
UnitTimes unit_times(const Problem& problem, const std::vector<std::uint8_t>& possible);

struct LoadWeights {
  std::vector<std::int64_t> of_device;  // D, at most 2^40 each
  Ticks bound = 0;                      // what they prove
};

// ceil(sum of min k time / K); 0 where all weights are 0.
Ticks load_certificate(const UnitTimes& units, const std::vector<std::int64_t>& weights);
// As load_certificate, of weights >= 0 rounded to integers.
LoadWeights rounded_weights(const UnitTimes& units, const std::vector<double>& weights);

// Equal weights, and how much faster each device is at best than each reference (of many devices and units: than some).
// U x D^2.
LoadWeights quick_load_weights(const UnitTimes& units);
// Goes on from `start` to the best weights, by cutting planes (Kelley 1960) with a linear program of D columns, until
// the bound is within 1e-9 of the optimum, 500 rounds are over or the time is.
LoadWeights best_load_weights(const UnitTimes& units, LoadWeights start, const Deadline& deadline);

}  // namespace emplace::search
