// Branch and bound for the step time over devices and orders together (schedule_search.hpp), starting from the best of
// the list schedulers.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"
#include "emplace/search/bound.hpp"
#include "problem/cuts.hpp"
#include "problem/order.hpp"
#include "search/common/deadline.hpp"
#include "search/exact/schedule_search.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

struct BranchAndBoundOptions {
  std::int64_t nodes = 20'000'000;
  std::int64_t nodes_per_evaluation = 200;
  std::int64_t memory = 256;
  std::int64_t ops = 300;
};

void describe(BranchAndBoundOptions& o, OptionVisitor& visit) {
  visit("nodes", o.nodes,
        {.min = 1, .max = 1e15, .help = "Largest number of partial schedules if no --seconds is given."});
  visit("nodes_per_evaluation", o.nodes_per_evaluation,
        {.min = 1, .max = 1e9, .help = "With --evaluations: partial schedules per evaluation."});
  visit("memory", o.memory,
        {.min = 1, .max = 1e6, .unit = "MiB", .help = "Memory for a table of states already searched."});
  visit("ops", o.ops, {.min = 1, .max = 2000, .help = "Problems with more ops are placed by list schedulers only."});
}

// Evaluates placements within the budgets, and keeps the best.
class Best {
 public:
  explicit Best(const PlacerRequest& request) : request_(request) {}

  [[nodiscard]] bool may_evaluate() const {
    return result.evaluations == 0 || !request_.evaluations || result.evaluations < *request_.evaluations;
  }
  void evaluate(Placement placement) {
    if (request_.schedule == Schedule::fifo) placement.order.clear();
    const evaluate::EvaluationJob jobs[] = {{0, &placement}};
    take(placement, request_.evaluator->evaluate(jobs).front(), 1);
  }
  void take(const Placement& placement, const Outcome& outcome, std::uint64_t evaluations) {
    if (result.evaluations == 0 || better(outcome, result.outcome)) {
      result.placement = placement;
      result.outcome = outcome;
    }
    result.evaluations += evaluations;
  }
  PlacerResult result;

 private:
  const PlacerRequest& request_;
};

// The placements with which the search begins: the request's start and those of the list schedulers, each with an
// order.
std::vector<Placement> starting_placements(const PlacerRequest& request, const Deadline& deadline, Best& best) {
  std::vector<Placement> placements;
  const auto add = [&](Placement placement) {
    if (placement.order.empty()) placement.order = upward_rank_order(*request.problem, placement.device);
    placements.push_back(std::move(placement));
  };
  if (request.start != nullptr) {
    best.evaluate(*request.start);
    add(*request.start);
  }
  for (const char* method : {"heft", "peft", "cpop"}) {
    if (best.result.evaluations > 0 && (deadline.passed() || !best.may_evaluate())) break;
    PlacerRequest part = request;
    if (request.evaluations) part.evaluations = *request.evaluations - best.result.evaluations;
    const PlacerResult result = place_with(method, part, ConfigTable{});
    best.take(result.placement, result.outcome, result.evaluations);
    add(result.placement);
  }
  return placements;
}

PlacerResult branch_and_bound(const PlacerRequest& request, const ConfigTable& table) {
  const auto o = read_options<BranchAndBoundOptions>(table);
  const Problem& problem = *request.problem;
  const Deadline deadline(request.seconds, request.stop);
  Best best(request);
  const std::vector<Placement> starts = starting_placements(request, deadline, best);
  PlacerResult& result = best.result;
  const LowerBound quick = lower_bound(problem);
  result.lower_bound = quick.ticks;
  result.bound_by = quick.method;
  const auto prove = [&] {
    result.proved_optimal = result.outcome.feasible() && result.outcome.makespan == result.lower_bound;
    return result;
  };
  if (problem.op_count() > static_cast<std::size_t>(o.ops)) {
    result.note =
        fmt::format("the best of the list schedulers, as branch and bound does not search {} ops, only up to {}",
                    problem.op_count(), o.ops);
    return prove();
  }
  if (deadline.passed() || !best.may_evaluate()) {
    result.note = "the budget ended before the search";
    return prove();
  }

  const StepModel model(problem, deadline);
  Ticks below = never;
  for (const Placement& start : starts)
    if (count_cuts(problem, start.device.data()) <= problem.max_cuts) below = std::min(below, model.makespan(start));
  SearchLimits limits;
  limits.nodes = static_cast<std::uint64_t>(o.nodes);
  if (request.seconds) limits.nodes = std::numeric_limits<std::uint64_t>::max();
  const auto per_evaluation = static_cast<std::uint64_t>(o.nodes_per_evaluation);
  if (request.evaluations && *request.evaluations < limits.nodes / per_evaluation)
    limits.nodes = per_evaluation * *request.evaluations;
  limits.table_bytes = static_cast<std::size_t>(o.memory) << 20;
  limits.stop = [&] { return deadline.passed(); };
  const SearchResult search = search_schedules(model, below, limits, [&](const Placement& placement, Ticks) {
    best.evaluate(placement);
    return best.may_evaluate();
  });

  if (search.complete && search.best == never) {
    result.note = "no placement is feasible: all of them have been searched";
    return prove();
  }
  if (search.lower_bound > result.lower_bound) {
    result.lower_bound = search.lower_bound;
    result.bound_by.clear();
  }
  prove();
  if (result.proved_optimal) return result;
  std::string left_out = left_out_of_model(problem, request.schedule);
  if (problem.max_cuts != no_cut_limit) left_out += fmt::format("{}the limit on cuts", left_out.empty() ? "" : " and ");
  result.note = search.complete ? fmt::format("the search is complete, but it leaves out {}", left_out)
                                : fmt::format("the search ended early, after {} partial schedules", search.nodes);
  return result;
}

}  // namespace

PlacerEntry branch_and_bound_placer() {
  PlacerEntry entry;
  entry.name = "branch-and-bound";
  entry.summary = "Exact search over devices and orders, with a certified bound whenever it ends.";
  entry.reference = "Orr, Sinnen (2020)";
  entry.only_for = Objective::step;
  entry.role = PlacerRole::exact;
  entry.options = list_options<BranchAndBoundOptions>;
  entry.from_start = true;
  entry.place = branch_and_bound;
  return entry;
}

}  // namespace emplace::search
