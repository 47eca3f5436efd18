// The space of a sweep: which recipe keys vary, over which values and under which conditions; points of the unit cube
// become assignments of values, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emplace/base/config.hpp"

namespace emplace::experiment {

// One recipe key that varies. A value is a number: of choices the position in their list.
struct Parameter {
  enum class Kind : std::uint8_t { uniform, log_uniform, integers, log_integers, choices };
  // The parameter is active only where another one is active and has one of these values.
  struct Condition {
    std::size_t parameter;
    std::vector<double> values;
  };

  std::string key;  // "seed" or "ppo.learning_rate"
  Kind kind = Kind::uniform;
  double low = 0, high = 1;  // both included; of choices 0 and the last position
  double step = 1;           // of Kind::integers
  std::vector<ConfigValue> choices = {};
  std::vector<Condition> when = {};  // all must hold; none: always active
  std::string place = {};            // for messages

  [[nodiscard]] bool continuous() const { return kind == Kind::uniform || kind == Kind::log_uniform; }
  // How many values there are; 0 for a continuous range.
  [[nodiscard]] std::size_t count() const;
  // The value at `unit` in [0, 1]. Every value of a finite parameter has an equal share of the interval, or of its
  // logarithm; continuous values are rounded to six significant digits, so that tables are readable and no result hangs
  // on the last bit of the system's logarithm.
  [[nodiscard]] double decode(double unit) const;
  // A number in [0, 1] that decodes to `value`: the middle of its share; within rounding for a continuous range.
  [[nodiscard]] double encode(double value) const;
  // As it stands in a recipe.
  [[nodiscard]] ConfigValue config(double value) const;
  // As it stands in tables: a text without quotes.
  [[nodiscard]] std::string text(double value) const;
};

// The values of one trial: one a parameter, in the space's order, none where it is not active.
struct Assignment {
  std::vector<std::optional<double>> values;
  friend bool operator==(const Assignment&, const Assignment&) = default;
};

class Space {
 public:
  Space() = default;
  // The table [space]: an entry a recipe key, "ppo.learning_rate" also as a key of the table [space.ppo]. A value is a
  // list of choices or a table with one of
  //   choices = ["a", "b"]    uniform = [0, 1]    log_uniform = [1e-5, 1e-2]    integers = [1, 8]
  // beside integers also `step` or `log = true`, and with each `when = { learner = "ppo" }` (a value or a list of them
  // a parameter). InputError for keys that no recipe has (with the nearest right one), empty or reversed ranges,
  // choices given twice, conditions on what is no parameter or can never hold, and cycles of conditions.
  explicit Space(const ConfigTable& table);

  [[nodiscard]] std::span<const Parameter> parameters() const { return parameters_; }
  [[nodiscard]] std::size_t size() const { return parameters_.size(); }
  [[nodiscard]] std::optional<std::size_t> find(std::string_view key) const;
  // Positions of the parameters, each behind those that its conditions name, else as in the file.
  [[nodiscard]] const std::vector<std::size_t>& order() const { return order_; }
  // Whether the conditions of `parameter` hold; those that they name are assigned already.
  [[nodiscard]] bool active(std::size_t parameter, const Assignment& assignment) const;

  // A point of the unit cube, one coordinate a parameter; coordinates of inactive parameters have no effect.
  [[nodiscard]] Assignment decode(std::span<const double> point) const;
  [[nodiscard]] std::vector<std::optional<double>> encode(const Assignment& assignment) const;
  // What the assignment puts over a recipe (apply_values in run/recipe.hpp); inactive parameters are left out.
  [[nodiscard]] std::vector<std::pair<std::string, ConfigValue>> overrides(const Assignment& assignment) const;
  // For each parameter one assignment with each of its choices, or with each end of its range and a number between, and
  // the first values of the others as far as its conditions let them: what a check of the whole space looks at.
  [[nodiscard]] std::vector<Assignment> corners() const;

  // One "key" = { ... } a parameter.
  [[nodiscard]] ConfigTable resolved() const;

 private:
  void read_conditions(std::size_t parameter, const ConfigTable& when, const std::string& prefix);
  void sort_by_conditions();
  [[nodiscard]] std::vector<std::vector<double>> allowed_where_active(std::size_t parameter) const;

  std::vector<Parameter> parameters_;
  std::vector<std::size_t> order_;
};

// [space] with one entry a parameter, by its dotted key: the tables in it taken apart.
ConfigTable flat_space(const ConfigTable& table);

}  // namespace emplace::experiment
