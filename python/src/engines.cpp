#include "engines.hpp"

#include <algorithm>

#include "simulate/pipeline/pipeline.hpp"

namespace emplace::python {

std::unique_ptr<simulate::Engine> EnginePool::take(Schedule schedule, Objective objective) {
  {
    const std::lock_guard lock(mutex_);
    if (auto& kept = engines_[{schedule, objective}]; !kept.empty()) {
      auto engine = std::move(kept.back());
      kept.pop_back();
      return engine;
    }
  }
  return objective == Objective::pipeline ? simulate::make_pipeline_engine(problem_)
                                          : simulate::make_exact_engine(problem_, schedule);
}

void EnginePool::give_back(Schedule schedule, Objective objective, std::unique_ptr<simulate::Engine> engine) {
  const std::lock_guard lock(mutex_);
  engines_[{schedule, objective}].push_back(std::move(engine));
}

std::unique_ptr<simulate::BatchEngine> EnginePool::take_batch(std::span<const std::uint32_t> order) {
  {
    const std::lock_guard lock(mutex_);
    if (!batch_supports_) batch_supports_ = simulate::batch_supports(problem_);
    if (!*batch_supports_) return nullptr;
    if (!std::ranges::equal(order, batch_order_)) {
      batch_engines_.clear();
      batch_order_.assign(order.begin(), order.end());
    }
    if (!batch_engines_.empty()) {
      auto engine = std::move(batch_engines_.back());
      batch_engines_.pop_back();
      return engine;
    }
  }
  return simulate::make_batch_engine(problem_, order);
}

void EnginePool::give_back(std::span<const std::uint32_t> order, std::unique_ptr<simulate::BatchEngine> engine) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::equal(order, batch_order_)) batch_engines_.push_back(std::move(engine));
}

}  // namespace emplace::python
