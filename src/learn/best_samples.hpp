// The best samples so far as further samples of every update (self-imitation, Oh et al. 2018), with those that a
// learner is taught.
#pragma once

#include <span>
#include <vector>

#include "emplace/base/options.hpp"
#include "emplace/base/state.hpp"
#include "learn/advantages.hpp"
#include "learn/elites.hpp"

namespace emplace::learn {

// The option keep_best of a learner.
OptionMeta keep_best_meta();
// Throws InputError, at the table's place, if keep_best does not go with the returns.
void check_keep_best(const AdvantageOptions& advantages, const ConfigTable& table);

class BestSamples {
 public:
  // `keep`: without it nothing is added to a batch.
  BestSamples(bool keep, std::size_t problems) : keep_(keep), problems_(problems) {}

  [[nodiscard]] bool keep() const { return keep_; }
  // More samples for the next batch.
  void teach(std::span<const policy::Rollout> samples);
  // The batch followed by the best sample of each of its problems before it and by what was taught, which are treated
  // as if the present policy had drawn them. Then the best of them all are kept. The result is valid until the next
  // call.
  std::span<const policy::Rollout> join(std::span<const policy::Rollout> drawn);

  void save(State& state) const;
  void load(const State& state, const policy::Policy& policy);

 private:
  void keep_best_of(std::span<const policy::Rollout> samples);

  bool keep_;
  std::size_t problems_;
  EliteWindow best_{1};  // one sample a problem
  std::vector<policy::Rollout> taught_, joined_;
};

}  // namespace emplace::learn
