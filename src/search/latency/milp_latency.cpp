// The split of least latency of one sample by an integer program (CBC), from the greedy split, with a certified gap if
// the time is over first.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "search/common/deadline.hpp"
#include "search/common/units.hpp"
#include "search/exact/solver_options.hpp"
#include "search/latency/greedy_latency.hpp"
#include "search/latency/latency_program.hpp"
#include "search/latency/sample_latency.hpp"
#include "search/methods.hpp"
#include "search/pipeline/contiguous_split.hpp"

namespace emplace::search {

namespace {

struct MilpLatencyOptions {
  std::int64_t subgraphs = 1;
  SolverOptions solver;
};

void describe(MilpLatencyOptions& o, OptionVisitor& visit) {
  visit("subgraphs", o.subgraphs,
        {.min = 1,
         .max = 64,
         .help = "Largest number of contiguous subgraphs that an accelerator runs one after the other (q of the "
                 "paper)."});
  describe(o.solver, visit);
}

struct LatencySplit {
  std::vector<std::uint8_t> devices;
  Ticks latency = 0;
};

// The best of three splits: the greedy one; that of least load along one order (the paper's second baseline); and every
// unit on the CPU that runs it fastest, if one can. Nothing if none is feasible.
std::optional<LatencySplit> latency_start(const PlacerRequest& request, const std::string& place,
                                          simulate::Engine& engine) {
  const Problem& problem = *request.problem;
  std::optional<LatencySplit> best;
  const auto offer = [&](std::vector<std::uint8_t> devices) {
    const Outcome outcome = engine.evaluate({devices, {}});
    if (outcome.feasible() && (!best || outcome.makespan < best->latency))
      best = LatencySplit{std::move(devices), outcome.makespan};
  };
  if (auto greedy = greedy_latency_split(problem)) offer(std::move(*greedy));
  ContiguousSplitter splitter(request, place, split_classes(problem, true));
  if (auto split = splitter.along_one_order()) offer(std::move(*split));
  const Units units(problem);
  std::vector<std::uint8_t> device_of_unit = units.fastest;
  for (std::size_t unit = 0; unit < units.count(); ++unit) {
    std::optional<std::size_t> host;
    for (std::size_t d = 0; d < units.devices; ++d)
      if (problem.devices[d].kind == "cpu" && units.grouping.allows(unit, d) &&
          (!host || units.time[unit * units.devices + d] < units.time[unit * units.devices + *host]))
        host = d;
    if (host) device_of_unit[unit] = static_cast<std::uint8_t>(*host);
  }
  offer(units.grouping.expand(device_of_unit).device);
  return best;
}

// A time that no split exceeds: all ops one after the other, and every tensor sent out once and taken by every
// consumer.
Ticks longest_latency(const Problem& problem) {
  Ticks sum = longest_compute(problem);
  const std::size_t classes = problem.route_classes.size();
  for (std::size_t tensor = 0; tensor < problem.tensor_count(); ++tensor) {
    Ticks slowest = 0;
    for (std::size_t c = 0; c < classes; ++c) slowest = std::max(slowest, problem.transfer_time[tensor * classes + c]);
    sum += slowest * static_cast<Ticks>(problem.consumers[tensor].size() + 1);
  }
  return sum;
}

std::string too_large_for_latency(const PlacerRequest& request) {
  constexpr std::size_t most = 5'000'000;
  const Problem& problem = *request.problem;
  const std::size_t entries = problem.device_count() * (12 * problem.op_count() + 24 * problem.edge_count());
  if (entries <= most) return "";
  return fmt::format(
      "the integer program would have some {} entries, more than {}; greedy-latency takes larger problems", entries,
      most);
}

// What is known of all splits with at most that many subgraphs, beside the best one's own latency.
std::string proof_text(const IntegerAnswer& answer, std::int64_t subgraphs, const LatencySplit& best, double certain) {
  const double gap = 1 - certain / static_cast<double>(best.latency);
  const std::string others = fmt::format("no split with at most {} contiguous subgraph{} on each accelerator",
                                         subgraphs, subgraphs == 1 ? "" : "s");
  if (answer.finished && gap <= 3 * LatencyProgram::resolution) return others + " takes less";
  return fmt::format("{}: {} takes less than {} (gap {:.2f} %)",
                     answer.failed     ? "the solver failed"
                     : answer.finished ? "the program cuts devices into subgraphs in another way than the model"
                                       : "the solver ended early",
                     others, human_seconds(certain / ticks_per_second), 100 * gap);
}

PlacerResult place_milp_latency(const PlacerRequest& request, const ConfigTable& options) {
  const auto o = read_options<MilpLatencyOptions>(options);
  const Problem& problem = *request.problem;
  const Deadline deadline(request.seconds.value_or(o.solver.seconds), request.stop);
  const auto engine = make_latency_engine(problem);
  std::optional<LatencySplit> best = latency_start(request, options.place(), *engine);
  const Ticks latest = best ? best->latency : longest_latency(problem);
  IntegerAnswer answer;
  double bound = 0;  // in ticks, of all splits of the wanted kind
  if (!deadline.passed()) {
    const LatencyProgram latency(problem, static_cast<std::size_t>(o.subgraphs), latest);
    IntegerLimits limits = limits_of(o.solver, request, deadline.left());
    limits.plain_branching = true;  // cuts do not help where a row has an effect for one value of a column only
    answer = minimise(latency.program(), limits);
    bound = latency.ticks_of(answer.finished && !answer.solution.empty() ? answer.objective : answer.bound);
    if (!answer.solution.empty()) {
      LatencySplit found{latency.split_of(answer.solution), 0};
      const Outcome outcome = engine->evaluate({found.devices, {}});
      if (outcome.feasible() && (!best || outcome.makespan < best->latency)) {
        found.latency = outcome.makespan;
        best = std::move(found);
      }
    } else if (answer.finished) {
      bound = static_cast<double>(latest);
    }
    bound = std::max(bound, static_cast<double>(latency.longest_path()));
  }
  if (!best)
    return on_best_device(request, answer.failed      ? "the solver failed before it found a split"
                                   : !answer.finished ? "the solver's time ended before it found a split"
                                   : answer.solution.empty()
                                       ? "no split with that many subgraphs is feasible"
                                       : "the solver's best split exceeds a limit within its tolerance");
  const double certain = std::clamp(bound, 0.0, static_cast<double>(best->latency)) * (1 - LatencyProgram::resolution);
  return scored_split(request, best->devices,
                      fmt::format("{}; {}", sample_latency_text(problem, best->devices),
                                  proof_text(answer, o.subgraphs, *best, certain)));
}

}  // namespace

PlacerEntry milp_latency_placer() {
  PlacerEntry entry;
  entry.name = "milp-latency";
  entry.summary = "Integer program of the latency of one sample, from the greedy split, with a certified gap.";
  entry.reference = "Tarnawski et al. 2020";
  entry.role = PlacerRole::other;  // its objective is not that of the request
  entry.options = list_options<MilpLatencyOptions>;
  entry.unfit = too_large_for_latency;
  entry.place = place_milp_latency;
  return entry;
}

}  // namespace emplace::search
