// What one of several devices holds and computes that divide every layer of a model among them (tensor parallelism,
// Shoeybi et al. 2019): a model with fewer heads, narrower feed-forward parts and a smaller vocabulary.
#pragma once

#include <optional>

#include "language/language_model.hpp"

namespace emplace::language {

// The part of each of `parts` devices, all of which are equal. Queries, keys, values and the first matrices of
// feed-forward parts are divided by rows, the matrices after them by columns, the vocabulary by tokens; norms, routers
// and compressed caches are on every device. Fewer key-value heads than devices are repeated, where `repeat_keys`.
// nullopt if heads, widths or blocks of quantised weights do not divide, as vLLM and Megatron demand.
[[nodiscard]] std::optional<LanguageModel> shard_of(const LanguageModel& model, std::int64_t parts,
                                                    bool repeat_keys = true);

}  // namespace emplace::language
