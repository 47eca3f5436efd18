#include "evaluate/command/command_answer.hpp"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "base/text.hpp"

namespace emplace::evaluate {

namespace {

using Json = nlohmann::json;

constexpr double most_seconds = 1e6;

CommandAnswer failed(std::string why) { return {.failure = std::move(why)}; }

// An answer needs one level; the others are for what a program may print beside its time.
constexpr std::size_t deepest_answer = 16;

// Whether brackets outside texts are nested deeper than that. The parser's values are printed and destroyed by
// functions that call themselves for each level, so text of many levels must not reach the parser.
bool nested_too_deep(std::string_view json) {
  std::size_t depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_text = !in_text;
    } else if (!in_text && (c == '[' || c == '{')) {
      if (++depth > deepest_answer) return true;
    } else if (!in_text && (c == ']' || c == '}')) {
      depth -= depth > 0 ? 1 : 0;
    }
  }
  return false;
}

// Finds a key that one object has twice, of which it is not clear which value counts, while the parser reads.
struct DoubledKey {
  std::optional<std::string> name = {};
  std::vector<std::set<std::string>> keys = {};  // of the objects and lists that are open

  // Called by the parser; `depth` counts the objects and lists around.
  bool see(std::size_t depth, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start) {
      keys.resize(depth + 1);
      keys.emplace_back();
    } else if (event == Json::parse_event_t::key && depth < keys.size() && !name) {
      if (auto key = parsed.get<std::string>(); !keys[depth].insert(key).second) name = std::move(key);
    }
    return true;
  }
};

CommandAnswer time_of(const Json& value, const char* what) {
  if (!value.is_number())
    return failed(fmt::format("its {} is not a number: {}", what,
                              quote(value.dump(-1, ' ', true, Json::error_handler_t::replace))));
  const auto seconds = value.get<double>();
  if (!(seconds > 0 && seconds <= most_seconds))
    return failed(fmt::format("its {} is {}, wanted a time above 0 and at most {} s", what, seconds, most_seconds));
  return {.seconds = seconds};
}

// A text that the program gives as a reason.
std::optional<std::string> reason_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return printable(found->get<std::string>().substr(0, 1000));
}

CommandAnswer answer_of(const Json& object) {
  if (auto error = reason_in(object, "error")) return {.failure = std::move(*error), .reported = true};
  if (const auto feasible = object.find("feasible"); feasible != object.end()) {
    if (!feasible->is_boolean()) return failed("its \"feasible\" is neither true nor false");
    if (!feasible->get<bool>())
      return {.failure = reason_in(object, "reason").value_or("it said that the placement is infeasible"),
              .infeasible = true,
              .reported = true};
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
  if (nested_too_deep(output))
    return failed(fmt::format("it printed JSON that is nested deeper than {} levels", deepest_answer));
  DoubledKey doubled;
  const auto see = [&](int depth, Json::parse_event_t event, Json& parsed) {
    return doubled.see(static_cast<std::size_t>(depth), event, parsed);
  };
  const Json value = Json::parse(output.begin(), output.end(), see, false);
  if (doubled.name && !value.is_discarded())
    return failed(fmt::format("it printed {} twice in one object", quote(*doubled.name)));
  if (value.is_object()) return answer_of(value);
  if (value.is_number()) return time_of(value, "answer");
  return failed(
      fmt::format("it printed {}, wanted JSON: a number of seconds or an object with \"seconds\"", quote(output)));
}

}  // namespace emplace::evaluate
