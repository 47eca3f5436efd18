// Reads [space] of a sweep's file.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "experiment/sweep/recipe_keys.hpp"
#include "experiment/sweep/space.hpp"

namespace emplace::experiment {

namespace {

constexpr std::array forms = {"choices", "uniform", "log_uniform", "integers"};
constexpr double largest_whole = 0x1p53;  // beyond it, doubles are not exact whole numbers

const ConfigTable* as_table(const ConfigValue& value) {
  const auto* tables = std::get_if<std::vector<ConfigTable>>(&value.data);
  return tables == nullptr || value.is_table_list ? nullptr : &tables->front();
}

std::string written(const ConfigValue& value) {
  ConfigTable line;
  line.set("v", value);
  return line.to_toml();
}

// Two choices are the same if they are written in the same way in a recipe.
bool same(const ConfigValue& a, const ConfigValue& b) { return written(a) == written(b); }

void refuse_unknown(const std::string& key, const std::string& place) {
  const std::size_t dot = key.find('.');
  const std::string head = key.substr(0, dot);
  std::vector<std::string> known = recipe_tables();
  if (dot == std::string::npos) known = recipe_keys();
  if (std::ranges::find(known, head) != known.end()) return;
  std::string near = did_you_mean(head, known);
  if (near.empty() && dot != std::string::npos) near = fmt::format("; tables of recipes: {}", join(known, ", "));
  throw InputError(place, "{} in [space] is not a key of a recipe{}", quote(key), near);
}

std::pair<double, double> range_of(const ConfigTable& form, const char* key) {
  const ConfigValue& value = *form.find(key);
  const auto* ends = std::get_if<ConfigList>(&value.data);
  if (ends == nullptr || ends->size() != 2)
    throw InputError(value.place, "'{}' needs two ends, as in {} = [1, 8]", key, key);
  const double low = as_number((*ends)[0], key);
  const double high = as_number((*ends)[1], key);
  if (!(low < high)) throw InputError(value.place, "'{}' needs its lower end first, found [{}, {}]", key, low, high);
  return {low, high};
}

void read_integers(Parameter& parameter, const ConfigTable& form) {
  std::tie(parameter.low, parameter.high) = range_of(form, "integers");
  for (const ConfigValue& end : std::get<ConfigList>(form.find("integers")->data)) (void)as_whole(end, "integers");
  if (std::max(-parameter.low, parameter.high) > largest_whole)
    throw InputError(parameter.place, "'integers' goes to at most 2^53");
  const bool log = form.flag("log", false);
  const std::int64_t step = form.whole("step", 1);
  if (step < 1 || static_cast<double>(step) > parameter.high - parameter.low)
    throw InputError(form.place_of("step"), "'step' must be at least 1 and at most the range, found {}", step);
  if (log && step != 1) throw InputError(form.place_of("step"), "'step' and 'log' exclude each other");
  if (log && parameter.low < 1)
    throw InputError(form.place_of("log"), "'log' needs integers of at least 1, found {}", parameter.low);
  parameter.kind = log ? Parameter::Kind::log_integers : Parameter::Kind::integers;
  parameter.step = static_cast<double>(step);
  parameter.high = parameter.low + parameter.step * std::floor((parameter.high - parameter.low) / parameter.step);
}

void read_choices(Parameter& parameter, const ConfigValue& value) {
  const auto* list = std::get_if<ConfigList>(&value.data);
  if (list == nullptr || list->empty())
    throw InputError(value.place, "'{}' needs a list of choices, or a table with one of {}", parameter.key,
                     join(std::vector<std::string>(forms.begin(), forms.end()), ", "));
  for (const ConfigValue& choice : *list) {
    for (const ConfigValue& earlier : parameter.choices)
      if (same(choice, earlier))
        throw InputError(choice.place, "'{}' has the choice {} twice", parameter.key, written(choice).substr(4));
    parameter.choices.push_back(choice);
  }
  parameter.kind = Parameter::Kind::choices;
  parameter.low = 0;
  parameter.high = static_cast<double>(list->size() - 1);
}

Parameter read_parameter(const std::string& key, const ConfigValue& value) {
  Parameter parameter{.key = key, .place = value.place};
  const ConfigTable* form = as_table(value);
  if (form == nullptr) {
    read_choices(parameter, value);
    return parameter;
  }
  std::vector<std::string> given;
  for (const char* name : forms)
    if (form->contains(name)) given.emplace_back(name);
  if (given.size() > 1)
    throw InputError(value.place, "'{}' has {} forms: {}; wanted one", key, given.size(), join(given, " and "));
  const std::string name = given.empty() ? "" : given.front();
  if (name == "choices") {
    read_choices(parameter, *form->find(name));
    (void)form->find(name);
  } else if (name == "integers") {
    read_integers(parameter, *form);
  } else if (!name.empty()) {
    parameter.kind = name == "uniform" ? Parameter::Kind::uniform : Parameter::Kind::log_uniform;
    std::tie(parameter.low, parameter.high) = range_of(*form, name.c_str());
    if (name == "log_uniform" && parameter.low <= 0)
      throw InputError(value.place, "'log_uniform' needs ends above zero, found {}", parameter.low);
  }
  for (const std::string& present : form->keys()) {
    const bool of_integers = name == "integers" && (present == "step" || present == "log");
    if (present == name || present == "when" || of_integers) continue;
    std::vector<std::string> known(forms.begin(), forms.end());
    known.insert(known.end(), {"when", "step", "log"});
    if (present == "step" || present == "log")
      throw InputError(form->place_of(present), "{} of '{}' can be given only with 'integers'", quote(present), key);
    throw InputError(form->place_of(present), "unknown key {} of '{}'{}; it needs one of {}, and can have when",
                     quote(present), key, did_you_mean(present, known),
                     join(std::vector<std::string>(forms.begin(), forms.end()), ", "));
  }
  if (name.empty())
    throw InputError(value.place, "'{}' has no values: it needs one of {}", key,
                     join(std::vector<std::string>(forms.begin(), forms.end()), ", "));
  return parameter;
}

// A condition's value as a number, like the values of the parameter `of`. InputError if `of` never has it.
double condition_value(const Parameter& of, const ConfigValue& wanted, const std::string& key) {
  if (of.kind == Parameter::Kind::choices) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < of.choices.size(); ++i) {
      if (same(of.choices[i], wanted)) return static_cast<double>(i);
      names.push_back(of.text(static_cast<double>(i)));
    }
    throw InputError(wanted.place, "'{}' depends on {} = {}, which is not one of its choices ({})", key, of.key,
                     written(wanted).substr(4, written(wanted).size() - 5), join(names, ", "));
  }
  if (of.continuous())
    throw InputError(wanted.place, "'{}' cannot depend on '{}': a continuous range never has just that value", key,
                     of.key);
  const auto value = static_cast<double>(as_whole(wanted, of.key));
  if (of.decode(of.encode(value)) != value || value < of.low || value > of.high)
    throw InputError(wanted.place, "'{}' depends on {} = {}, which it never is", key, of.key, value);
  return value;
}

}  // namespace

