// Contiguous splits of least pipeline load, as devices of ops: what `dp`, `dpl` and `milp` (as its start) share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emplace/search/placer.hpp"
#include "search/common/deadline.hpp"
#include "search/pipeline/ideal_program.hpp"
#include "search/pipeline/split_classes.hpp"

namespace emplace::search {

class ContiguousSplitter {
 public:
  // The request's seconds begin now. InputError, at `place`, for far too many kinds of devices.
  ContiguousSplitter(const PlacerRequest& request, std::string place, bool merge_idle);

  // Device of each op, N. Nothing if no split is feasible or the time is over (see stopped); where the load has two
  // phases, the time may also leave a split that is not the best.
  std::optional<std::vector<std::uint8_t>> along_one_order();  // DPL, section 2.5
  // DP, section 2.4, after find_ideals(). Starts from along_one_order()'s load if that was called before.
  std::optional<std::vector<std::uint8_t>> over_ideals();
  // False if there are more than so many ideals, or than memory for them (2 GiB), or the time is over.
  bool find_ideals(std::size_t most);
  [[nodiscard]] std::size_t classes() const { return classes_.count(); }
  [[nodiscard]] std::size_t most_ideals_in_memory() const { return IdealProgram::most_ideals(kinds_); }
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  void bound_by_blocks(const std::vector<std::uint32_t>& order, std::size_t blocks);
  std::optional<std::vector<std::uint8_t>> solve(const Ideals& ideals, const std::vector<std::int64_t>& weights);

  const PlacerRequest& request_;
  const std::string place_;
  const Deadline deadline_;
  const std::vector<DeviceKind> kinds_;
  const SplitClasses classes_;
  PieceLoad piece_;
  std::optional<Ideals> ideals_;
  Ticks most_ = total_limit;  // the least load so far
  bool stopped_ = false;
};

// What is left where no contiguous split can be had: everything on the best device. The note says why and that.
PlacerResult on_best_device(const PlacerRequest& request, const std::string& why);

}  // namespace emplace::search
