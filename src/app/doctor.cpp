// emplace doctor [[RECIPE] [PROBLEM] [key=value ...]]
#include "doctor/machine.hpp"

#include <fmt/core.h>
#include <CLI/Version.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "app/command.hpp"
#include "app/recipe_words.hpp"
#include "app/result_json.hpp"
#include "base/cores.hpp"
#include "base/log.hpp"
#include "base/progress.hpp"
#include "base/temporary_folder.hpp"
#include "base/text.hpp"
#include "doctor/inputs.hpp"
#include "experiment/recipe/recipe.hpp"

namespace emplace::app {

namespace doctor_command {

using Level = doctor::Check::Level;

struct Arguments {
  RecipeWords words;
  std::uint64_t updates = 20;
  double seconds = 120;
  bool json = false;
};

const char* name_of(Level level) {
  switch (level) {
    case Level::ok: return "ok";
    case Level::warning: return "warning";
    case Level::failure: return "failure";
  }
  return "";
}

doctor::Checks check_machine() {
  const GroupLimits groups = group_limits();
  doctor::Checks checks = {doctor::check_program(), doctor::check_cores(allowed_cores(), groups),
                           doctor::check_memory(groups), doctor::check_clock(),
                           doctor::check_folder("this folder", std::filesystem::current_path().string())};
  try {
    const TemporaryFolder folder("emplace-doctor");
    checks.push_back(doctor::check_folder("temporary files", std::filesystem::temp_directory_path().string()));
    checks.push_back(doctor::check_checkpoints(folder.path()));
  } catch (const std::exception& error) {
    checks.push_back({"temporary files", Level::failure, error.what()});
  }
  return checks;
}

void print_checks(const doctor::Checks& checks) {
  std::size_t width = 0;
  for (const doctor::Check& check : checks) width = std::max(width, check.name.size());
  for (const doctor::Check& check : checks)
    fmt::print("{:<{}}  {:<7}  {}\n", check.name, width, name_of(check.level), printable(check.says));
}

void print_ranks(const std::vector<dist::RankReport>& ranks) {
  TextTable table({"rank", "host", "cores", "round trip", "1 MiB"});
  for (const dist::RankReport& each : ranks)
    table.add({fmt::format("{}", each.rank), each.host, doctor::core_list(each.cores),
               each.rank == 0 ? "-" : human_seconds(each.round_trip_s),
               each.rank == 0 ? "-" : human_bytes(static_cast<Bytes>(each.bytes_per_s)) + "/s"});
  fmt::print("\n{}", table.str());
}

ExitCode examine_machine(const Arguments& arguments, dist::World* world) {
  doctor::Checks checks = check_machine();
  std::vector<dist::RankReport> ranks;
  if (world == nullptr) {
    checks.push_back(doctor::check_mpi_alone());
  } else {
    ranks = dist::ping(*world, doctor::program_text());
    const doctor::Checks more = doctor::check_ranks(ranks);
    checks.insert(checks.end(), more.begin(), more.end());
  }
  const doctor::Checks tools = doctor::check_tools();
  checks.insert(checks.end(), tools.begin(), tools.end());
  checks.push_back(doctor::check_onnx_runtime());
  std::vector<Library> made_with = doctor::libraries();
  made_with.push_back({"CLI11", CLI11_VERSION, ""});
  for (const Library& library : made_with) checks.push_back(doctor::check_library(library));

  const auto count = [&](Level level) { return std::ranges::count(checks, level, &doctor::Check::level); };
  const bool works = count(Level::failure) == 0;
  if (arguments.json) {
    Json list = Json::array(), rank_list = Json::array();
    for (const doctor::Check& check : checks)
      list.push_back({{"name", check.name}, {"status", name_of(check.level)}, {"says", check.says}});
    for (const dist::RankReport& each : ranks)
      rank_list.push_back({{"rank", each.rank},
                           {"host", each.host},
                           {"cores", each.cores},
                           {"round_trip_s", each.rank == 0 ? Json() : Json(each.round_trip_s)},
                           {"bytes_per_s", each.rank == 0 ? Json() : Json(each.bytes_per_s)}});
    print_json({{"works", works}, {"checks", list}, {"ranks", rank_list}});
  } else {
    print_checks(checks);
    if (!ranks.empty()) print_ranks(ranks);
    fmt::print("\n{}; {} warning{}, {} failure{}\n",
               works ? "all that is needed works" : "some of what is needed does not work", count(Level::warning),
               count(Level::warning) == 1 ? "" : "s", count(Level::failure), count(Level::failure) == 1 ? "" : "s");
  }
  return works ? ExitCode::done : ExitCode::failure;
}

const char* name_of(doctor::KeyTrial::Effect effect) {
  switch (effect) {
    case doctor::KeyTrial::Effect::outcome: return "changes the outcome";
    case doctor::KeyTrial::Effect::state: return "changes no outcome in so many updates";
    case doctor::KeyTrial::Effect::none: return "changes nothing";
    case doctor::KeyTrial::Effect::by_design: return "changes nothing, as it should";
    case doctor::KeyTrial::Effect::broken: return "changes the outcome and must not";
    case doctor::KeyTrial::Effect::not_tried: return "not tried";
  }
  return "";
}

void print_keys(const doctor::Examination& examination, doctor::KeyTrial::Effect effect) {
  std::size_t name = 0, value = 0, tried = 0;
  const auto shown = [&](const auto& visit) {
    for (const doctor::KeyTrial& trial : examination.keys)
      if (trial.effect == effect) visit(trial);
  };
  shown([&](const doctor::KeyTrial& trial) {
    name = std::max(name, trial.key.size());
    value = std::max(value, trial.value.size());
    tried = std::max(tried, join(trial.tried, ", ").size());
  });
  if (name == 0) return;
  fmt::print("\n{}:\n", name_of(effect));
  shown([&](const doctor::KeyTrial& trial) {
    const std::string values = join(trial.tried, ", ");
    fmt::print("  {:<{}}  {:<{}}  -> {}", trial.key, name, trial.value, value, values);
    if (!trial.changed.empty()) fmt::print("{:{}}  {}", "", tried - values.size(), join(trial.changed, ", "));
    fmt::print("\n");
  });
}

// One line for each reason, with all its keys.
void print_not_tried(const doctor::Examination& examination) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const doctor::KeyTrial& trial : examination.keys) {
    if (trial.effect != doctor::KeyTrial::Effect::not_tried) continue;
    const auto found = std::ranges::find(reasons, trial.reason, [](const auto& reason) { return reason.first; });
    if (found == reasons.end())
      reasons.push_back({trial.reason, {trial.key}});
    else
      found->second.push_back(trial.key);
  }
  if (!reasons.empty()) fmt::print("\n{}:\n", name_of(doctor::KeyTrial::Effect::not_tried));
  for (const auto& [reason, keys] : reasons) fmt::print("  {}: {}\n", join(keys, ", "), printable(reason));
}