ConfigTable flat_space(const ConfigTable& table) {
  const std::vector<std::string> tables = recipe_tables();
  ConfigTable flat(table.place());
  const auto add = [&](const std::string& key, const ConfigValue& value) {
    if (flat.contains(key)) throw InputError(value.place, "{} is given twice in [space]", quote(key));
    flat.set(key, value);
  };
  for (const std::string& key : table.keys()) {
    const ConfigValue& value = *table.find(key);
    const ConfigTable* inner = as_table(value);
    if (inner != nullptr && std::ranges::find(tables, key) != tables.end()) {
      for (const std::string& option : inner->keys()) add(key + "." + option, *inner->find(option));
    } else {
      add(key, value);
    }
  }
  return flat;
}

Space::Space(const ConfigTable& given) {
  const ConfigTable table = flat_space(given);
  for (const std::string& key : table.keys()) {
    refuse_unknown(key, table.place_of(key));
    parameters_.push_back(read_parameter(key, *table.find(key)));
  }
  if (parameters_.empty()) throw InputError(given.place(), "[space] names no key that varies");
  for (std::size_t p = 0; p < size(); ++p) {
    const ConfigTable* form = as_table(*table.find(parameters_[p].key));
    if (form == nullptr || !form->contains("when")) continue;
    const ConfigTable* when = as_table(*form->find("when"));
    if (when == nullptr)
      throw InputError(form->place_of("when"), "'when' of '{}' needs a table, as in when = {{ learner = \"ppo\" }}",
                       parameters_[p].key);
    read_conditions(p, *when, "");
  }
  sort_by_conditions();
  for (std::size_t p = 0; p < size(); ++p) (void)allowed_where_active(p);
}

void Space::read_conditions(std::size_t parameter, const ConfigTable& when, const std::string& prefix) {
  Parameter& conditional = parameters_[parameter];
  for (const std::string& key : when.keys()) {
    const ConfigValue& value = *when.find(key);
    if (const ConfigTable* inner = as_table(value)) {
      read_conditions(parameter, *inner, prefix + key + ".");
      continue;
    }
    const std::optional<std::size_t> found = find(prefix + key);
    if (!found) {
      std::vector<std::string> keys;
      for (const Parameter& p : parameters_) keys.push_back(p.key);
      throw InputError(value.place, "'{}' depends on {}, which is not in [space]{}", conditional.key,
                       quote(prefix + key), did_you_mean(prefix + key, keys));
    }
    Parameter::Condition condition{*found, {}};
    const auto* list = std::get_if<ConfigList>(&value.data);
    if (list != nullptr && list->empty())
      throw InputError(value.place, "'{}' can never be active: '{}' has no values here", conditional.key, key);
    for (const ConfigValue& wanted : list == nullptr ? ConfigList{value} : *list)
      condition.values.push_back(condition_value(parameters_[*found], wanted, conditional.key));
    conditional.when.push_back(std::move(condition));
  }
}

// Topological sort (Kahn 1962): the next parameter is the first one whose conditions name only parameters already
// placed.
void Space::sort_by_conditions() {
  std::vector<bool> placed(size());
  while (order_.size() < size()) {
    std::size_t next = size();
    for (std::size_t p = 0; p < size() && next == size(); ++p)
      if (!placed[p] && std::ranges::all_of(parameters_[p].when, [&](const auto& c) { return placed[c.parameter]; }))
        next = p;
    if (next == size()) {
      std::vector<std::string> cycle;
      for (std::size_t p = 0; p < size(); ++p)
        if (!placed[p]) cycle.push_back("'" + parameters_[p].key + "'");
      throw InputError(parameters_.front().place, "the conditions of {} form a cycle", join(cycle, ", "));
    }
    placed[next] = true;
    order_.push_back(next);
  }
}

}  // namespace emplace::experiment
