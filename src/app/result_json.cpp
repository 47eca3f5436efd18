#include "app/result_json.hpp"

#include <algorithm>

#include "app/command.hpp"

namespace emplace::app {

namespace {

void put_value(Json& json, const Outcome& outcome, Objective objective) {
  const bool pipeline = objective == Objective::pipeline;
  if (!pipeline) json["makespan_ps"] = outcome.timed() ? Json(outcome.makespan) : Json(nullptr);
  json[pipeline ? "load_s" : "makespan_s"] = outcome.timed() ? Json(to_seconds(outcome.makespan)) : Json(nullptr);
  json["feasible"] = outcome.feasible();
}

}  // namespace

Json time_of(const std::optional<verdict::Reference>& reference) {
  return reference ? Json(to_seconds(reference->outcome.makespan)) : Json(nullptr);
}

Json to_json(const PlacementReport& report) {
  const Problem& problem = *report.problem;
  Json json;
  json["method"] = report.method;
  put_value(json, report.outcome, report.objective);
  json["evaluations"] = report.evaluations;
  json["seconds"] = report.seconds;
  json["lower_bound_s"] = report.lower_bound ? Json(to_seconds(*report.lower_bound)) : Json(nullptr);
  json["proved_optimal"] = report.proved_optimal;
  if (report.references != nullptr) {
    json["single_s"] = time_of(report.references->single);
    json["expert_s"] = time_of(report.references->expert);
  }
  if (report.verdict != nullptr) {
    json["verdict"] = report.verdict->sentences;
    json["next"] = report.verdict->next.empty() ? Json(nullptr) : Json(report.verdict->next);
  }
  json["schedule"] = name_of(report.schedule);
  json["order"] = nullptr;
  if (!report.placement->order.empty()) {
    Json order = Json::array();
    for (const std::uint32_t op : report.placement->order) order.push_back(problem.op_names[op]);
    json["order"] = std::move(order);
  }
  // Built as a flat list: ordered_json looks every new key up, which is quadratic in the number of ops.
  Json::object_t ops;
  ops.reserve(problem.op_count());
  for (std::size_t op = 0; op < problem.op_count(); ++op)
    static_cast<std::vector<std::pair<const std::string, Json>>&>(ops).emplace_back(
        problem.op_names[op], problem.devices[report.placement->device[op]].name);
  json["ops"] = std::move(ops);
  return json;
}

Json to_json(const Problem& problem, const Outcome& outcome, const Usage& usage, Objective objective) {
  const bool timed = outcome.timed();
  Json json;
  put_value(json, outcome, objective);
  json["reason"] = nullptr;
  json["devices"] = Json::array();
  for (std::size_t d = 0; d < problem.device_count(); ++d) {
    const Device& device = problem.devices[d];
    Json row = {
        {"name", device.name}, {"busy_s", nullptr}, {"peak_memory_bytes", nullptr}, {"overflow_bytes", nullptr}};
    if (timed) {
      row["busy_s"] = to_seconds(usage.device_busy[d]);
      row["peak_memory_bytes"] = usage.device_peak[d];
      row["overflow_bytes"] = std::max<Bytes>(0, usage.device_peak[d] - device.memory);
    }
    json["devices"].push_back(std::move(row));
  }
  json["channels"] = Json::array();
  for (std::size_t c = 0; c < problem.channels.size(); ++c) {
    Json row = {{"name", problem.channels[c].name}, {"busy_s", nullptr}, {"bytes", nullptr}};
    if (timed) {
      row["busy_s"] = to_seconds(usage.channel_busy[c]);
      row["bytes"] = usage.channel_bytes[c];
    }
    json["channels"].push_back(std::move(row));
  }
  return json;
}

void print_json(const Json& value) {
  write_output("", value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace emplace::app
