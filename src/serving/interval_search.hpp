// Simulated annealing over any layouts: intervals that are shifted, swapped, copied, or taken out and put back where
// they help most. What counts is the flow itself, so links and intervals that do not end together are judged as they
// are.
#pragma once

#include <functional>

#include "emplace/base/random.hpp"
#include "serving/flow.hpp"

namespace emplace::serving {

class IntervalSearch {
 public:
  // `enough`: a rate that nothing exceeds; 0: not known. The references must outlive this object.
  IntervalSearch(const Cluster& cluster, FlowEvaluator& flow, Rate enough, Stream& stream);

  void start(const Layout& layout);
  // Tries layouts until `evaluations` flows have been computed, from hot to cold. Returns how many: fewer if `ended`
  // became true or nothing better is possible.
  std::uint64_t anneal(std::uint64_t evaluations, double hot, double cold, const std::function<bool()>& ended);

  [[nodiscard]] const Layout& best() const { return best_; }
  [[nodiscard]] Rate best_rate() const { return best_rate_; }

 private:
  [[nodiscard]] Rate evaluate(const Layout& layout);
  [[nodiscard]] std::uint32_t below(std::size_t count) { return stream_.below(static_cast<std::uint32_t>(count)); }
  [[nodiscard]] bool fits(std::size_t node, Interval held) const;
  bool shift_end();
  bool shift_boundary();
  bool swap_nodes();
  bool copy_interval();
  bool ruin();
  void put_back(NodeIndex node);

  const Cluster& cluster_;
  FlowEvaluator& flow_;
  const Rate enough_;
  Stream& stream_;
  std::uint64_t evaluations_ = 0;
  Layout now_, next_, best_;
  Rate now_rate_ = 0, best_rate_ = 0;
};

}  // namespace emplace::serving
