// emplace place METHOD PROBLEM [key=value ...] [-o FILE]
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "app/command.hpp"
#include "app/curve.hpp"
#include "app/objective.hpp"
#include "app/result_json.hpp"
#include "app/serving.hpp"
#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/problem/grouping.hpp"
#include "emplace/search/placer.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/run/next_commands.hpp"
#include "experiment/run/placing_backend.hpp"
#include "experiment/run/trained_policy.hpp"
#include "search/common/first_placement.hpp"
#include "serving/cluster_json.hpp"
#include "simulate/pipeline/pipeline.hpp"
#include "verdict/infeasible.hpp"
#include "verdict/references.hpp"

namespace emplace::app {

namespace place_command {

struct Arguments {
  std::string method, problem, policy, start, output, curve;
  std::vector<std::string> options;
  GraphArguments graph;
  ConstraintArguments constraints;
  ScheduleArgument schedule;
  ObjectiveArgument objective;
  std::uint64_t seed = 0;
  std::string grouping;  // of `units`
  std::optional<std::uint64_t> units, evaluations;
  std::optional<double> seconds;
  bool json = false;
};

// Callbacks that the placer calls during its search: they draw the progress line and report whether a stop was
// requested.
class Watch {
 public:
  explicit Watch(std::optional<double> seconds) : seconds_(seconds) {}

  void attach(search::PlacerRequest& request) {
    request.stop = [this] {
      if (seconds_) update(elapsed() / *seconds_);
      return stop_requested();
    };
    request.on_progress = [this](const search::PlacerProgress& news) {
      curve_.add(elapsed(), news.evaluations, news.best);
      text_ = fmt::format("{}: {}{} so far, {} evaluations", news.method,
                          news.best.timed() ? human_seconds(to_seconds(news.best.makespan)) : "nothing",
                          news.best.feasible() || !news.best.timed() ? "" : " (infeasible)", news.evaluations);
      if (!seconds_) update(news.progress);
    };
  }
  [[nodiscard]] double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void finish(const search::PlacerResult& result) {
    progress_.finish();
    curve_.add(result.steps);
    curve_.add(elapsed(), result.evaluations, result.outcome);
  }
  [[nodiscard]] const Curve& curve() const { return curve_; }

 private:
  using Clock = std::chrono::steady_clock;
  // Placers run a little longer than their budget, so the line shows 100 % only after the end.
  void update(double fraction) { progress_.update(std::min(fraction, 0.999), text_); }

