// Adds the ops of a step to a graph: what the parts of a layer have in common.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/graph/graph.hpp"
#include "language/language_model.hpp"
#include "language/scenario.hpp"

namespace emplace::language {

using Sizes = std::vector<std::int64_t>;

class StepBuilder {
 public:
  StepBuilder(const LanguageModel& language_model, const Scenario& step, const std::string& where);

  // Ops that are added from now on are of this unit. `weights` are those of the layer; names of ops and parameters
  // begin with `prefix`.
  void begin(std::string unit, std::string layer, std::string prefix, std::span<const Weight> weights);
  // The same weights, another unit of the layer.
  void continue_with(std::string unit) { unit_ = std::move(unit); }

  OpId add_op(const std::string& name, std::string type, std::vector<Operand> inputs,
              std::map<std::string, Attribute> attributes = {});
  Operand output(OpId op, Sizes sizes, DType dtype = DType::f32);
  Operand add(const std::string& name, std::string type, std::vector<Operand> inputs, Sizes sizes);

  // The weight as a parameter, which it may become once; nullptr if the layer has none of that name, or no more.
  [[nodiscard]] const Weight* find(std::string_view name) const;
  Operand take(const Weight& weight);
  // Whether a weight of the part is no parameter yet.
  [[nodiscard]] bool has_any_of(Part part) const;
  // All weights "STEM.*" that are no parameters yet: a matrix's biases and scales.
  std::vector<Operand> take_all(std::string_view stem);

  // The norm with the weights "STEM.*"; `x` itself if the layer has none.
  Operand norm(const std::string& stem, const Operand& x);
  // x with the matrix "STEM.weight", which the layer must have; `sizes` {}: tokens x rows.
  Operand product(const std::string& stem, const Operand& x, Sizes sizes = {});
  [[nodiscard]] bool has(const std::string& stem) const { return find(stem + ".weight") != nullptr; }
  // What is left of the weights that are `wanted`: products of `x`, and vectors as they are.
  std::vector<Operand> rest(const Operand& x, const std::function<bool(const Weight& weight)>& wanted);

  [[nodiscard]] const Sizes& sizes_of(const Operand& x) const;
  Graph finish();

  // What it was made for.
  const LanguageModel& model;
  const Scenario& scenario;
  const std::string& place;
  std::int64_t tokens;  // that pass what is added from now on
  Graph graph;

 private:
  std::string unit_, layer_, prefix_;
  std::span<const Weight> weights_;
  std::vector<bool> taken_;
};

// Attributes of an op that multiplies with this weight: its type, and the number type in which it computes. ggml
// multiplies quantised weights with activations that it has quantised to 8 bits.
std::map<std::string, Attribute> attributes_of(const Weight& weight);
[[nodiscard]] const char* computes_in(std::string_view weight_type);

// The parts of a layer; `x` is the residual stream, tokens x width, and so is the result. Router and shared
// experts are of `unit`, the experts of a unit of their own.
Operand add_attention(StepBuilder& step, const Layer& layer, Operand x);
Operand add_feed_forward(StepBuilder& step, const Operand& x, const std::string& unit, const std::string& experts_unit);

}  // namespace emplace::language
