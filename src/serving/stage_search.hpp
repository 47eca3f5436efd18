// Simulated annealing over stages (stages.hpp). It looks for stages that pass a wanted rate: what it lowers is the
// number of layers that do not fit at that rate, and what the links between stages lack. Whenever both are zero, the
// layout's flow is computed, and a higher rate is wanted next.
#pragma once

#include <functional>
#include <variant>

#include "emplace/base/random.hpp"
#include "serving/flow.hpp"
#include "serving/stages.hpp"

namespace emplace::serving {

class StageSearch {
 public:
  // `enough`: a rate that nothing exceeds; 0: not known. The references must outlive this object.
  StageSearch(const Cluster& cluster, FlowEvaluator& flow, Rate enough, Stream& stream);

  // Begins again from these stages; nodes in none of them are left over.
  void start(const Stages& stages);
  // Tries `moves` changes, from hot to cold. The wanted rate is `aspiration` (0 to 1) of the way from the best
  // throughput to `enough`. Returns how many were tried: fewer if `ended` became true or nothing better is possible.
  std::uint64_t anneal(std::uint64_t moves, double aspiration, const std::function<bool()>& ended);

  [[nodiscard]] const Layout& best() const { return best_; }
  [[nodiscard]] Rate best_rate() const { return best_rate_; }
  // Takes a layout of another search as the best, if it is better.
  void learn(const Layout& layout, Rate rate);

 private:
  struct Slot {
    Stage stage;
    Layers length = 0;          // at the wanted rate
    std::uint64_t version = 0;  // another one after every change of stage or length
    // What the links from the slot before let through, as computed when that slot had this version.
    std::uint64_t before = 0;
    Rate passed = 0;
  };
  // How to undo a part of a change: put a slot back, or rotate slots (the range [first, last), so that `middle` is
  // first).
  struct Restore {
    std::size_t slot;
    Slot was;
  };
  struct Rotate {
    std::size_t first, middle, last;
  };

  void want(Rate rate);
  void measure(Slot& slot);
  [[nodiscard]] double lack();
  void change();
  void undo();
  void move_node();
  void swap_nodes();
  void merge_stages();
  void move_slot(std::size_t from, std::size_t to);
  void move_segment();
  void rotate(Rotate how);
  void save(std::size_t slot);
  void settle(std::size_t slot);
  [[nodiscard]] std::size_t draw_filled();
  void take_if_better();

  const Cluster& cluster_;
  FlowEvaluator& flow_;
  const Rate enough_;
  const bool links_bind_;
  Stream& stream_;
  Rate wanted_ = 1;
  std::uint64_t versions_ = 0;
  std::vector<Slot> slots_;  // N + 1 in the order of layers, some empty; the last one has the nodes that hold nothing
  std::vector<std::variant<Restore, Rotate>> undo_;
  Layout best_;
  Rate best_rate_ = 0;
};

}  // namespace emplace::serving
