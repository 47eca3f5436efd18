#include "app/complete.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "app/command_line.hpp"
#include "base/text.hpp"
#include "emplace/base/config.hpp"
#include "emplace/base/error.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "emplace/machine/machine.hpp"
#include "emplace/policy/policy.hpp"
#include "emplace/search/placer.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/recipe/recipe_keys.hpp"
#include "experiment/recipe/shipped_recipes.hpp"
#include "experiment/run/run_folder.hpp"
#include "experiment/sweep/strategy.hpp"
#include "experiment/sweep/sweep.hpp"
#include "experiment/tables/published_table.hpp"
#include "fit/runtime.hpp"
#include "learn/learner.hpp"
#include "simulate/published/published.hpp"
#include "zoo/zoo.hpp"

namespace emplace::app {

namespace {

// False for flags.
bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

class Completer {
 public:
  Completer(const CLI::App& command, std::span<const std::string> words) : command_(command), word_(words.back()) {
    const CLI::Option* waiting = nullptr;  // the option whose value is the next word
    bool options_end = false;
    for (const std::string& word : words.first(words.size() - 1)) {
      if (waiting != nullptr) {
        values_[waiting->get_single_name()] = word;
        waiting = nullptr;
      } else if (word == "--") {
        options_end = true;
      } else if (options_end || !word.starts_with('-')) {
        positionals_.push_back(word);
      } else if (const auto* option = find(word); option != nullptr && takes_value(*option)) {
        if (word.find('=') == std::string::npos) waiting = option;
      }
    }
    if (waiting != nullptr)
      offer_values(value_type(*waiting), "");
    else if (const std::size_t equals = word_.find('='); word_.starts_with("--") && equals != std::string::npos)
      offer_values(find(word_) == nullptr ? "" : value_type(*find(word_)), word_.substr(0, equals + 1));
    else if (word_.starts_with('-') && !options_end)
      offer_options();
    else
      offer_positional();
  }

  Completion take() { return std::move(completion_); }

 private:
  const CLI::Option* find(const std::string& word) const {
    return command_.get_option_no_throw(word.substr(0, word.find('=')));
  }

  void offer(const std::string& text, const std::string& says) {
    if (text.starts_with(word_)) completion_.candidates.push_back({text, says});
  }
  template <class Entries>
  void offer_entries(const std::string& prefix, const Entries& entries) {
    for (const auto& entry : entries) offer(prefix + entry.name, entry.summary);
  }
  void offer_files(const std::string& prefix) {
    if (word_.starts_with(prefix)) completion_.file = word_.substr(prefix.size());
  }

  void offer_options() {
    for (const CLI::Option* option : command_.get_options())
      for (const std::string& name : option->get_lnames()) offer("--" + name, option->get_description());
  }

  void offer_positional() {
    std::vector<const CLI::Option*> list;
    for (const CLI::Option* option : command_.get_options())
      if (option->get_positional()) list.push_back(option);
    // The last positional may take any number of words. With --resume no recipe is given: its place takes a key.
    if (list.empty()) return;
    const bool resumes = values_.contains("resume");
    const std::size_t at = std::min(positionals_.size() + (resumes ? 1 : 0), list.size() - 1);
    if (positionals_.size() < list.size() || list[at]->get_items_expected_max() > 1)
      offer_values(value_type(*list[at]), "");
  }

