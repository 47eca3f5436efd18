// How a model becomes a problem: the passes that change its graph before its ops are costed and placed.
#pragma once

#include <cstdint>
#include <string>

#include "emplace/base/options.hpp"

namespace emplace::cost {

// The recipe's [roofline] table.
struct RooflineOptions {
  bool prune = true;      // first remove constants, identities and shape arithmetic
  bool training = false;  // expand any forward graph to a training step
  std::string optimizer = "sgd";
  bool fuse = false;              // this and the following options: see docs/formats.md
  std::string contract = "none";  // none | chain | single-parent | layers
  std::int64_t layers = 0;        // number of layers with contract = layers; 0: those that the model names
  std::int64_t coarsen = 0;       // groups; 0: none
  std::string colocate = "none";  // none | tensorflow | colocrl | colocrl-group
  bool allow_unsized = false;     // also where more than 1 % of the ops have outputs of unknown size

  friend bool operator==(const RooflineOptions&, const RooflineOptions&) = default;
};
void describe(RooflineOptions& options, OptionVisitor& visit);

}  // namespace emplace::cost
