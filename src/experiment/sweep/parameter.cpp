#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "experiment/sweep/space.hpp"

namespace emplace::experiment {

namespace {

// For Kind::log_integers each whole number has the part of [low - 1/2, high + 1/2] around it, on a logarithmic scale.
constexpr double half = 0.5;

double along_log(double low, double high, double unit) {
  return std::exp(std::log(low) + unit * (std::log(high) - std::log(low)));
}
double share_of_log(double low, double high, double value) {
  return low == high ? half : (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
}

double six_digits(double value) {
  double rounded = 0;
  EMPLACE_CHECK(parse_number(fmt::format("{:.6g}", value), rounded));
  return rounded;
}

}  // namespace

std::size_t Parameter::count() const {
  return continuous() ? 0 : static_cast<std::size_t>(std::floor((high - low) / step)) + 1;
}

double Parameter::decode(double unit) const {
  switch (kind) {
    case Kind::uniform: return std::clamp(six_digits(low + unit * (high - low)), low, high);
    case Kind::log_uniform: return std::clamp(six_digits(along_log(low, high, unit)), low, high);
    case Kind::log_integers: return std::clamp(std::round(along_log(low - half, high + half, unit)), low, high);
    case Kind::integers:
    case Kind::choices: break;
  }
  const auto values = static_cast<double>(count());
  return low + step * std::min(std::floor(unit * values), values - 1);
}

double Parameter::encode(double value) const {
  switch (kind) {
    case Kind::uniform: return low == high ? half : (value - low) / (high - low);
    case Kind::log_uniform: return share_of_log(low, high, value);
    case Kind::log_integers: return share_of_log(low - half, high + half, value);
    case Kind::integers:
    case Kind::choices: break;
  }
  return ((value - low) / step + half) / static_cast<double>(count());
}

ConfigValue Parameter::config(double value) const {
  if (kind == Kind::choices) {
    ConfigValue choice = choices.at(static_cast<std::size_t>(value));
    choice.place = place;
    return choice;
  }
  if (continuous()) return {value, place};
  return {static_cast<std::int64_t>(value), place};
}

std::string Parameter::text(double value) const {
  const ConfigValue shown = config(value);
  if (const auto* text = std::get_if<std::string>(&shown.data)) return *text;
  ConfigTable line;
  line.set("v", shown);
  const std::string toml = line.to_toml();  // "v = ...\n"
  return toml.substr(4, toml.size() - 5);
}

}  // namespace emplace::experiment
