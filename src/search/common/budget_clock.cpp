#include "search/common/budget_clock.hpp"

#include <cstdlib>
#include <ctime>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::search {

BudgetClock clock_of_name(std::string_view name) {
  if (name.empty() || name == "wall") return BudgetClock::wall;
  if (name == "cpu") return BudgetClock::cpu;
  throw InputError({}, "the environment variable {} must be 'wall' or 'cpu', got {}", clock_variable, quote(name));
}

double clock_seconds() {
  static const BudgetClock clock = [] {
    const char* const name = std::getenv(clock_variable);
    return clock_of_name(name == nullptr ? "" : name);
  }();
  timespec now{};
  clock_gettime(clock == BudgetClock::cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace emplace::search
