// The load bound's dual: weights of devices. With integers k_d >= 0 that sum to K, every assignment has
//   K x makespan >= sum over d of k_d x (busy time of d) >= sum over units u of min over d of k_d x time(u, d),
// whatever the weights are (weak duality of the linear program of unrelated machines, Lenstra, Shmoys and Tardos 1990,
// with the assignment relaxed). Everything is computed in integers, so the bound is proved for weights from any source.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "search/common/deadline.hpp"

namespace emplace::search {

__extension__ typedef __int128 Wide;  // sums of weights x ticks

// Times of units (rows) on devices; cannot_run if the device cannot run the unit.
struct UnitTimes {
  std::size_t devices = 0;
  std::vector<Ticks> time;  // U x D

  [[nodiscard]] std::size_t count() const { return devices == 0 ? 0 : time.size() / devices; }
};
// The units are co-location groups and single ops, on the devices that `possible` (N x D) allows. Units without any
// device are left out.
UnitTimes unit_times(const Problem& problem, const std::vector<std::uint8_t>& possible);

struct LoadWeights {
  std::vector<std::int64_t> of_device;  // D, at most 2^40 each
  Ticks bound = 0;                      // the bound that they prove, in ticks
};

// ceil(sum over units of min over devices of k_d x time / K); 0 if all weights are 0.
Ticks load_certificate(const UnitTimes& units, const std::vector<std::int64_t>& weights);
// Weights >= 0 rounded to integers, with the bound by load_certificate.
LoadWeights rounded_weights(const UnitTimes& units, const std::vector<double>& weights);

// The best of equal weights and, for each reference device, the largest speed-up of each device over the reference (for
// many devices and units, only some references). Takes time U x D^2.
LoadWeights quick_load_weights(const UnitTimes& units);
// Improves `start` to the best weights, by cutting planes (Kelley 1960) with a linear program of D columns. Ends when
// the bound is within 1e-9 of the optimum, after 500 rounds, or when the time is over.
LoadWeights best_load_weights(const UnitTimes& units, LoadWeights start, const Deadline& deadline);

}  // namespace emplace::search
