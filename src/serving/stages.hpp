// Layouts in stages: one after another, all nodes of a stage hold the same layers. Most good layouts are of this form,
// and what a stage can do follows from its nodes alone, so that a change is judged without a flow.
#pragma once

#include <vector>

#include "serving/cluster.hpp"

namespace emplace::serving {

class Stage {
 public:
  std::vector<NodeIndex> nodes;

  // To be called after a change of `nodes`.
  void update(const Cluster& cluster);
  // The rate of the whole stage with k layers, 1 <= k <= most().
  [[nodiscard]] Rate rate(Layers k) const { return rate_[k - 1]; }
  [[nodiscard]] Layers most() const { return static_cast<Layers>(rate_.size()); }
  // The most layers with which the stage passes `wanted`; 0: with none.
  [[nodiscard]] Layers length(Rate wanted) const;
  // Entry k - 1: the best rate with k or more layers. It does not rise.
  [[nodiscard]] const std::vector<Rate>& at_least() const { return at_least_; }

 private:
  std::vector<Rate> rate_, at_least_;
};

// The stages in the order in which the layers pass them.
using Stages = std::vector<Stage>;

// All nodes that can hold something in one chain, in which each is followed by the one with the fastest link to it.
Stages single_chain(const Cluster& cluster);

// Whether some link may be what limits a flow between two stages or at the ends of the model.
bool links_may_bind(const Cluster& cluster);

// The largest rate that the stages can pass with all layers of the model, links aside; 0: they cannot hold the model.
Rate rate_of(const Stages& stages, Layers layers);

// Gives each stage as many layers as it can take at that rate, and exactly those of the model in total. Stages that get
// none are left out. All intervals are empty if the stages cannot hold the model.
Layout layout_of(const Cluster& cluster, const Stages& stages);

// What the links from one stage to the next let through, an upper limit: k and l are their numbers of layers.
Rate rate_between(const Cluster& cluster, const Stage& from, Layers k, const Stage& to, Layers l);
Rate rate_from_source(const Cluster& cluster, const Stage& to, Layers k);
Rate rate_to_sink(const Cluster& cluster, const Stage& from, Layers k);

// The layout as stages, if it is of this form but for nodes that fit no stage, which are left out.
Stages stages_of(const Cluster& cluster, const Layout& layout);

}  // namespace emplace::serving
