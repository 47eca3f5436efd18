// Contiguous splits of least pipeline load, as devices of ops: what `dp`, `dpl` and `milp` (as its start) share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "deadline.hpp"
#include "emplace/search/placer.hpp"
#include "ideal_program.hpp"

namespace emplace {

class ContiguousSplitter {
 public:
  // The request's seconds begin now. InputError, at `place`, for far too many kinds of devices.
  ContiguousSplitter(const PlacerRequest& request, std::string place, bool merge_idle);

  // Device of each op, N. Nothing if no split is feasible or the time is over (see stopped); where the load has two
  // phases, the time may also leave a split that is not the best.
  std::optional<std::vector<std::uint8_t>> along_one_order();  // DPL, section 2.5
  // DP, section 2.4; InputError beyond this many ideals. Starts from along_one_order()'s load if that was called
  // before.
  std::optional<std::vector<std::uint8_t>> over_ideals(std::size_t most_ideals);
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  std::optional<std::vector<std::uint8_t>> solve(const Ideals& ideals);

  const PlacerRequest& request_;
  const std::string place_;
  const Deadline deadline_;
  const std::vector<DeviceKind> kinds_;
  const SplitClasses classes_;
  PieceLoad piece_;
  Ticks most_ = total_limit;  // the least load so far
  bool stopped_ = false;
};

}  // namespace emplace
