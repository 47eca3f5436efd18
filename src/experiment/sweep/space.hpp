// The space of a sweep: which recipe keys vary, over which values and under which conditions. It maps points of the
// unit cube to assignments of values, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emplace/base/config.hpp"

namespace emplace::experiment {

// One recipe key that varies. Its values are numbers; for choices, the position in their list.
struct Parameter {
  enum class Kind : std::uint8_t { uniform, log_uniform, integers, log_integers, choices };
  // The parameter is active only if another parameter is active and has one of these values.
  struct Condition {
    std::size_t parameter;
    std::vector<double> values;
  };

  std::string key;  // "seed" or "ppo.learning_rate"
  Kind kind = Kind::uniform;
  double low = 0, high = 1;  // both included; for choices, 0 and the last position
  double step = 1;           // for Kind::integers
  std::vector<ConfigValue> choices = {};
  std::vector<Condition> when = {};  // all must hold; none: always active
  std::string place = {};            // for messages

  [[nodiscard]] bool continuous() const { return kind == Kind::uniform || kind == Kind::log_uniform; }
  // The number of values; 0 for a continuous range.
  [[nodiscard]] std::size_t count() const;
  // The value at `unit` in [0, 1]. Every value of a finite parameter has an equal part of the interval, or of its
  // logarithm; continuous values are rounded to six significant digits, so that tables are readable and no result
  // depends on the last bit of the system's logarithm.
  [[nodiscard]] double decode(double unit) const;
  // A number in [0, 1] that decodes to `value`: the middle of its part; for a continuous range it is exact up to
  // rounding.
  [[nodiscard]] double encode(double value) const;
  // The value as it is written in a recipe.
  [[nodiscard]] ConfigValue config(double value) const;
  // The value as it is written in tables: a text without quotes.
  [[nodiscard]] std::string text(double value) const;
};

// The values of one trial: one for each parameter, in the space's order; none if it is not active.
struct Assignment {
  std::vector<std::optional<double>> values;
  friend bool operator==(const Assignment&, const Assignment&) = default;
};

class Space {
 public:
  Space() = default;
  // The table [space] has an entry for each recipe key that varies; "ppo.learning_rate" may also be the key
  // learning_rate of the table [space.ppo]. A value is a list of choices or a table with one of
  //   choices = ["a", "b"]    uniform = [0, 1]    log_uniform = [1e-5, 1e-2]    integers = [1, 8]
  // With integers, `step` or `log = true` can be given; with each, `when = { learner = "ppo" }` (for each parameter a
  // value or a list). InputError for keys that no recipe has (the message suggests the nearest one), empty or reversed
  // ranges, choices given twice, conditions on a key that does not vary or that can never hold, and cycles of
  // conditions.
  explicit Space(const ConfigTable& table);

  [[nodiscard]] std::span<const Parameter> parameters() const { return parameters_; }
  [[nodiscard]] std::size_t size() const { return parameters_.size(); }
  [[nodiscard]] std::optional<std::size_t> find(std::string_view key) const;
  // Positions of the parameters, each after those that its conditions name, otherwise in the order of the file.
  [[nodiscard]] const std::vector<std::size_t>& order() const { return order_; }
  // Whether the conditions of `parameter` hold. The parameters that they name must be assigned already.
  [[nodiscard]] bool active(std::size_t parameter, const Assignment& assignment) const;

  // The assignment at a point of the unit cube, which has one coordinate for each parameter; coordinates of inactive
  // parameters have no effect.
  [[nodiscard]] Assignment decode(std::span<const double> point) const;
  [[nodiscard]] std::vector<std::optional<double>> encode(const Assignment& assignment) const;
  // The keys and values with which the assignment overrides a recipe (apply_values in run/recipe.hpp), without inactive
  // parameters.
  [[nodiscard]] std::vector<std::pair<std::string, ConfigValue>> overrides(const Assignment& assignment) const;
  // Assignments with which the whole space is checked: for each parameter one with each of its choices, or with both
  // ends of its range and a number between them. The other parameters have their first values that its conditions
  // allow.
  [[nodiscard]] std::vector<Assignment> corners() const;

  // One "key" = { ... } for each parameter.
  [[nodiscard]] ConfigTable resolved() const;

 private:
  void read_conditions(std::size_t parameter, const ConfigTable& when, const std::string& prefix);
  void sort_by_conditions();
  [[nodiscard]] std::vector<std::vector<double>> allowed_where_active(std::size_t parameter) const;

  std::vector<Parameter> parameters_;
  std::vector<std::size_t> order_;
};

// [space] with one entry for each parameter, by its dotted key; inner tables are flattened.
ConfigTable flat_space(const ConfigTable& table);

}  // namespace emplace::experiment
