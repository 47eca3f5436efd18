// The dynamic program over ideals (docs/papers/tarnawski.md, section 2.4): the split of least load among those whose
// pieces come one after another, exact for contiguous splits.
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
  Ticks load = 0;          // the largest; with separate phases that of the backward phase
  Ticks forward_load = 0;  // the largest of the forward phase; 0 without separate phases
  std::vector<std::uint8_t> device_of_class;
};

class IdealProgram {
 public:
  // The most ideals for which its table has a reasonable size (2 GiB); 0 with far too many kinds of devices.
  static std::size_t most_ideals(const std::vector<DeviceKind>& kinds);

  // All must outlive it; stop, asked now and then, ends a solve early. Requires at most most_ideals(). Weights of the
  // kinds (kind_weights()) spare it ideals that no split within the limits has; prefixes of one order need none.
  IdealProgram(const Ideals& ideals, const std::vector<DeviceKind>& kinds, PieceLoad& piece,
               std::function<bool()> stop = {}, const std::vector<std::int64_t>& weights = {});

  // The least load of all splits with no load above `most`, no forward load above `forward_most` and no sum of both
  // above `both_most`. Nothing if there is no such split or it was stopped.
  std::optional<Split> solve(Ticks most = total_limit, Ticks forward_most = total_limit, Ticks both_most = total_limit);
  [[nodiscard]] bool stopped() const { return stopped_; }
  // Pairs of ideals looked at by the last solve; all of them with the limits left open and memory enough.
  [[nodiscard]] std::uint64_t pairs() const { return pairs_; }

 private:
  static constexpr Ticks infinite = total_limit;
  struct Step {
    std::uint32_t ideal;
    std::uint32_t next;  // position in Ideals::smaller.items
    std::uint32_t added;
  };

  // Calls visit(J) for each ideal J inside I while the piece is I \ J, until it returns true; leaves out those for
  // whose pieces the limits leave no kind of device.
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
  // A state says how many devices of each kind are used up: sum of count x stride.
  std::vector<std::size_t> stride_;
  std::size_t states_ = 1;
  WorkWindows windows_;
  std::vector<char> open_;    // of an ideal: whether any state is possible
  std::vector<Ticks> table_;  // ideals x states: the least largest load
  std::vector<std::uint32_t> seen_;
  std::uint32_t walks_ = 0;
  std::vector<Step> path_;
  Ticks most_ = 0, forward_most_ = 0, both_most_ = 0;
  std::uint64_t pairs_ = 0;
  bool stopped_ = false;
};

// The least load by the pipeline's options, phases added where they are separate: solve() once, or once for each point
// at which a smaller forward load costs a larger backward load. `most` bounds the sum. Nothing if there is no such
// split; if stopped(), the best so far or nothing.
std::optional<Split> least_load(IdealProgram& program, const simulate::PipelineOptions& options,
                                Ticks most = total_limit);

}  // namespace emplace::search
