// What llama.cpp holds beside weights and KV cache while it runs a model: the buffers of intermediate results and the
// outputs. Rules of llama.cpp v0.5.0 (llama_context::sched_reserve, output_reserve, and the graphs of its models);
// scripts/llama-memory compares with what it counts itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "language/language_model.hpp"
#include "language/scenario.hpp"

namespace emplace::language {

// The device of each part of each layer. Device 0 is the host, which has the embedding.
struct DeviceOfParts {
  std::size_t devices = 1;
  std::vector<std::size_t> attention, feed_forward, experts;  // L each
  std::size_t output = 0;                                     // of the last norm and the matrix of the vocabulary
};
[[nodiscard]] DeviceOfParts all_on_host(const LanguageModel& model);

struct ComputeOptions {
  bool flash_attention = true;  // without it the scores of all heads are kept
  // The runtime computes four micro-batches at a time, which llama.cpp does with two or more devices beside the host if
  // no layer is on the host and -ot moves no tensor.
  bool pipelined = false;
  // Of how many tokens of a micro-batch the logits are computed: llama-server takes one of each sequence; 0: of all, as
  // the library's other programs.
  std::int64_t outputs = 0;
};
// Of each device, for the graph of a micro-batch of the scenario, whatever its phase.
[[nodiscard]] std::vector<Bytes> compute_bytes(const LanguageModel& model, const Scenario& scenario,
                                               const DeviceOfParts& placed, const ComputeOptions& options = {});
// The logits of a token of each sequence, in the memory of the host.
[[nodiscard]] Bytes output_bytes(const LanguageModel& model, const Scenario& scenario);

}  // namespace emplace::language
