// The graph of one step of a language model: a part of a prompt, or a token of each sequence.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emplace/graph/graph.hpp"
#include "language/language_model.hpp"
#include "language/scenario.hpp"

namespace emplace::language {

// What can be on a device of its own: "input" (the embeddings), "blk.3.attention", "blk.3.feed_forward" (with router
// and shared experts), "blk.3.experts", "output" (the last norm and the matrix of the vocabulary).
struct Unit {
  std::string name;         // the co-location group of its ops
  std::int64_t layer = -1;  // -1: input and output
  std::optional<Part> part;
  Bytes weights = 0;
  Bytes cache = 0;  // of keys and values
};

[[nodiscard]] std::string unit_name(std::int64_t layer, Part part);

// The units in the order in which a step computes them. The weights of `output` are with its copy of the embedding if
// the model has no matrix of its own for it (copied_bytes).
std::vector<Unit> units_of(const LanguageModel& model, const Scenario& scenario);

// The output's copy of the embedding: where both are on one device, a runtime has it once. 0 if the model is not tied.
[[nodiscard]] Bytes copied_bytes(const LanguageModel& model);

// The ops of a step, as llama.cpp computes it with flash attention: each weight is a parameter of one op, a layer's KV
// cache is the state of its op "blk.N.attn", results are tensors of f32. Names of ops are those of their weights
// ("blk.3.ffn_up"); `colocate` is the unit, `layer` is "input", "blk.N" or "output". Of mixtures of experts, products
// read the weights of as many experts as the tokens of the step use, at most all. Weights that no known op uses are
// products of their part's input, or operands of its last op.
// InputError with `place` for a bad scenario (check), for more than 4096 layers, and for sizes beyond 2^62.
Graph language_graph(const LanguageModel& model, const Scenario& scenario, const std::string& place);

}  // namespace emplace::language
