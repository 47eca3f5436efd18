// Weights that change linearly over a training.
#pragma once

#include <algorithm>
#include <cstdint>

#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"

namespace emplace {

struct EntropyOptions {
  double entropy_weight = 0;
  double entropy_weight_end = -1;  // below 0: as at the start
  std::int64_t entropy_updates = 0;

  // In update `update`, counted from 1.
  [[nodiscard]] double weight(std::uint64_t update) const {
    if (entropy_weight_end < 0) return entropy_weight;
    const auto done = static_cast<double>(update - 1);
    const double part = entropy_updates > 0 ? std::min(1.0, done / static_cast<double>(entropy_updates)) : 1.0;
    return entropy_weight + part * (entropy_weight_end - entropy_weight);
  }
};

inline void describe(EntropyOptions& o, OptionVisitor& visit) {
  visit("entropy_weight", o.entropy_weight,
        {.min = 0, .help = "Weight of the entropy of all of a sample's decisions, at the start of a schedule."});
  visit("entropy_weight_end", o.entropy_weight_end,
        {.min = 0, .help = "Weight of the entropy after entropy_updates updates, reached linearly."});
  visit("entropy_updates", o.entropy_updates,
        {.min = 0, .help = "Updates until the entropy's weight is entropy_weight_end."});
}

inline void check(const EntropyOptions& o, const ConfigTable& table) {
  if ((o.entropy_weight_end >= 0) != (o.entropy_updates > 0))
    throw InputError(table.place_of(o.entropy_updates > 0 ? "entropy_updates" : "entropy_weight_end"),
                     "entropy_weight_end and entropy_updates are one schedule: give both or none");
}

}  // namespace emplace
