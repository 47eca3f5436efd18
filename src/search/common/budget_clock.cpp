#include "search/common/budget_clock.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <cstdlib>
#include <ctime>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::search {

namespace {

double seconds_on(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// What this process had computed when it was forked: the system starts the count of a child at 0, and a deadline of the
// parent would be that much later in it.
double before_fork = 0;
double at_fork = 0;  // in the parent

double computed() {
  rusage children{};
  getrusage(RUSAGE_CHILDREN, &children);
  return before_fork + seconds_on(CLOCK_PROCESS_CPUTIME_ID) + seconds_of(children.ru_utime) +
         seconds_of(children.ru_stime);
}

[[maybe_unused]] const int follows_forks =
    pthread_atfork([] { at_fork = computed(); }, nullptr, [] { before_fork = at_fork; });

BudgetClock named_clock() {
  static const BudgetClock clock = [] {
    const char* const name = std::getenv(clock_variable);
    return clock_of_name(name == nullptr ? "" : name);
  }();
  return clock;
}

}  // namespace

BudgetClock clock_of_name(std::string_view name) {
  if (name.empty() || name == "wall") return BudgetClock::wall;
  if (name == "cpu") return BudgetClock::cpu;
  throw InputError({}, "the environment variable {} must be 'wall' or 'cpu', got {}", clock_variable, quote(name));
}

double clock_seconds(BudgetClock clock) { return clock == BudgetClock::cpu ? computed() : seconds_on(CLOCK_MONOTONIC); }

void check_clock(int ranks) {
  if (named_clock() == BudgetClock::cpu && ranks > 1)
    throw InputError(
        {},
        "the environment variable {} must be 'wall' or not set with {} ranks: 'cpu' is what one process computes, "
        "and the first rank waits for the others",
        clock_variable, ranks);
}

double clock_seconds() { return clock_seconds(named_clock()); }

}  // namespace emplace::search