  // Offers the values of this type, each with `prefix` (the part of the word before the value) in front.
  void offer_values(const std::string& type, const std::string& prefix) {
    if (type == "probe" || type.find('|') != std::string::npos) {
      for (const std::string& choice : split(type, '|')) offer(prefix + choice, "");
    } else if (type == "KEY=VALUE") {
      offer_key_value();
    } else if (type == "[PROBLEM] KEY=VALUE") {
      offer_key_value();
      if (word_.find('=') == std::string::npos || word_.starts_with("zoo:")) offer_source("", true);
    } else if (type == "PLACER") {
      offer_entries(prefix, search::placers());
    } else if (type == "POLICY") {
      offer_entries(prefix, policy::policies());
    } else if (type == "LEARNER") {
      offer_entries(prefix, learn::learners());
    } else if (type == "EVALUATOR") {
      offer_entries(prefix, evaluate::evaluators());
    } else if (type == "STRATEGY") {
      offer_entries(prefix, experiment::sweep_strategies());
    } else if (type == "RUNTIME") {
      offer_entries(prefix, fit::runtimes());
    } else if (type == "SIMULATOR") {
      offer_entries(prefix, simulate::simulators());
    } else if (type == "TABLE") {
      offer_entries(prefix, experiment::tables());
      offer_files(prefix);
    } else if (type == "MACHINE") {
      offer_entries(prefix, machine::machines());
      offer_files(prefix);
    } else if (type == "GRAPH" || type == "MODEL" || type == "PROBLEM" || type == "SOURCE") {
      offer_source(prefix, type == "PROBLEM" || type == "SOURCE");
      if (type == "SOURCE") offer_entries(prefix, machine::machines());
    } else if (type == "GRAPH=PROFILE") {
      const std::size_t equals = word_.rfind('=');
      if (equals == std::string::npos)
        offer_source(prefix, false);
      else
        offer_files(word_.substr(0, equals + 1));
    } else {
      if (type == "RECIPE") offer_entries(prefix, experiment::shipped_recipes());
      for (const char* file : {"FILE", "FOLDER", "RUN", "RECIPE", "SPACE", "PLACEMENT"})
        if (type == file) offer_files(prefix);
    }
  }

  // Offers model files and zoo:NAME?key=value, and if a problem is expected, @MACHINE after them.
  void offer_source(const std::string& prefix, bool with_machine) {
    if (!word_.starts_with(prefix)) return;
    const std::string source = word_.substr(prefix.size());
    const std::size_t at = source.rfind('@'), question = source.find('?');
    if (with_machine && at != std::string::npos) {
      offer_values("MACHINE", prefix + source.substr(0, at + 1));
    } else if (!source.starts_with("zoo:")) {
      offer(prefix + "zoo:", "a benchmark model of the papers");
      offer_files(prefix);
    } else if (question == std::string::npos) {
      offer_entries(prefix + "zoo:", zoo::zoo());
    } else {
      const std::string before = prefix + source.substr(0, source.find_last_of("?&") + 1);
      for (const zoo::ZooEntry& entry : zoo::zoo())
        if (entry.name == source.substr(4, question - 4))
          for (const OptionInfo& option : entry.options()) offer(before + option.name + "=", option.help);
    }
  }

  // Offers key=value words with the keys of a placer, of a recipe or of a sweep.
  void offer_key_value() {
    const std::string key = word_.substr(0, word_.find('='));
    const bool has_key = key.size() < word_.size();
    for (const experiment::RecipeKey& each : keys())
      if (!has_key)
        offer(each.name + "=", each.option.help);
      else if (each.name == key)
        offer_values_of(each);
  }

  void offer_values_of(const experiment::RecipeKey& key) {
    const std::string prefix = key.name + "=";
    if (key.option.type == "bool")
      for (const char* value : {"true", "false"}) offer(prefix + value, "");
    for (const std::string& choice : key.option.choices) offer(prefix + choice, "");
    struct Named {
      const char* key;
      const char* type;
    };
    for (const Named& named : {Named{"policy", "POLICY"},
                               {"learner", "LEARNER"},
                               {"evaluator", "EVALUATOR"},
                               {"machine", "MACHINE"},
                               {"graph", "GRAPH"},
                               {"problem", "PROBLEM"},
                               {"run", "RUN"},
                               {"init", "RUN"},
                               {"start", "PLACEMENT"},
                               {"recipe", "RECIPE"},
                               {"strategy", "STRATEGY"}})
      if (key.name == named.key) offer_values(named.type, prefix);
  }

