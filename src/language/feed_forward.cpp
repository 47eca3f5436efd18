// The feed-forward part of a layer: a perceptron, or a mixture of experts with shared ones beside them.
#include <algorithm>

#include "emplace/base/error.hpp"
#include "language/step_builder.hpp"

namespace emplace::language {

namespace {

// `suffix`: "", or that of the shared experts.
Operand perceptron(StepBuilder& step, const std::string& suffix, const Operand& x) {
  const Weight* down = step.find("ffn_down" + suffix + ".weight");
  if (down == nullptr) throw InputError(step.place, "has ffn_up{}.weight, but no ffn_down{}.weight", suffix, suffix);
  const std::int64_t inner = down->columns();
  std::vector<Operand> inputs;
  if (step.has("ffn_gate" + suffix)) inputs.push_back(step.product("ffn_gate" + suffix, x));
  inputs.push_back(step.product("ffn_up" + suffix, x));
  // One matrix for both (Phi-3) leaves twice as many values.
  const bool is_gated = inputs.size() == 2 || step.sizes_of(inputs[0]).back() == 2 * inner;
  const Operand active =
      step.add("ffn_act" + suffix, is_gated ? "ggml.glu" : "Gelu", std::move(inputs), {step.tokens, inner});
  return step.product("ffn_down" + suffix, active);
}

class Experts {
 public:
  Experts(StepBuilder& step, const Operand& x) : step_(step), x_(x) {
    read_ = std::min(step.model.experts,
                     step.tokens > step.model.experts ? step.model.experts : step.tokens * step.model.experts_used);
    const Operand scores = step.has("ffn_gate_inp") ? step.product("ffn_gate_inp", x) : x;
    std::vector<Operand> inputs = {scores};
    for (const Operand& bias : step.take_all("exp_probs_b")) inputs.push_back(bias);
    const OpId best = step.add_op("ffn_experts_used", "TopK", std::move(inputs));
    chosen_ = step.output(best, {step.tokens, step.model.experts_used}, DType::i32);
    shares_ = step.output(best, {step.tokens, step.model.experts_used});
  }

  void compute() {
    const std::int64_t used = step_.model.experts_used;
    const std::int64_t inner = step_.find("ffn_down_exps.weight")->columns();
    std::vector<Operand> inputs;
    for (const char* stem : {"ffn_gate_exps", "ffn_up_exps", "ffn_gate_up_exps"})
      if (step_.has(stem)) inputs.push_back(product(stem, x_));
    if (inputs.empty()) throw InputError(step_.place, "has ffn_down_exps.weight, but no ffn_up_exps.weight");
    const Operand active = step_.add("ffn_act_exps", "ggml.glu", std::move(inputs), {step_.tokens, used, inner});
    parts_ = product("ffn_down_exps", active);
    std::vector<Operand> rest = step_.rest(x_, [](const Weight& w) { return part_of(w.name) == Part::experts; });
    if (rest.empty()) return;
    rest.insert(rest.begin(), parts_);
    parts_ = step_.add("ffn_rest_exps", "Sum", std::move(rest), step_.sizes_of(parts_));
  }

  // llama.cpp computes it where the router is, also if the experts are elsewhere.
  Operand weighted_sum() {
    const Operand scaled = step_.add("ffn_shares_exps", "Mul", {parts_, shares_}, step_.sizes_of(parts_));
    return step_.add("ffn_sum_exps", "ReduceSum", {scaled}, {step_.tokens, step_.model.hidden});
  }

 private:
  Operand product(const std::string& stem, const Operand& x) {
    const Weight& weight = *step_.find(stem + ".weight");
    std::vector<Operand> inputs = {x, step_.take(weight), chosen_};
    for (const Operand& vector : step_.take_all(stem)) inputs.push_back(vector);
    std::map<std::string, Attribute> attributes = attributes_of(weight);
    attributes["experts"] = step_.model.experts;
    attributes["experts_read"] = read_;
    return step_.output(step_.add_op(stem, "ggml.mul_mat_id", std::move(inputs), std::move(attributes)),
                        {step_.tokens, step_.model.experts_used, weight.rows()});
  }

  StepBuilder& step_;
  Operand x_, chosen_, shares_, parts_;
  std::int64_t read_ = 0;
};

}  // namespace

Operand add_feed_forward(StepBuilder& step, const Operand& x, const std::string& unit,
                         const std::string& experts_unit) {
  const Operand normed = step.norm("ffn_norm", x);
  std::vector<Operand> parts;
  if (step.has("ffn_down_exps")) {
    Experts experts(step, normed);
    step.continue_with(experts_unit);
    experts.compute();
    step.continue_with(unit);
    parts.push_back(experts.weighted_sum());
  }
  if (step.has_any_of(Part::experts))
    throw InputError(step.place, "has weights of experts, but no ffn_down_exps.weight");
  for (const char* suffix : {"", "_shexp"})
    if (step.has(std::string("ffn_up") + suffix)) parts.push_back(perceptron(step, suffix, normed));
  std::vector<Operand> operands = {x};
  if (parts.size() > 1) parts = {step.add("ffn_sum", "Sum", parts, step.sizes_of(x))};
  if (!parts.empty()) operands.push_back(step.norm("post_ffw_norm", parts[0]));
  for (const Operand& each : step.rest(normed, [](const Weight&) { return true; })) operands.push_back(each);
  if (operands.size() == 1) return x;
  return step.add("ffn_residual", "Add", std::move(operands), step.sizes_of(x));
}

}  // namespace emplace::language
