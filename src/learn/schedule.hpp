// Weights that change linearly over a training.
#pragma once

#include <algorithm>

#include "emplace/base/options.hpp"

namespace emplace::learn {

struct EntropyOptions {
  double entropy_weight = 0;
  double entropy_weight_end = -1;  // below 0: as at the start
  double entropy_share = 1;

  // In an update before which this share of the training's budget was used.
  [[nodiscard]] double weight(double progress) const {
    if (entropy_weight_end < 0) return entropy_weight;
    return entropy_weight + std::min(1.0, progress / entropy_share) * (entropy_weight_end - entropy_weight);
  }
};

inline void describe(EntropyOptions& o, OptionVisitor& visit) {
  visit("entropy_weight", o.entropy_weight,
        {.min = 0, .help = "Weight of the entropy of all of a sample's decisions, at the start of a schedule."});
  visit("entropy_weight_end", o.entropy_weight_end,
        {.min = 0, .help = "Weight of the entropy from entropy_share of the budget on, reached linearly."});
  visit("entropy_share", o.entropy_share,
        {.min = 0,
         .max = 1,
         .above_min = true,
         .help = "Share of the training's budget after which the entropy's weight is entropy_weight_end."});
}

}  // namespace emplace::learn
