// The dynamic program over ideals (docs/papers/tarnawski.md, section 2.4): finds the split of least load among those
// whose pieces can be ordered one after another. It is exact for contiguous splits.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "search/pipeline/ideals.hpp"
#include "search/pipeline/piece_load.hpp"
#include "search/pipeline/work_windows.hpp"

namespace emplace::search {

struct Split {
  Ticks load = 0;          // largest load; with separate phases the largest of the backward phase
  Ticks forward_load = 0;  // largest load of the forward phase; 0 without separate phases
  std::vector<std::uint8_t> device_of_class;
};

class IdealProgram {
 public:
  // The most ideals for which its table has a reasonable size (2 GiB); 0 with far too many kinds of devices.
  static std::size_t most_ideals(const std::vector<DeviceKind>& kinds);

  // All arguments must outlive it. `stop` is called from time to time, and ends a solve early. Requires at most
  // most_ideals(). With weights of the kinds (kind_weights()), ideals that no split within the limits has are skipped;
  // prefixes of one order need no weights.
  IdealProgram(const Ideals& ideals, const std::vector<DeviceKind>& kinds, PieceLoad& piece,
               std::function<bool()> stop = {}, const std::vector<std::int64_t>& weights = {});

  // The least load of all splits with no load above `most`, no forward load above `forward_most` and no sum of both
  // above `both_most`. Nothing if there is no such split or the solve was stopped.
  std::optional<Split> solve(Ticks most = total_limit, Ticks forward_most = total_limit, Ticks both_most = total_limit);
  [[nodiscard]] bool stopped() const { return stopped_; }
  // Number of pairs of ideals that the last solve looked at. Without limits and with sufficient memory it looks at
  // every pair that a split can have (on a chain fewer than all).
  [[nodiscard]] std::uint64_t pairs() const { return pairs_; }

 private:
  static constexpr Ticks infinite = total_limit;
  struct Step {
    std::uint32_t ideal;
    std::uint32_t next;  // position in Ideals::smaller.items
    std::uint32_t added;
  };

  // Calls visit(J) for each ideal J inside I, with piece_ being I \ J, until it returns true; leaves out ideals for
  // whose pieces no kind of device is within the limits.
  template <class Visit>
  void walk(std::uint32_t ideal, Visit&& visit);
  [[nodiscard]] bool within_limits(std::size_t kind) const;
  void relax(std::uint32_t ideal, std::uint32_t inside);
  void allow_idle_devices(std::uint32_t ideal);
  void close_states(std::uint32_t ideal);
  Split trace();

  const Ideals& ideals_;
  const std::vector<DeviceKind>& kinds_;
  PieceLoad& piece_;
  const std::function<bool()> stop_;
  // A state is the number of devices of each kind that are used up, coded as the sum of count x stride.
  std::vector<std::size_t> stride_;
  std::size_t states_ = 1;
  WorkWindows windows_;
  std::vector<char> open_;    // for each ideal, whether any state is possible
  std::vector<Ticks> table_;  // ideals x states: the least possible largest load
  std::vector<std::uint32_t> seen_;
  std::uint32_t walks_ = 0;
  std::vector<Step> path_;
  Ticks most_ = 0, forward_most_ = 0, both_most_ = 0;
  std::uint64_t pairs_ = 0;
  bool stopped_ = false;
};

// The split of least load under the pipeline's options; separate phases are added. Calls solve() once, or with separate
// phases once for each trade-off between forward and backward load. `most` limits the sum. Nothing if there is no such
// split; if stopped(), the best so far or nothing.
std::optional<Split> least_load(IdealProgram& program, const simulate::PipelineOptions& options,
                                Ticks most = total_limit);

}  // namespace emplace::search
