// Splits of a pipeline by an integer program (CBC), contiguous or any, with a certified gap if the time is over first.
// This is the entry `milp`, which is also for steps (milp_step.cpp).
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/search/scorer.hpp"
#include "search/exact/milp_step.hpp"
#include "search/exact/solver_options.hpp"
#include "search/methods.hpp"
#include "search/pipeline/contiguous_split.hpp"
#include "search/pipeline/split_descent.hpp"
#include "search/pipeline/split_program.hpp"
#include "simulate/pipeline/pipeline.hpp"

namespace emplace::search {

namespace {

struct MilpOptions {
  std::string contiguous = "yes";
  std::int64_t ideals = 20000;
  SolverOptions solver;
};

void describe(MilpOptions& o, OptionVisitor& visit) {
  visit("contiguous", o.contiguous,
        {.choices = {"yes", "no"},
         .help = "For the objective pipeline: 'yes' allows only splits in which no path of forward ops leaves a device "
                 "(a CPU too) and enters it again; 'no' allows any split."});
  visit("ideals", o.ideals,
        {.min = 2,
         .max = 1e8,
         .help = "For the objective pipeline: up to this number of ideals the solver starts from the split of dp, "
                 "above it of dpl."});
  describe(o.solver, visit);
}

// A feasible split to start from, by the engine; nothing if none is known.
struct Start {
  std::vector<std::uint8_t> devices;
  Ticks load = 0;
};

std::optional<Start> contiguous_start(const PlacerRequest& request, const MilpOptions& o, const std::string& place,
                                      simulate::Engine& engine) {
  ContiguousSplitter splitter(request, place, split_classes(*request.problem, true));
  auto split = splitter.along_one_order();
  if (!splitter.stopped() && splitter.find_ideals(static_cast<std::size_t>(o.ideals)))
    if (auto better_one = splitter.over_ideals()) split = std::move(better_one);
  if (!split) return std::nullopt;
  const Outcome outcome = engine.evaluate({*split, {}});
  if (outcome.why == Infeasible::too_many_cuts) return std::nullopt;  // which the dynamic programs do not limit
  EMPLACE_CHECK(outcome.feasible());
  return Start{std::move(*split), outcome.makespan};
}

// On programs that are too large, CBC exceeds its limits of time and memory.
std::string too_large(const PlacerRequest& request) {
  if (request.objective == Objective::step) return too_large_for_step_program(*request.problem);
  constexpr std::size_t most = 5'000'000;
  const Problem& problem = *request.problem;
  const std::size_t entries = problem.device_count() * (problem.op_count() + 12 * problem.edge_count());
  if (entries <= most) return "";
  return fmt::format("the integer program would have some {} entries, more than {}; dp and dpl take larger problems",
                     entries, most);
}

struct Solved {
  IntegerAnswer answer;
  double bound = 0;  // ticks; the solver's lower bound for splits of the wanted kind
};

// Replaces `best` by a better split, if the solver finds one. The program leaves out times that are tiny beside the
// load that it starts from, so it is solved again from a load that is much smaller.
Solved solve(const PlacerRequest& request, bool contiguous, const Deadline& deadline, const SolverOptions& options,
             simulate::Engine& engine, std::optional<Start>& best) {
  constexpr Ticks much_smaller = 1000;
  while (true) {
    SplitProgramOptions wanted{request.pipeline, contiguous, {}};
    if (best) wanted.better_than = best->load;
    const SplitProgram split(*request.problem, wanted);
    Solved solved;
    IntegerAnswer& answer = solved.answer;
    if (!deadline.passed()) answer = minimise(split.program(), limits_of(options, request, deadline.left()));
    const bool none_better = answer.finished && answer.solution.empty() && best;
    solved.bound = none_better       ? static_cast<double>(best->load) * (1 - SplitProgram::resolution)
                   : answer.finished ? split.ticks_of(answer.objective)
                                     : split.ticks_of(answer.bound);
    if (answer.solution.empty()) return solved;
    Start found{split.split_of(answer.solution), 0};
    const Outcome outcome = engine.evaluate({found.devices, {}});
    if (!outcome.feasible() || (best && outcome.makespan >= best->load)) return solved;
    found.load = outcome.makespan;
    best = std::move(found);
    if (!answer.finished || best->load > split.scale() / much_smaller) return solved;
  }
}

PlacerResult place_split_by_milp(const PlacerRequest& request, const ConfigTable& options) {
  const auto o = read_options<MilpOptions>(options);
  const Deadline deadline(request.seconds.value_or(o.solver.seconds), request.stop);
  const auto engine = simulate::make_pipeline_engine(*request.problem, request.pipeline);
  std::optional<Start> best = contiguous_start(request, o, options.place(), *engine);

  const bool contiguous = o.contiguous == "yes";
  if (best && !contiguous) best->load = descend(*request.problem, request.pipeline, best->devices, deadline);
  const Solved solved = solve(request, contiguous, deadline, o.solver, *engine, best);
  const IntegerAnswer& answer = solved.answer;
  const char* const kind = contiguous ? "contiguous split" : "split";
  if (!best)
    return on_best_device(request, answer.failed      ? "the solver failed before it found a split"
                                   : !answer.finished ? "the solver's time ended before it found a split"
                                   : answer.solution.empty()
                                       ? fmt::format("no {} is feasible", kind)
                                       : "the solver's best split exceeds a limit within its tolerance");

  Scorer scorer(request);
  scorer.score(Placement{best->devices, {}});
  PlacerResult result = scorer.result();
  const double certain =
      std::clamp(solved.bound, 0.0, static_cast<double>(best->load)) * (1 - SplitProgram::resolution);
  const double gap = 1 - certain / static_cast<double>(best->load);
  const bool proved = answer.finished && gap <= 3 * SplitProgram::resolution;
  result.proved_optimal = proved && !contiguous;
  if (!contiguous) result.lower_bound = static_cast<Ticks>(std::ceil(certain));
  if (!proved)
    result.note = fmt::format("{}: no {} has a load below {} (gap {:.2f} %)",
                              answer.failed     ? "the solver failed"
                              : answer.finished ? "the solver's best split exceeds a limit within its tolerance"
                                                : "the solver ended early",
                              kind, human_seconds(certain / ticks_per_second), 100 * gap);
  else if (contiguous)
    result.note = "no contiguous split has a smaller load";
  return result;
}

PlacerResult place_milp(const PlacerRequest& request, const ConfigTable& options) {
  return request.objective == Objective::pipeline ? place_split_by_milp(request, options)
                                                  : place_step_by_milp(request, options);
}

}  // namespace

PlacerEntry milp_placer() {
  PlacerEntry entry;
  entry.name = "milp";
  entry.summary = "Integer program with a certified gap: the step of few ops, or the split of least pipeline load.";
  entry.reference = "Tarnawski et al. 2020; Davidovic et al. 2007";
  entry.role = PlacerRole::exact;
  entry.in_best_for = Objective::pipeline;  // for steps branch and bound is faster and finds as much
  entry.options = list_options<MilpOptions>;
  entry.unfit = too_large;
  entry.place = place_milp;
  return entry;
}

}  // namespace emplace::search
