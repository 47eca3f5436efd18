#include "learn/ascent.hpp"

namespace emplace::learn {

nn::StepReport Ascent::step(policy::Policy& policy, double progress) {
  const std::span<float> gradient = policy.gradient();
  for (float& slope : gradient) slope = -slope;  // optimisers minimise
  return optimizer_.step(policy.parameters(), gradient, progress);
}

void Ascent::save(State& state) const {
  for (auto& [name, array] : optimizer_.save()) state["optimizer/" + name] = array;
}

void Ascent::load(const State& state, const policy::Policy& policy) {
  optimizer_.load(arrays_under(state, "optimizer/"), policy.parameter_count());
}

}  // namespace emplace::learn