  std::optional<double> seconds_;
  Progress progress_{true};
  Curve curve_;
  std::string text_ = "searching";
  Clock::time_point start_ = Clock::now();
};

void print_result(const Arguments& arguments, const Problem& problem, Objective objective,
                  const search::PlacerResult& result, const verdict::Verdict& verdict) {
  const auto time = [](const Outcome& outcome, const char* none) {
    return outcome.timed() ? human_seconds(to_seconds(outcome.makespan)) : none;
  };
  fmt::print("{} on {}: {}{}\n", arguments.method, printable(problem.name),
             objective == Objective::pipeline ? "load " : "", time(result.outcome, "no time"));
  if (!result.outcome.feasible())
    fmt::print("not feasible: {}\n",
               simulate::reason_of(objective, problem, result.outcome, result.placement.device, {}));
  if (!result.note.empty()) fmt::print("{}\n", result.note);
  if (!arguments.policy.empty() && !arguments.evaluations && !arguments.seconds)
    fmt::print(
        "this is the policy's most probable placement; --evaluations {} also samples others and keeps the best\n",
        500 * result.evaluations);
  if (!result.steps.empty()) {
    TextTable steps({"better by", "after", "evaluations", objective == Objective::pipeline ? "load" : "step time"});
    for (const search::PlacerStep& step : result.steps)
      if (step.is_new_best)
        steps.add({step.method, human_seconds(step.seconds), fmt::format("{}", step.evaluations),
                   time(step.outcome, "none")});
    fmt::print("\n{}", steps.str());
  }
  TextTable table({"device", "ops", "work"});
  for (std::size_t d = 0; d < problem.device_count(); ++d) {
    std::size_t ops = 0;
    Ticks work = 0;
    for (std::size_t op = 0; op < problem.op_count(); ++op)
      if (result.placement.device[op] == d) {
        ++ops;
        work += std::max<Ticks>(0, problem.time(OpId{op}, DeviceId{d}));
      }
    table.add({problem.devices[d].name, fmt::format("{}", ops), human_seconds(to_seconds(work))});
  }
  fmt::print("\n{}", table.str());
  if (!arguments.output.empty()) fmt::print("\nwritten to {}\n", arguments.output);
  fmt::print("\n{}", verdict::text_of(verdict));
}

// `place --policy RUN PROBLEM`: the first positional is the problem.
void settle_method(Arguments& arguments) {
  if (arguments.policy.empty()) {
    if (arguments.method.empty()) throw InputError("command line", "a placer is missing; see `emplace list placers`");
    if (arguments.problem.empty()) throw InputError("command line", "a problem is missing after {}", arguments.method);
    return;
  }
  if (arguments.method.empty()) throw InputError("command line", "a problem is missing after --policy RUN");
  if (!arguments.problem.empty())
    throw InputError("command line", "--policy replaces the method; found {} and {} with it", quote(arguments.method),
                     quote(arguments.problem));
  if (!arguments.start.empty())
    throw InputError("--start", "is for placers that search; a policy does not use a first placement");
  arguments.problem = std::exchange(arguments.method, "");
}

// The proof of a placer that searched all placements and found none feasible, without the note that said so; "" if
// there is none.
std::string take_proof(search::PlacerResult& result) {
  constexpr std::string_view proved = "no placement is feasible: ";
  if (result.outcome.feasible() || !result.note.starts_with(proved)) return {};
  return std::exchange(result.note, "").substr(proved.size());
}

// The placer's own options. InputError for those of the command.
ConfigTable placer_options(const Arguments& arguments) {
  ConfigTable options("command line");
  experiment::apply_overrides(options, arguments.options);
  for (const char* own : {"seconds", "evaluations", "seed", "schedule", "objective"})
    if (options.contains(own))
      throw InputError("command line", "'{}' is an option of the command, not of the placer: write --{} VALUE", own,
                       own);
  return options;
}

void check(const Arguments& arguments) {
  if (arguments.evaluations && *arguments.evaluations == 0)
    throw InputError("--evaluations", "a budget must be above zero, found 0");
  if (arguments.seconds && !(*arguments.seconds > 0))
    throw InputError("--seconds", "a budget must be above zero, found {}", *arguments.seconds);
  if (!arguments.grouping.empty() && !arguments.units)
    throw InputError("--grouping", "wanted --units too: how many units are placed");
  for (const std::string& output : {arguments.output, arguments.curve})
    refuse_overwriting(output, {arguments.problem, arguments.start, arguments.policy});
  refuse_equal_outputs({{"--output", arguments.output}, {"--curve", arguments.curve}});
}

// What was placed, how, and what was found.
struct Placed {
  const Problem& problem;
  evaluate::Scoring scoring;
  search::PlacerResult result;
  double seconds = 0;    // of search
  bool stopped = false;  // the search, on request
};

struct Judged {
  verdict::References references;
  search::ResultProof proof;
  verdict::Subject subject;
  verdict::Verdict verdict;
};
Judged judge(const Arguments& arguments, Placed& placed, search::PlacerRequest request) {
  // A portfolio has run the quick placers itself.
  const bool are_known = placed.stopped || !placed.result.steps.empty();
  // One device and the expert are looked at after a stop too.
  request.stop = placed.stopped ? std::function<bool()>() : stop_requested;
  Judged judged;
  judged.references =
      verdict::find_references(request, are_known ? verdict::QuickTime{.predicted = 0} : verdict::QuickTime());
  judged.proof = search::proof_of(placed.result, arguments.method, judged.references.bound);
  judged.references.is_quick_bound = judged.references.bound.method == judged.proof.bound.method;
  judged.references.bound = judged.proof.bound;
  judged.subject = {.method = arguments.method,
                    .outcome = placed.result.outcome,
                    .proved_optimal = judged.proof.optimal,
                    .why_nothing = take_proof(placed.result),
                    .commands = experiment::next_commands({.source = arguments.problem,
                                                           .options = arguments.graph.options(),
                                                           .constraints = arguments.constraints.constraints,
                                                           .schedule = placed.scoring.schedule,
                                                           .objective = placed.scoring.objective,
                                                           .pipeline = placed.scoring.pipeline,
                                                           .file = arguments.output,
                                                           .problem = &placed.problem,
                                                           .placement = &placed.result.placement}),
                    .seconds = placed.seconds};
  verdict::explain_infeasible(judged.subject, placed.problem, placed.result.placement, placed.scoring);
  judged.verdict = verdict::judge(placed.scoring.objective, judged.subject, judged.references);
  return judged;
}

void print_json_result(const Arguments& arguments, const Placed& placed, const Judged& judged) {
  const search::PlacerResult& result = placed.result;
  print_json(
      to_json(PlacementReport{arguments.method, &placed.problem, &result.placement, result.outcome,
                              placed.scoring.schedule, placed.scoring.objective, result.evaluations, placed.seconds,
                              judged.proof.bound.ticks, judged.proof.optimal, &judged.references, &judged.verdict}));
  if (!result.note.empty()) fmt::print(stderr, "{}\n", result.note);
  if (!judged.subject.why_nothing.empty())
    fmt::print(stderr, "no placement is feasible: {}\n", judged.subject.why_nothing);
}

// A plan on a cluster has no ops, so that what is said about ops is refused.
ExitCode place_nodes(const Arguments& arguments, const ConfigTable& options) {
  const auto refuse = [&](const char* option, bool given) {
    refuse_for_cluster(arguments.problem, given ? option : nullptr);
  };
  refuse("--policy", !arguments.policy.empty());
  refuse("--units and --grouping", arguments.units.has_value() || !arguments.grouping.empty());
  refuse("--curve", !arguments.curve.empty());
  refuse("--schedule", !arguments.schedule.name.empty());
  refuse("--objective", arguments.objective.get() != Objective::step);
  refuse(arguments.graph.given(), true);
  refuse("--pin, --forbid, --together and --max-cuts", !arguments.constraints.constraints.empty());
  return place_on_cluster({.method = arguments.method,
                           .file = arguments.problem,
                           .start = arguments.start,
                           .output = arguments.output,
                           .options = options,
                           .seed = arguments.seed,
                           .evaluations = arguments.evaluations,
                           .seconds = arguments.seconds,
                           .json = arguments.json});
}

ExitCode run_place(Arguments arguments, dist::World* world) {
  set_work_to_save(false);  // until the search begins
  settle_method(arguments);
  check(arguments);
  const ConfigTable options = placer_options(arguments);
  if (serving::is_cluster_file(arguments.problem)) return place_nodes(arguments, options);
  std::optional<experiment::TrainedPolicy> trained;
  if (!arguments.policy.empty()) {
    trained = experiment::TrainedPolicy::load(arguments.policy);
    arguments.method = trained->recipe().options.policy;
  }
  source::LoadedProblem loaded = load_all_and_warn(arguments.problem, arguments.graph);
  arguments.constraints.apply(loaded.problem);
  if (arguments.units) {
    const GroupingKind kind =
        arguments.grouping.empty() ? GroupingKind::colocation : grouping_of(arguments.grouping, "--grouping");
    const Grouping units = make_grouping(loaded.problem, kind, *arguments.units, "--units", arguments.seed);
    loaded.problem = with_groups(std::move(loaded.problem), units);
  }
  const Problem& problem = loaded.problem;
  if (trained)
    if (const std::string unseen = trained->unseen_types(problem); !unseen.empty())
      log_warning("{}: {}", trained->run(), unseen);
  ScheduledPlacement start;
  if (!arguments.start.empty()) {
    search::refuse_start_where_unused("--start", arguments.method);
    start = read_placement_and_warn(arguments.start, problem, arguments.schedule);
  }
  const evaluate::Scoring scoring{arguments.schedule.get().value_or(start.schedule), arguments.objective.get(),
                                  arguments.objective.pipeline()};
  const experiment::PlacingBackend backend = experiment::make_placing_backend(world, problem, scoring);
  search::PlacerRequest request = experiment::request_for(loaded, scoring, backend);
  request.seed = arguments.seed;
  request.seconds = arguments.seconds;
  request.evaluations = arguments.evaluations;
  if (!arguments.start.empty()) request.start = &start.placement;

  // Opened before the search, so that a file that cannot be written fails now and not after hours of search.
  std::optional<FileWriter> output;
  std::optional<FileWriter> curve;
  if (!arguments.output.empty()) output.emplace(arguments.output);
  if (!arguments.curve.empty()) curve.emplace(arguments.curve);

  Watch watch(arguments.seconds);
  watch.attach(request);
  set_work_to_save(true);
  Placed placed{problem, scoring,
                trained ? trained->place(loaded, request) : search::place_with(arguments.method, request, options)};
  placed.seconds = watch.elapsed();
  if (arguments.units)
    placed.result.note +=
        fmt::format("{}only placements of at most {} units were looked at, and the bound is one for these",
                    placed.result.note.empty() ? "" : "; ", *arguments.units);
  placed.stopped = stop_requested();
  watch.finish(placed.result);
  if (trained)
    for (const std::string& lack : loaded.lacks) log_warning("{}", lack);

  if (output) {
    output->write(formats::write_placement_json(problem, placed.result.placement, scoring.schedule));
    output->finish();
  }
  if (curve) {
    curve->write(watch.curve().csv());
    curve->finish();
  }
  const Judged judged = judge(arguments, placed, request);
  if (arguments.json)
    print_json_result(arguments, placed, judged);
  else
    print_result(arguments, problem, scoring.objective, placed.result, judged.verdict);
  if (stop_requested()) {
    fmt::print(stderr, "{}\n",
               placed.stopped
                   ? "stopped early on request: this is the best so far"
                   : "the placement had been found when the stop was requested; fewer placers were compared");
    return ExitCode::interrupted;
  }
  return placed.result.outcome.feasible() ? ExitCode::done : ExitCode::infeasible;
}

}  // namespace place_command

Action add_place(CommandLine& cli) {
  using namespace place_command;
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("method", arguments->method, "A placer; see `emplace list placers`").type_name("PLACER");
  cli.add_option("problem", arguments->problem, problem_help).type_name("PROBLEM");
  cli.add_option("options", arguments->options, "key=value options of the method").type_name("KEY=VALUE");
  cli.add_option(
         "--policy", arguments->policy,
         "In place of a method: the trained policy of this run folder. Gives its most probable placement, or with a "
         "budget the best of that and of samples")
      .type_name("RUN")
      .not_empty();
  cli.add_option("--start", arguments->start, "A placement to begin with, for searches and `best`")
      .type_name("PLACEMENT")
      .not_empty();
  cli.add_option("-o,--output", arguments->output, "Write the placement JSON here").type_name("FILE").not_empty();
  cli.add_option("--curve", arguments->curve,
                 "Write the improvements of the search here: seconds, evaluations and step time in picoseconds, as CSV")
      .type_name("FILE")
      .not_empty();
  cli.add_option("--units", arguments->units,
                 "Place at most this number of units, the ones that a recipe's `groups` gives a policy: a search then "
                 "finds what such a policy could")
      .at_least(1);
  cli.add_option("--grouping", arguments->grouping,
                 "Kind of these units, as a recipe's `grouping` (default colocation)")
      .type_name(join(grouping_names(), "|"));
  cli.add_option("--seed", arguments->seed, "Seed of every random stream (default 0)").at_least(0);
  cli.add_option("--evaluations", arguments->evaluations,
                 "Budget: placements simulated (default: as many as the method takes, see `emplace list placers`)")
      .at_least(0);
  cli.add_option(
      "--seconds", arguments->seconds,
      "Budget: seconds of search, from when the problem has been read; the verdict after it takes a moment more");
  arguments->schedule.add(cli);
  arguments->objective.add(cli);
  arguments->graph.add(cli);
  arguments->constraints.add(cli);
  cli.add_flag("--json", arguments->json, "Print the result as one JSON object");
  cli.footer(
      "Examples:\n"
      "  emplace place best 'zoo:inception-v3?batch=32@k40x2' --seconds 30 -o best.json\n"
      "  emplace place heft problem.json -o heft.json\n"
      "  emplace place tabu problem.json --evaluations 10000 --start heft.json -o tabu.json\n"
      "  emplace place --policy runs/mine problem.json -o learned.json");
  return [arguments](dist::World* world) { return run_place(*arguments, world); };
}

}  // namespace emplace::app
