#include "complete.hpp"

#include <algorithm>

#include "emplace/base/config.hpp"
#include "emplace/base/error.hpp"
#include "emplace/base/text.hpp"
#include "emplace/learn/learner.hpp"
#include "emplace/machine/machine.hpp"
#include "emplace/policy/policy.hpp"
#include "emplace/run/recipe.hpp"
#include "emplace/run/recipe_keys.hpp"
#include "emplace/run/run_folder.hpp"
#include "emplace/search/placer.hpp"
#include "emplace/simulate/evaluators.hpp"
#include "emplace/simulate/published.hpp"
#include "emplace/sweep/strategy.hpp"
#include "emplace/sweep/sweep.hpp"
#include "emplace/tables/published_table.hpp"
#include "emplace/zoo/zoo.hpp"

namespace emplace::app {

namespace {

// A flag has none.
bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// "step|pipeline" of "step|pipeline:CHECK"; the checks of values describe themselves behind a colon.
std::string type_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

class Completer {
 public:
  Completer(const CLI::App& command, std::span<const std::string> words) : command_(command), word_(words.back()) {
    const CLI::Option* waiting = nullptr;  // for its value
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
      offer_values(type_of(*waiting), "");
    else if (const std::size_t equals = word_.find('='); word_.starts_with("--") && equals != std::string::npos)
      offer_values(find(word_) == nullptr ? "" : type_of(*find(word_)), word_.substr(0, equals + 1));
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
    // The last one may take any number of words. With --resume the recipe's place is free for a key.
    if (list.empty()) return;
    const bool resumes = values_.contains("resume");
    const std::size_t at = std::min(positionals_.size() + (resumes ? 1 : 0), list.size() - 1);
    if (positionals_.size() < list.size() || list[at]->get_items_expected_max() > 1)
      offer_values(type_of(*list[at]), "");
  }

  // What a value of this type may be, behind the part of the word that stands before it.
  void offer_values(const std::string& type, const std::string& prefix) {
    if (type.find('|') != std::string::npos) {
      for (const std::string& choice : split(type, '|')) offer(prefix + choice, "");
    } else if (type == "KEY=VALUE") {
      offer_key_value();
    } else if (type == "PLACER") {
      offer_entries(prefix, placers());
    } else if (type == "POLICY") {
      offer_entries(prefix, policies());
    } else if (type == "LEARNER") {
      offer_entries(prefix, learners());
    } else if (type == "EVALUATOR") {
      offer_entries(prefix, evaluators());
    } else if (type == "STRATEGY") {
      offer_entries(prefix, sweep_strategies());
    } else if (type == "SIMULATOR") {
      offer_entries(prefix, simulators());
    } else if (type == "TABLE") {
      offer_entries(prefix, tables());
      offer_files(prefix);
    } else if (type == "MACHINE") {
      offer_entries(prefix, machines());
      offer_files(prefix);
    } else if (type == "GRAPH" || type == "PROBLEM" || type == "SOURCE") {
      offer_source(prefix, type != "GRAPH");
      if (type == "SOURCE") offer_entries(prefix, machines());
    } else if (type == "GRAPH=PROFILE") {
      const std::size_t equals = word_.rfind('=');
      if (equals == std::string::npos)
        offer_source(prefix, false);
      else
        offer_files(word_.substr(0, equals + 1));
    } else {
      for (const char* file : {"FILE", "FOLDER", "RUN", "RECIPE", "SPACE", "PLACEMENT"})
        if (type == file) offer_files(prefix);
    }
  }

  // A model file or zoo:NAME?key=value, and where it is to be a problem, @MACHINE behind it.
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
      offer_entries(prefix + "zoo:", zoo());
    } else {
      const std::string before = prefix + source.substr(0, source.find_last_of("?&") + 1);
      for (const ZooEntry& entry : zoo())
        if (entry.name == source.substr(4, question - 4))
          for (const OptionInfo& option : entry.options()) offer(before + option.name + "=", option.help);
    }
  }

  // key=value words: of a placer, of a recipe, or of a sweep.
  void offer_key_value() {
    const std::string key = word_.substr(0, word_.find('='));
    const bool has_key = key.size() < word_.size();
    for (const RecipeKey& each : keys())
      if (!has_key)
        offer(each.name + "=", each.option.help);
      else if (each.name == key)
        offer_values_of(each);
  }

  void offer_values_of(const RecipeKey& key) {
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
                               {"recipe", "RECIPE"},
                               {"strategy", "STRATEGY"}})
      if (key.name == named.key) offer_values(named.type, prefix);
  }

  [[nodiscard]] std::vector<RecipeKey> keys() const {
    const std::string& command = command_.get_name();
    std::vector<RecipeKey> keys;
    if (command == "place") {
      for (const PlacerEntry& entry : placers())
        if (!positionals_.empty() && entry.name == positionals_.front())
          for (const OptionInfo& option : entry.options()) keys.push_back({option.name, option});
      return keys;
    }
    const ConfigTable table = config();
    const RecipeOptions defaults;
    keys = recipe_keys(text(table, "policy", defaults.policy), text(table, "learner", defaults.learner),
                       text(table, "evaluator", defaults.evaluator));
    if (command != "sweep") return keys;
    std::vector<RecipeKey> space = keys;
    for (RecipeKey& key : space) key.name = "space." + key.name;
    keys.insert(keys.end(), space.begin(), space.end());
    for (const OptionInfo& option : list_options<SweepOptions>()) keys.push_back({option.name, option});
    const std::string strategy = text(table, "strategy", SweepOptions().strategy);
    for (const SweepStrategyEntry& entry : sweep_strategies())
      if (entry.name == strategy)
        for (const OptionInfo& option : entry.options()) keys.push_back({strategy + "." + option.name, option});
    return keys;
  }

  // The file of the command line with the words behind it; what cannot be read yet says nothing.
  [[nodiscard]] ConfigTable config() const {
    ConfigTable table("command line");
    const auto resume = values_.find("resume");
    for (std::string file : {resume == values_.end() ? std::string() : resume->second + "/config.toml",
                             positionals_.empty() ? std::string() : positionals_.front()}) {
      if (file.empty() || file.find('=') != std::string::npos) continue;
      if (file.starts_with("~/"))
        file = std::string(std::getenv("HOME") == nullptr ? "" : std::getenv("HOME")) + file.substr(1);
      try {
        table = ConfigTable::read_toml(file);
        if (command_.get_name() == "sweep" && table.contains("recipe")) {
          ConfigTable recipe = ConfigTable::read_toml(recipe_file_of(table));
          for (const std::string& key : table.keys()) recipe.set(key, *table.find(key));
          table = std::move(recipe);
        }
      } catch (const InputError&) {
        continue;
      }
    }
    for (const std::string& word : positionals_) try {
        if (word.find('=') != std::string::npos) apply_overrides(table, {word});
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
