// Weights that change linearly over a training.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "nn/tape/optimizer.hpp"

namespace emplace::learn {

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

// Throws InputError if only one of a schedule's end value and length is given.
inline void check_schedule(const ConfigTable& table, std::string_view end, bool has_end, std::string_view length,
                           bool has_length) {
  if (has_end != has_length)
    throw InputError(table.place_of(has_end ? end : length), "{} and {} are one schedule: give both or none", end,
                     length);
}

inline void check(const EntropyOptions& o, const ConfigTable& table) {
  check_schedule(table, "entropy_weight_end", o.entropy_weight_end >= 0, "entropy_updates", o.entropy_updates > 0);
}

inline void check(const nn::OptimizerOptions& o, const ConfigTable& table) {
  check_schedule(table, "learning_rate_end", o.learning_rate_end >= 0, "learning_rate_updates",
                 o.learning_rate_updates > 0);
}

}  // namespace emplace::learn