void print_examination(const doctor::Examination& examination) {
  fmt::print("{} update{} ({} evaluations) of the unchanged recipe, then of the recipe with one input changed\n",
             examination.updates, examination.updates == 1 ? "" : "s", examination.evaluations);
  if (!examination.repeatable)
    fmt::print("the unchanged recipe gave different bits in two runs: nothing below can be relied on\n");
  using Effect = doctor::KeyTrial::Effect;
  for (const Effect effect :
       {Effect::outcome, Effect::by_design, Effect::not_tried, Effect::broken, Effect::state, Effect::none})
    if (effect == Effect::not_tried)
      print_not_tried(examination);
    else
      print_keys(examination, effect);
  if (!examination.problem.empty())
    fmt::print("\ninputs of the problem, for the best placement found ({}):\n", examination.placement);
  for (const doctor::ProblemTrial& trial : examination.problem) {
    std::vector<std::string> says;
    if (!trial.with_effect.empty()) says.push_back("changes its time for " + join(trial.with_effect, ", "));
    if (!trial.without.empty())
      says.push_back((says.empty() ? "changes nothing for " : "nothing for ") + join(trial.without, ", "));
    if (!trial.not_tried.empty())
      says.push_back(fmt::format("was not tried for {}: {}", join(trial.not_tried, ", "), printable(trial.reason)));
    fmt::print("  {} {}: {}\n", trial.input, trial.change, join(says, "; "));
  }
}

