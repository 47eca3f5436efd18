// Decides which ideals a part of the devices can run, if no load may be above `most` and the other devices must run the
// rest. Communication is left out, so that no split within the limit is lost. A state is the number of devices of each
// kind that are used up: sum of count x stride.
// - Prefixes of one order (dpl): how far a state can reach, and from where the other devices reach the end, each device
//   taking ops as long as its time and memory allow.
// - Other ideals (dp): with weights w_k >= 0 of the kinds and n_k devices of kind k, the work of an ideal, the sum over
//   its classes of min_k w_k time(c, k), is at most most x (sum of n_k w_k) (weak duality, as in load_weights.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "search/bounds/load_weights.hpp"
#include "search/common/deadline.hpp"
#include "search/pipeline/device_kinds.hpp"
#include "search/pipeline/ideals.hpp"
#include "search/pipeline/piece_load.hpp"

namespace emplace::search {

// Good weights for classes of ops: those of the linear program, as far as it gets before the deadline. One per kind, at
// most 2^40 each.
std::vector<std::int64_t> kind_weights(const Problem& problem, const std::vector<DeviceKind>& kinds,
                                       const std::vector<std::uint32_t>& class_of_op, std::size_t classes,
                                       const Deadline& deadline);

class WorkWindows {
 public:
  // Without weights, possible() is always true unless the ideals are the prefixes of one order.
  WorkWindows(const Ideals& ideals, const std::vector<DeviceKind>& kinds, const PieceLoad& piece,
              const std::vector<std::size_t>& stride, std::size_t states, const std::vector<std::int64_t>& weights);

  void limit(Ticks most);  // of a load, both phases together
  [[nodiscard]] bool possible(std::uint32_t ideal, std::size_t state) const {
    if (!furthest_.empty()) return nearest_[state] <= ideal && ideal <= furthest_[state];
    return work_.empty() ||
           (work_[ideal] <= most_ * capacity_[state] && work_.back() - work_[ideal] <= most_ * capacity_left_[state]);
  }

 private:
  void sum_up(const Ideals& ideals, const PieceLoad& piece);
  void weigh(const Ideals& ideals, const PieceLoad& piece, const std::vector<std::int64_t>& weights);
  [[nodiscard]] bool holds(std::size_t kind, std::uint32_t from, std::uint32_t to) const;

  const std::vector<DeviceKind>& kinds_;
  const std::vector<std::size_t>& stride_;
  const std::size_t states_;
  Wide most_ = 0;
  // For prefixes: sums up to each prefix, M x kinds (bytes: M).
  std::vector<Ticks> time_;
  std::vector<std::uint32_t> cannot_;
  std::vector<Bytes> bytes_;
  std::vector<std::uint32_t> furthest_, nearest_;  // of each state
  // For other ideals.
  std::vector<Wide> work_;
  std::vector<Wide> capacity_, capacity_left_;  // of each state: sum of weights of the used devices, and of the others
};

}  // namespace emplace::search
