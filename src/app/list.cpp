// emplace list
// recipes|policies|learners|placers|serving-placers|evaluators|strategies|models|machines|tables|readers|exporters|runtimes|simulators
#include <fmt/core.h>

#include <memory>

#include "app/command.hpp"
#include "app/result_json.hpp"
#include "base/text.hpp"
#include "deploy/exporter.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "emplace/formats/reader.hpp"
#include "emplace/machine/machine.hpp"
#include "emplace/policy/policy.hpp"
#include "emplace/search/placer.hpp"
#include "experiment/recipe/shipped_recipes.hpp"
#include "experiment/sweep/strategy.hpp"
#include "experiment/tables/published_table.hpp"
#include "fit/runtime.hpp"
#include "formats/workload/workload.hpp"
#include "learn/learner.hpp"
#include "serving/placer.hpp"
#include "simulate/published/published.hpp"
#include "zoo/zoo.hpp"

namespace emplace::app {

namespace list_command {

template <class Entry>
std::vector<EntryInfo> infos(std::span<const Entry> entries) {
  return {entries.begin(), entries.end()};
}

std::vector<EntryInfo> readers_of_all_kinds() {
  std::vector<EntryInfo> list = infos(formats::readers());
  list.insert(list.end(), formats::workloads().begin(), formats::workloads().end());
  return list;
}

std::vector<EntryInfo> recipes() {
  return infos(std::span<const experiment::ShippedRecipe>(experiment::shipped_recipes()));
}

struct Kind {
  const char* name;
  std::vector<EntryInfo> (*entries)();
};

constexpr Kind kinds[] = {
    {"recipes", recipes},
    {"policies", [] { return infos(policy::policies()); }},
    {"learners", [] { return infos(learn::learners()); }},
    {"placers", [] { return infos(search::placers()); }},
    {"serving-placers", [] { return infos(serving::placers()); }},
    {"evaluators", [] { return infos(evaluate::evaluators()); }},
    {"strategies", [] { return infos(experiment::sweep_strategies()); }},
    {"models", [] { return infos(zoo::zoo()); }},
    {"machines", [] { return infos(machine::machines()); }},
    {"tables", experiment::tables},
    {"readers", readers_of_all_kinds},
    {"exporters", [] { return infos(deploy::exporters()); }},
    {"runtimes", [] { return infos(fit::runtimes()); }},
    {"simulators", [] { return infos(simulate::simulators()); }},
};

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds) names.emplace_back(kind.name);
  return names;
}

std::vector<EntryInfo> entries_of(const std::string& name) {
  for (const Kind& kind : kinds)
    if (kind.name == name) return kind.entries();
  const auto names = kind_names();
  if (name.empty()) throw InputError("list", "a kind is missing; there are: {}", join(names, ", "));
  const std::string near = did_you_mean(name, names);
  throw InputError("list", "unknown kind {}{}", quote(name), near.empty() ? "; there are: " + join(names, ", ") : near);
}

void print_entries(const std::vector<EntryInfo>& entries) {
  bool first = true;
  for (const EntryInfo& entry : entries) {
    fmt::print("{}{}\n    {}\n", first ? "" : "\n", entry.name, entry.summary);
    first = false;
    if (!entry.reference.empty()) fmt::print("    Source: {}\n", entry.reference);
    const auto options = entry.options();
    std::size_t width = 0;
    for (const OptionInfo& option : options) width = std::max(width, option.name.size());
    for (const OptionInfo& option : options)
      fmt::print("      {:<{}}  {}{} (default {}{}{})\n", option.name, width, option.help,
                 option.choices.empty() ? "" : fmt::format(" One of {}.", join(option.choices, ", ")),
                 option.default_value.empty() ? "none" : option.default_value, option.unit.empty() ? "" : " ",
                 option.unit);
  }
}

// For what, how long, how good.
void print_recipes() {
  for (const experiment::ShippedRecipe& recipe : experiment::shipped_recipes())
    fmt::print("{}\n    {}\n    takes {}; reaches {}\n", recipe.name, recipe.about.purpose, recipe.about.takes,
               recipe.about.reaches);
  fmt::print(
      "\n"
      "takes: CPU time of one training. reaches: its best step time as a share of that of the fastest device alone, "
      "and\n"
      "the share of the lower bound (one run with the default seed); NMT-2 is zoo:nmt?layers=2&training=true@k40x2,\n"
      "Inception is zoo:inception-v3?batch=1@i9-flex170-no-igpu.\n"
      "emplace train RECIPE PROBLEM trains one; PROBLEM is MODEL@MACHINE or a problem's file.\n");
}

Json json_of_recipes() {
  Json list = Json::array();
  for (const experiment::ShippedRecipe& recipe : experiment::shipped_recipes())
    list.push_back({{"name", recipe.name},
                    {"summary", recipe.summary},
                    {"reference", recipe.reference},
                    {"options", Json::array()},
                    {"takes", recipe.about.takes},
                    {"reaches", recipe.about.reaches}});
  return list;
}

}  // namespace list_command

Action add_list(CommandLine& cli) {
  using namespace list_command;
  struct Arguments {
    std::string kind;
    bool json = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("kind", arguments->kind, "What to list").type_name(join(kind_names(), "|"));
  cli.add_flag("--json", arguments->json, "Print the list as one JSON array");
  cli.footer(
      "Example:\n"
      "  emplace list placers");
  return [arguments](dist::World*) {
    if (arguments->kind == "recipes") {
      if (arguments->json)
        print_json(json_of_recipes());
      else
        print_recipes();
      return ExitCode::done;
    }
    const auto entries = entries_of(arguments->kind);
    if (!arguments->json) {
      print_entries(entries);
      return ExitCode::done;
    }
    Json list = Json::array();
    for (const EntryInfo& entry : entries) {
      Json options = Json::array();
      for (const OptionInfo& option : entry.options()) {
        options.push_back(
            {{"name", option.name}, {"type", option.type}, {"default", option.default_value}, {"help", option.help}});
        if (!option.choices.empty()) options.back()["choices"] = option.choices;
      }
      list.push_back(
          {{"name", entry.name}, {"summary", entry.summary}, {"reference", entry.reference}, {"options", options}});
    }
    print_json(list);
    return ExitCode::done;
  };
}

}  // namespace emplace::app
