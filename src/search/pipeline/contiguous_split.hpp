// Contiguous splits of least pipeline load, as devices of ops. For `dp` and `dpl`, and for the start of `milp`.
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
  // The request's seconds count from here on. InputError, at `place`, for far too many kinds of devices.
  ContiguousSplitter(const PlacerRequest& request, std::string place, SplitClasses classes);

  // N: the device of each op. Nothing if no split is feasible or the time is over (see stopped); with separate phases,
  // the split may also not be the best if the time is over.
  std::optional<std::vector<std::uint8_t>> along_one_order();  // DPL (section 2.5)
  // DP (section 2.4), after find_ideals(). Starts from the load of along_one_order() if that was called before.
  std::optional<std::vector<std::uint8_t>> over_ideals();
  // Returns false if there are more than `most` ideals or more than fit in memory (2 GiB), or if the time is over.
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

// The evaluated split, with this note.
PlacerResult scored_split(const PlacerRequest& request, const std::vector<std::uint8_t>& devices,
                          const std::string& note);
// DPL as a placer's result: its split, or everything on the best device if it has none.
PlacerResult place_along_one_order(const PlacerRequest& request, ContiguousSplitter& splitter);

// Puts everything on the best device, for problems without a contiguous split. The note has `why` and that this was
// done.
PlacerResult on_best_device(const PlacerRequest& request, const std::string& why);

}  // namespace emplace::search