Json to_json(const doctor::Examination& examination) {
  Json keys = Json::array(), problem = Json::array();
  for (const doctor::KeyTrial& trial : examination.keys)
    keys.push_back({{"key", trial.key},
                    {"value", trial.value},
                    {"tried", trial.tried},
                    {"changed", trial.changed},
                    {"effect", name_of(trial.effect)},
                    {"reason", trial.reason.empty() ? Json() : Json(trial.reason)}});
  for (const doctor::ProblemTrial& trial : examination.problem)
    problem.push_back({{"input", trial.input},
                       {"change", trial.change},
                       {"with_effect", trial.with_effect},
                       {"without_effect", trial.without},
                       {"not_tried", trial.not_tried},
                       {"reason", trial.reason.empty() ? Json() : Json(trial.reason)}});
  return {{"updates", examination.updates},
          {"evaluations", examination.evaluations},
          {"repeatable", examination.repeatable},
          {"keys", keys},
          {"problem", problem}};
}

ExitCode examine_recipe(const Arguments& arguments) {
  ConfigTable recipe = arguments.words.table();
  experiment::apply_overrides(recipe, arguments.words.overrides);
  const TemporaryFolder folder("emplace-doctor");
  Progress progress(!arguments.json || log::on_terminal());
  const doctor::Examination examination = doctor::examine_inputs(
      recipe, {.updates = arguments.updates,
               .seconds = arguments.seconds,
               .folder = folder.path(),
               .progress = [&](double share, const std::string& what) { progress.update(share, what); }});
  progress.finish();
  if (arguments.json)
    print_json(to_json(examination));
  else
    print_examination(examination);
  if (examination.interrupted) return ExitCode::interrupted;
  const bool broken = std::ranges::any_of(
      examination.keys, [](const doctor::KeyTrial& trial) { return trial.effect == doctor::KeyTrial::Effect::broken; });
  return broken || !examination.repeatable ? ExitCode::failure : ExitCode::done;
}

constexpr const char* doctor_help =
    "Without a recipe: whether this machine has what is needed, and under mpirun (`launch/local -np 4 doctor`) how "
    "fast\n"
    "messages go between rank 0 and each other rank. Ends with 0 where all that is needed works.\n"
    "With a recipe: changes one input at a time, trains a little, and lists the inputs whose change has no effect on\n"
    "rewards, parameters and best placement: options that another one switches off. Ends with 0 unless a key that "
    "must\n"
    "have no effect (threads, workers, ...) has one, or the same recipe gives different bits the second time.\n\n"
    "Examples:\n"
    "  emplace doctor\n"
    "  emplace doctor post problem.json --updates 2 --seconds 20";

}  // namespace doctor_command

Action add_doctor(CommandLine& cli) {
  using namespace doctor_command;
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("recipe", arguments->words.recipe,
                 "Recipe (a name of `emplace list recipes` or a TOML file) whose inputs are examined")
      .type_name("RECIPE");
  cli.add_option("overrides", arguments->words.overrides, "The recipe's PROBLEM, and key=value pairs over the recipe")
      .type_name("[PROBLEM] KEY=VALUE");
  cli.add_option("--updates", arguments->updates, "Updates of each short training (default 20)").at_least(1);
  cli.add_option("--seconds", arguments->seconds, "Budget of all trainings together (default 120)");
  cli.add_flag("--json", arguments->json, "Print the result as one JSON object");
  cli.footer(doctor_help);
  return [arguments](dist::World* world) {
    if (!(arguments->seconds > 0 && std::isfinite(arguments->seconds)))
      throw InputError("--seconds", "a budget must be above zero and finite, found {}", arguments->seconds);
    arguments->words.tell_apart();
    const ExitCode code = arguments->words.none() ? examine_machine(*arguments, world) : examine_recipe(*arguments);
    if (world != nullptr) dist::release_workers(*world, static_cast<int>(ExitCode::done));  // the code of rank 0 counts
    return code;
  };
}

}  // namespace emplace::app