  [[nodiscard]] std::vector<experiment::RecipeKey> keys() const {
    const std::string& command = command_.get_name();
    std::vector<experiment::RecipeKey> keys;
    if (command == "place") {
      for (const search::PlacerEntry& entry : search::placers())
        if (!positionals_.empty() && entry.name == positionals_.front())
          for (const OptionInfo& option : entry.options()) keys.push_back({option.name, option});
      return keys;
    }
    const ConfigTable table = config();
    const experiment::RecipeOptions defaults;
    keys = experiment::recipe_keys(text(table, "policy", defaults.policy), text(table, "learner", defaults.learner),
                                   text(table, "evaluator", defaults.evaluator));
    if (command != "sweep") return keys;
    std::vector<experiment::RecipeKey> space = keys;
    for (experiment::RecipeKey& key : space) key.name = "space." + key.name;
    keys.insert(keys.end(), space.begin(), space.end());
    for (const OptionInfo& option : list_options<experiment::SweepOptions>()) keys.push_back({option.name, option});
    const std::string strategy = text(table, "strategy", experiment::SweepOptions().strategy);
    for (const experiment::SweepStrategyEntry& entry : experiment::sweep_strategies())
      if (entry.name == strategy)
        for (const OptionInfo& option : entry.options()) keys.push_back({strategy + "." + option.name, option});
    return keys;
  }

  // The recipe or sweep file of the command line with the key=value words applied. Text that cannot be parsed yet is
  // ignored.
  [[nodiscard]] ConfigTable config() const {
    ConfigTable table("command line");
    const auto resume = values_.find("resume");
    for (std::string file : {resume == values_.end() ? std::string() : resume->second + "/config.toml",
                             positionals_.empty() ? std::string() : positionals_.front()}) {
      if (file.empty() || file.find('=') != std::string::npos) continue;
      if (file.starts_with("~/"))
        file = std::string(std::getenv("HOME") == nullptr ? "" : std::getenv("HOME")) + file.substr(1);
      try {
        table = experiment::is_shipped_recipe(file) ? experiment::read_recipe(file, "command line")
                                                    : ConfigTable::read_toml(file);
        if (command_.get_name() == "sweep" && table.contains("recipe")) {
          ConfigTable recipe = experiment::read_recipe(experiment::recipe_file_of(table), "command line");
          for (const std::string& key : table.keys()) recipe.set(key, *table.find(key));
          table = std::move(recipe);
        }
      } catch (const InputError&) {
        continue;
      }
    }
    for (const std::string& word : positionals_) try {
        if (word.find('=') != std::string::npos) experiment::apply_overrides(table, {word});
      } catch (const InputError&) {
        continue;
      }
    return table;
  }

  static std::string text(const ConfigTable& table, const char* key, const std::string& otherwise) {
    const ConfigValue* const value = table.find(key);
    const auto* const text = value == nullptr ? nullptr : std::get_if<std::string>(&value->data);
    return text == nullptr ? otherwise : *text;
  }

  const CLI::App& command_;
  const std::string word_;
  std::vector<std::string> positionals_;
  std::map<std::string, std::string> values_;  // of options, by their names without dashes
  Completion completion_;
};

}  // namespace

Completion complete(const CLI::App& program, std::span<const std::string> words) {
  if (words.empty()) return {};
  if (words.size() > 1) {
    for (const CLI::App* command : program.get_subcommands({}))
      if (command->get_name() == words.front()) return Completer(*command, words.subspan(1)).take();
    return {};
  }
  Completion completion;
  const auto offer = [&](const std::string& name, const std::string& says) {
    if (name.starts_with(words.front())) completion.candidates.push_back({name, says});
  };
  for (const CLI::App* command : program.get_subcommands({})) offer(command->get_name(), command->get_description());
  if (words.front().starts_with('-'))
    for (const CLI::Option* option : program.get_options())
      for (const std::string& name : option->get_lnames()) offer("--" + name, option->get_description());
  return completion;
}

}  // namespace emplace::app
