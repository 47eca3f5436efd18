// Reads sinnen-optimal JSON: a list of task graphs with an optimal schedule (O. Sinnen's group, University of
// Auckland). Processors are equal; an edge's delay applies between different processors, and transfers never wait for a
// link. Times are microseconds.
#include "emplace/base/error.hpp"
#include "formats/workload/parts.hpp"

namespace emplace::formats {

namespace {

using json::Fields;
using json::Place;
using json::Value;

const std::vector<std::string> instance_keys = {"name",    "processors", "optimal",  "solver",
                                                "weights", "edges",      "schedule", "recheck"};

// Checks the form of the schedule, although the problem does not use it.
void check_schedule(const Fields& fields, std::size_t tasks, std::size_t processors) {
  if (fields.find("schedule") == nullptr) return;
  const Place place = fields.place("schedule");
  check_length(fields.need("schedule"), place, tasks);
  fields.need("schedule").each_element(place, [&](std::size_t i, Value task) {
    const Place at(place, i);
    check_length(task, at, 2);
    task.each_element(at, [&](std::size_t part, Value value) {
      if (part == 0)
        static_cast<void>(value.whole(Place(at, part), 0, static_cast<std::int64_t>(processors) - 1));
      else
        seconds_at(value, Place(at, part), microsecond);
    });
  });
}

void read_edges(const Fields& fields, std::size_t tasks, ProblemBuilder& builder) {
  EdgeSet edges;
  const Place place = fields.place("edges");
  fields.need("edges").each_element(place, [&](std::size_t i, Value edge) {
    const Place at(place, i);
    check_length(edge, at, 3);
    std::uint32_t ends[2] = {};
    double seconds[1] = {};
    edge.each_element(at, [&](std::size_t part, Value value) {
      if (part < 2)
        ends[part] = static_cast<std::uint32_t>(value.whole(Place(at, part), 0, static_cast<std::int64_t>(tasks) - 1));
      else
        seconds[0] = seconds_at(value, Place(at, part), microsecond);
    });
    edges.add(ends[0], ends[1], at.str());
    builder.add_tensor(OpId{ends[0]}, 0, {OpId{ends[1]}}, at.str(), seconds);
  });
}

Problem read_sinnen(std::string_view text, const std::string& file, const WorkloadRequest& request) {
  const json::Document document = json::parse(text, file);
  const Place list(file);
  const auto [name, instance] = choose_instance(document.root(), list, request);
  const Place place(list, name);
  const Fields fields(instance, place, instance_keys);
  const auto processors =
      static_cast<std::size_t>(fields.whole("processors", 1, static_cast<std::int64_t>(max_devices)));
  refuse_processors(request, place.str(), processors);
  ProblemBuilder builder = processors_with_delays(name, processors, place.str());
  const std::size_t tasks = add_tasks(fields, processors, builder);
  read_edges(fields, tasks, builder);
  check_schedule(fields, tasks, processors);
  if (fields.find("optimal") != nullptr) seconds_at(fields.need("optimal"), fields.place("optimal"), microsecond);
  for (const char* key : {"solver", "recheck"}) static_cast<void>(fields.text_or_empty(key));
  return builder.build(place.str());
}

}  // namespace

WorkloadEntry sinnen_workload() {
  WorkloadEntry entry;
  entry.name = "sinnen-optimal";
  entry.summary = "JSON list of task graphs on equal processors with delays, times in microseconds (FILE#NAME).";
  entry.reference = "optimal-schedule collection of O. Sinnen's group";
  entry.recognises = [](const TextOutline& outline) {
    return outline.bracket == '[' && outline.has("weights") && !outline.has("preds");
  };
  entry.read = read_sinnen;
  return entry;
}

}  // namespace emplace::formats
