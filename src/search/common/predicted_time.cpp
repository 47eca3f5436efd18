#include "search/common/predicted_time.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"

namespace emplace::search {

namespace {

// Nanoseconds for each op and edge, and for each of them on each device; measured as bench/README.md says.
struct MethodTime {
  std::string_view method;
  double of_item, of_pair;
  // Number of placements that are tried one after the other: this, or if `for_devices` this for each device.
  double candidates = 1;
  bool for_devices = false;
  double of_program_edge = 0;  // for each edge, if a linear program is solved
};
constexpr MethodTime method_times[] = {
    {"single", 50, 80, 1, true},
    {"contiguous", 100, 300, 3, true},
    {"cpu-only", 130, 5},
    {"auto", 130, 5},
    {"expert", 130, 5},
    {"round-robin", 130, 5},
    {"m-topo", 150, 5},
    {"greedy", 200, 6},
    {"heft", 400, 25},
    {"cpop", 550, 17},
    {"peft", 450, 32},
    {"m-etf", 600, 15},
    {"m-sct", 650, 15, 1, false, 100'000},
    {"scotch", 2400, 10, 4},
    {"mincut", 2400, 10, 4},
    {"metis", 5000, 10, 4},
    {"anneal", 700, 10},
    {"tabu", 700, 10},
    {"climb", 1500, 10},
    {"layers", 1500, 10},
    {"brkga", 1000, 10},
    {"learned", 2500, 20},
    {"contracted", 200, 5},
    {"layered", 1500, 5},
};

}  // namespace

PredictedTime predicted_time(std::string_view method, const Problem& problem) {
  const auto* const known = std::ranges::find(method_times, method, &MethodTime::method);
  const MethodTime time = known != std::end(method_times) ? *known : MethodTime{method, 600, 65};
  const auto devices = static_cast<double>(problem.device_count());
  const auto items = static_cast<double>(problem.op_count() + problem.edge_count());
  const auto edges = static_cast<double>(problem.edge_count());
  const double program = edges <= most_edges_of_program ? time.of_program_edge * edges : 0;
  const double whole = 1e-9 * (items * (time.of_item + time.of_pair * devices) + program);
  return {whole, whole / (time.candidates * (time.for_devices ? devices : 1))};
}

bool is_in_best(const PlacerEntry& entry, PlacerRole role, Objective objective) {
  return entry.role == role && entry.only_for.value_or(objective) == objective &&
         entry.in_best_for.value_or(objective) == objective;
}

std::vector<std::string> quick_placers_by_time(const Problem& problem, Objective objective) {
  std::vector<std::pair<double, std::string>> order;
  for (const PlacerEntry& entry : placers()) {
    if (!is_in_best(entry, PlacerRole::quick, objective)) continue;
    const PredictedTime time = predicted_time(entry.name, problem);
    order.emplace_back(entry.name == "single" ? time.first : time.whole, entry.name);
  }
  std::ranges::stable_sort(order, {}, [](const auto& each) { return each.first; });
  std::vector<std::string> names;
  for (auto& [time, name] : order) names.push_back(std::move(name));
  return names;
}

std::string why_too_long(std::string_view method, const PlacerRequest& request) {
  constexpr double may_be_missing = 1;
  if (!request.seconds) return {};
  const double first = predicted_time(method, *request.problem).first;
  if (first <= *request.seconds + may_be_missing) return {};
  return fmt::format("it cannot be stopped, takes about {} for {} ops, and the budget has {}", human_seconds(first),
                     request.problem->op_count(), human_seconds(*request.seconds));
}

}  // namespace emplace::search
