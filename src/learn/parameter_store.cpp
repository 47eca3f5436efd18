#include "learn/parameter_store.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"

namespace emplace::learn {

ParameterStore::ParameterStore(policy::Policy& policy, AsynchronousLearner& learner, Controllers& controllers)
    : policy_(policy), learner_(learner), controllers_(controllers), batch_(controllers.count()) {
  EMPLACE_CHECK(controllers.count() == learner.controllers());
}

std::size_t ParameterStore::open() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(batch_, [](const std::optional<Batch>& batch) { return batch.has_value(); }));
}

std::uint64_t ParameterStore::next_number() {
  if (lost_.empty()) return ++given_;
  const std::uint64_t number = lost_.back();
  lost_.pop_back();
  return number;
}

void ParameterStore::give(const std::function<SamplingRequest(std::uint64_t number)>& request,
                          const std::function<bool(std::size_t open)>& may_begin) {
  for (std::size_t c = 0; c < batch_.size(); ++c) {
    if (batch_[c] || (open() > 0 && !may_begin(open()))) continue;
    batch_[c] = {next_number(), updates_};
    controllers_.give(c, request(batch_[c]->number), learner_.save_controller(c), policy_.parameters());
  }
}

ParameterStore::Update ParameterStore::next() {
  Contribution contribution = controllers_.next();
  std::optional<Batch>& batch = batch_.at(contribution.controller);
  EMPLACE_CHECK(batch.has_value(), "controller {} has no batch", contribution.controller);
  const std::span<float> gradient = policy_.gradient();
  if (contribution.report.used_samples > 0) {
    EMPLACE_CHECK(contribution.gradient.size() == gradient.size());
    std::ranges::copy(contribution.gradient, gradient.begin());
  }
  Update update{.rollouts = std::move(contribution.rollouts),
                .columns = learner_.apply(policy_, contribution.report),
                .controller = contribution.controller,
                .staleness = updates_ - batch->version};
  learner_.load_controller(contribution.controller, contribution.state);
  batch.reset();
  ++updates_;
  return update;
}

void ParameterStore::save(State& state) const {
  std::vector<std::uint64_t> numbers = lost_;
  for (const std::optional<Batch>& batch : batch_)
    if (batch) numbers.push_back(batch->number);
  std::ranges::sort(numbers);
  put(state, "open_batches", std::move(numbers));
}

void ParameterStore::load(const State& state, std::uint64_t updates) {
  lost_ = get<std::uint64_t>(state, "open_batches");
  updates_ = updates;
  given_ = updates + lost_.size();  // each batch that was given is applied or open
  for (std::size_t i = 0; i < lost_.size(); ++i)
    if (lost_[i] < 1 || lost_[i] > given_ || (i > 0 && lost_[i] <= lost_[i - 1]))
      throw InputError("checkpoint", "array open_batches has {} at position {}, wanted ascending numbers from 1 to {}",
                       lost_[i], i, given_);
  std::ranges::reverse(lost_);
  batch_.assign(batch_.size(), std::nullopt);
}

}  // namespace emplace::learn
