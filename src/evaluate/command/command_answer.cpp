#include "evaluate/command/command_answer.hpp"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace emplace::evaluate {

namespace {

using Json = nlohmann::json;

constexpr double most_seconds = 1e6;

CommandAnswer failed(std::string why) { return {.failure = std::move(why)}; }

CommandAnswer time_of(const Json& value, const char* what) {
  if (!value.is_number())
    return failed(fmt::format("its {} is not a number: {}", what,
                              quote(value.dump(-1, ' ', true, Json::error_handler_t::replace))));
  const auto seconds = value.get<double>();
  if (!(seconds > 0 && seconds <= most_seconds))
    return failed(fmt::format("its {} is {}, wanted a time above 0 and at most {} s", what, seconds, most_seconds));
  return {.seconds = seconds};
}

CommandAnswer answer_of(const Json& object) {
  if (const auto feasible = object.find("feasible"); feasible != object.end()) {
    if (!feasible->is_boolean()) return failed("its \"feasible\" is neither true nor false");
    if (!feasible->get<bool>()) {
      const auto reason = object.find("reason");
      return {.failure = reason != object.end() && reason->is_string()
                             ? printable(reason->get<std::string>().substr(0, 1000))
                             : std::string("it said that the placement is infeasible"),
              .infeasible = true};
    }
  }
  const char* found = nullptr;
  for (const char* key : {"seconds", "makespan_s", "load_s"}) {
    if (!object.contains(key)) continue;
    if (found != nullptr) return failed(fmt::format("it printed both \"{}\" and \"{}\"", found, key));
    found = key;
  }
  if (found == nullptr) return failed("it printed an object without \"seconds\"");
  return time_of(object[found], fmt::format("\"{}\"", found).c_str());
}

}  // namespace

CommandAnswer read_command_answer(std::string_view output) {
  if (output.find_first_not_of(" \t\r\n") == std::string_view::npos) return failed("it printed nothing");
  const Json value = Json::parse(output.begin(), output.end(), nullptr, false);
  if (value.is_object()) return answer_of(value);
  if (value.is_number()) return time_of(value, "answer");
  return failed(
      fmt::format("it printed {}, wanted JSON: a number of seconds or an object with \"seconds\"", quote(output)));
}

}  // namespace emplace::evaluate
