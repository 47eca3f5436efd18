// The clock by which budgets of seconds are counted.
#pragma once

#include <cstdint>
#include <string_view>

namespace emplace::search {

// wall: real time. cpu: what this process computes, so that searches can be measured beside other programs; not for
// several ranks, of which the first waits for the others (check_clock). What a child process computes counts in the
// child while it works (a deadline of the parent holds there), and in the parent once it has ended.
enum class BudgetClock : std::uint8_t { wall, cpu };

// The environment variable with the name of the clock.
inline constexpr const char* clock_variable = "EMPLACE_CLOCK";

// `wall`, the clock of an empty name, or `cpu`. InputError for others.
BudgetClock clock_of_name(std::string_view name);

// InputError if the environment names no clock, or one that does not count budgets of so many ranks.
void check_clock(int ranks);

// The time now on a clock, or on the one that the environment names, in seconds since any one moment.
double clock_seconds(BudgetClock clock);
double clock_seconds();

}  // namespace emplace::search
