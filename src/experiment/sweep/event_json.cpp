#include "experiment/sweep/event_json.hpp"

#include <nlohmann/json.hpp>

#include "emplace/base/error.hpp"

namespace emplace::experiment {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format = "sweep-record/1";

// Bytes that are not UTF-8 are replaced: error texts may have names of files, which can be any bytes.
std::string without_brace(const Json& object) {
  std::string text = object.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.pop_back();
  return text;
}

}  // namespace

std::string header_body() { return without_brace({{"event", "sweep"}, {"format", format}}); }

std::string body_of(const SweepEvent& event) {
  Json object = {{"event", event.kind == SweepEvent::Kind::begin ? "begin" : "end"},
                 {"trial", event.work.trial},
                 {"rung", event.work.rung}};
  if (event.kind == SweepEvent::Kind::begin) {
    object["values"] = event.values;
  } else {
    const TrialResult& result = event.result;
    object["objective"] = result.objective ? Json(*result.objective) : Json();
    object["error"] = result.error;
    object["seconds"] = result.seconds;
    object["updates"] = result.updates;
    object["evaluations"] = result.evaluations;
  }
  return without_brace(object);
}

void check_header(const std::string& object, const std::string& place) {
  const Json header = Json::parse(object, nullptr, false);
  if (!header.is_object() || header.value("event", "") != "sweep")
    throw InputError(place, "is not a record of a sweep");
  if (header.value("format", "") != format)
    throw InputError(place, "has format '{}', this program reads {}", header.value("format", ""), format);
}

SweepEvent event_of(const std::string& object, const std::string& place) {
  try {
    const Json json = Json::parse(object);
    const std::string kind = json.at("event");
    if (kind != "begin" && kind != "end") throw InputError(place, "'{}' is not an event of a sweep", kind);
    SweepEvent event{.kind = kind == "begin" ? SweepEvent::Kind::begin : SweepEvent::Kind::end,
                     .work = {json.at("trial").get<std::size_t>(), json.at("rung").get<std::size_t>()}};
    if (event.kind == SweepEvent::Kind::begin) {
      event.values = json.at("values").get<std::map<std::string, std::string>>();
      return event;
    }
    TrialResult& result = event.result;
    if (!json.at("objective").is_null()) result.objective = json.at("objective").get<double>();
    result.error = json.at("error");
    result.seconds = json.at("seconds");
    result.updates = json.at("updates");
    result.evaluations = json.at("evaluations");
    return event;
  } catch (const Json::exception& error) {
    throw InputError(place, "is not an event of a sweep: {}", error.what());
  }
}

}  // namespace emplace::experiment
