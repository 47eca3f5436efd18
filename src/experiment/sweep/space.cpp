#include "experiment/sweep/space.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"

namespace emplace::experiment {

std::optional<std::size_t> Space::find(std::string_view key) const {
  for (std::size_t p = 0; p < size(); ++p)
    if (parameters_[p].key == key) return p;
  return std::nullopt;
}

bool Space::active(std::size_t parameter, const Assignment& assignment) const {
  return std::ranges::all_of(parameters_[parameter].when, [&](const Parameter::Condition& condition) {
    const std::optional<double>& value = assignment.values[condition.parameter];
    return value && std::ranges::find(condition.values, *value) != condition.values.end();
  });
}

Assignment Space::decode(std::span<const double> point) const {
  EMPLACE_CHECK(point.size() == size());
  Assignment assignment{std::vector<std::optional<double>>(size())};
  for (const std::size_t p : order_)
    if (active(p, assignment)) assignment.values[p] = parameters_[p].decode(point[p]);
  return assignment;
}

std::vector<std::optional<double>> Space::encode(const Assignment& assignment) const {
  std::vector<std::optional<double>> point(size());
  for (std::size_t p = 0; p < size(); ++p)
    if (assignment.values[p]) point[p] = parameters_[p].encode(*assignment.values[p]);
  return point;
}

std::vector<std::pair<std::string, ConfigValue>> Space::overrides(const Assignment& assignment) const {
  std::vector<std::pair<std::string, ConfigValue>> values;
  for (std::size_t p = 0; p < size(); ++p)
    if (assignment.values[p]) values.emplace_back(parameters_[p].key, parameters_[p].config(*assignment.values[p]));
  return values;
}

// For every parameter, the values that it can have if `parameter` is active; an empty list means any value. All
// conditions must hold, also those of the parameters that conditions name, so each condition narrows the values
// further. InputError if none are left.
std::vector<std::vector<double>> Space::allowed_where_active(std::size_t parameter) const {
  std::vector<std::vector<double>> allowed(size());
  std::vector<std::size_t> waiting = {parameter};
  std::vector<bool> seen(size());
  while (!waiting.empty()) {
    const Parameter& p = parameters_[waiting.back()];
    waiting.pop_back();
    for (const Parameter::Condition& condition : p.when) {
      std::vector<double>& values = allowed[condition.parameter];
      if (values.empty()) {
        values = condition.values;
      } else {
        std::erase_if(values,
                      [&](double v) { return std::ranges::find(condition.values, v) == condition.values.end(); });
        if (values.empty())
          throw InputError(parameters_[parameter].place,
                           "'{}' can never be active: its conditions need different values of '{}'",
                           parameters_[parameter].key, parameters_[condition.parameter].key);
      }
      if (!seen[condition.parameter]) waiting.push_back(condition.parameter);
      seen[condition.parameter] = true;
    }
  }
  return allowed;
}

std::vector<Assignment> Space::corners() const {
  std::vector<Assignment> corners;
  for (std::size_t looked_at = 0; looked_at < size(); ++looked_at) {
    const Parameter& parameter = parameters_[looked_at];
    std::vector<double> values = {parameter.low, parameter.high};
    // For uniform = [1, 3] of a key for whole numbers, both ends are valid, so a number between them must be checked.
    if (parameter.continuous()) values.push_back(parameter.decode(0.381966));
    if (parameter.kind == Parameter::Kind::choices) {
      values.clear();
      for (std::size_t i = 0; i < parameter.choices.size(); ++i) values.push_back(static_cast<double>(i));
    }
    const auto allowed = allowed_where_active(looked_at);
    for (const double value : values) {
      Assignment corner{std::vector<std::optional<double>>(size())};
      for (const std::size_t p : order_) {
        if (!active(p, corner)) continue;
        corner.values[p] = p == looked_at ? value : allowed[p].empty() ? parameters_[p].low : allowed[p].front();
      }
      if (std::ranges::find(corners, corner) == corners.end()) corners.push_back(std::move(corner));
    }
  }
  return corners;
}

ConfigTable Space::resolved() const {
  const auto entry = [](ConfigTable table) { return ConfigValue{std::vector{std::move(table)}, "echo"}; };
  const auto values_of = [](const Parameter& parameter, std::span<const double> values) {
    ConfigList list;
    for (const double value : values) list.push_back(parameter.config(value));
    return ConfigValue{std::move(list), "echo"};
  };
  ConfigTable table("echo");
  for (const Parameter& p : parameters_) {
    ConfigTable form("echo");
    const double ends[] = {p.low, p.high};
    switch (p.kind) {
      case Parameter::Kind::choices: form.set("choices", {p.choices, "echo"}); break;
      case Parameter::Kind::uniform: form.set("uniform", values_of(p, ends)); break;
      case Parameter::Kind::log_uniform: form.set("log_uniform", values_of(p, ends)); break;
      case Parameter::Kind::integers:
        form.set("integers", values_of(p, ends));
        if (p.step != 1) form.set("step", {static_cast<std::int64_t>(p.step), "echo"});
        break;
      case Parameter::Kind::log_integers:
        form.set("integers", values_of(p, ends));
        form.set("log", {true, "echo"});
        break;
    }
    ConfigTable when("echo");
    for (const Parameter::Condition& condition : p.when)
      when.set(parameters_[condition.parameter].key, values_of(parameters_[condition.parameter], condition.values));
    if (!when.empty()) form.set("when", entry(std::move(when)));
    table.set(p.key, entry(std::move(form)));
  }
  return table;
}

}  // namespace emplace::experiment
