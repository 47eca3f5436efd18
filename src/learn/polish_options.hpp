// How much of a training goes to polishing its best samples.
#pragma once

#include <cstdint>

#include "emplace/base/options.hpp"

namespace emplace::learn {

// The recipe's table [polish].
struct PolishOptions {
  int samples = 0;
  std::int64_t moves = 500;
  double share = 0.5;
  double share_begin = 0.5;

  // The share of evaluations that polishing has when this share of the training's budget is used.
  [[nodiscard]] double share_at(double progress) const { return share_begin + (share - share_begin) * progress; }
};
void describe(PolishOptions& o, OptionVisitor& visit);

}  // namespace emplace::learn
