// Keeps the engines of one problem from call to call: making one takes as long as several simulations.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/simulate/engine.hpp"
#include "simulate/batch/batch.hpp"

namespace emplace::python {

class EnginePool {
 public:
  explicit EnginePool(const Problem& problem) : problem_(problem) {}

  std::unique_ptr<simulate::Engine> take(Schedule schedule, Objective objective);
  void give_back(Schedule schedule, Objective objective, std::unique_ptr<simulate::Engine> engine);

  // An engine that simulates 16 placements in lock step under one order; null if the problem does not allow it. Only
  // engines with the order of the last call are kept.
  std::unique_ptr<simulate::BatchEngine> take_batch(std::span<const std::uint32_t> order);
  void give_back(std::span<const std::uint32_t> order, std::unique_ptr<simulate::BatchEngine> engine);

 private:
  const Problem& problem_;
  std::mutex mutex_;
  std::map<std::pair<Schedule, Objective>, std::vector<std::unique_ptr<simulate::Engine>>> engines_;
  std::vector<std::uint32_t> batch_order_;
  std::vector<std::unique_ptr<simulate::BatchEngine>> batch_engines_;
  std::optional<bool> batch_supports_;
};

}  // namespace emplace::python
