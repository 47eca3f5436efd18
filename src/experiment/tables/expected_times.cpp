#include "experiment/tables/expected_times.hpp"

namespace emplace::experiment {

namespace {

// An id is ROW.METHOD.SEED.
std::string method_of(const CellTask& task) {
  const std::size_t row = task.id.find('.'), seed = task.id.rfind('.');
  return row == std::string::npos || row == seed ? task.id : task.id.substr(row + 1, seed - row - 1);
}

}  // namespace

void ExpectedTimes::took(const CellTask& task, double seconds) {
  for (Times* times : {&of_method_[method_of(task)], task.recipe.empty() ? &of_placers_ : &of_trainings_}) {
    times->sum += seconds;
    ++times->count;
  }
}

double ExpectedTimes::of(const CellTask& task) const {
  if (task.recipe.empty() && task.seconds) return *task.seconds;
  const auto found = of_method_.find(method_of(task));
  if (found != of_method_.end()) return found->second.mean();
  return (task.recipe.empty() ? of_placers_ : of_trainings_).mean();
}

}  // namespace emplace::experiment
