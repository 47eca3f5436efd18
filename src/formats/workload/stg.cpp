// Reads stg JSON: graphs of the Standard Task Graph Set (Kasahara, Waseda University) without communication, on any
// number of equal processors. Times are microseconds. A transfer takes one tick, the shortest time that is possible.
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/workload/parts.hpp"

namespace emplace::formats {

namespace {

using json::Fields;
using json::Place;
using json::Value;

const std::vector<std::string> stg_keys = {"name", "weights", "preds", "critical_path", "total_work", "table", "check"};

// The processor counts for which the file has a published makespan, as a text for messages.
std::string published_counts(const Fields& fields) {
  const Value* table = fields.find("table");
  if (table == nullptr) return {};
  std::vector<std::string> counts;
  table->each_member(fields.place("table"), [&](std::string_view count, Value) {
    if (counts.size() < 8) counts.emplace_back(quote(count));
  });
  return counts.empty() ? std::string() : " (there are published makespans for " + join(counts, ", ") + ")";
}

void read_stg_edges(const Fields& fields, std::size_t tasks, ProblemBuilder& builder) {
  const Place preds = fields.place("preds");
  const std::size_t rows = fields.need("preds").array_size(preds);
  if (rows != tasks) throw InputError(preds.str(), "must have one list for each of the {} tasks, got {}", tasks, rows);
  std::vector<std::vector<OpId>> consumers(tasks);
  fields.need("preds").each_element(preds, [&](std::size_t task, Value row) {
    const Place at(preds, task);
    row.each_element(at, [&](std::size_t i, Value producer) {
      const std::int64_t from = producer.whole(Place(at, i), 0, static_cast<std::int64_t>(tasks) - 1);
      std::vector<OpId>& list = consumers[static_cast<std::size_t>(from)];
      if (!list.empty() && list.back().index() == task)  // rows come in order, so a repeated entry is the last one
        throw InputError(Place(at, i).str(), "the predecessor {} is listed twice", from);
      list.push_back(OpId{task});
    });
  });
  constexpr double no_time[] = {0};
  for (std::size_t task = 0; task < tasks; ++task)
    if (!consumers[task].empty())
      builder.add_tensor(OpId{task}, 0, std::move(consumers[task]), fmt::format("{}: task {}", preds.str(), task),
                         no_time);
}

Problem read_stg(std::string_view text, const std::string& file, const WorkloadRequest& request) {
  const json::Document document = json::parse(text, file);
  const Place list(file);
  const auto [name, instance] = choose_instance(document.root(), list, request);
  const Place place(list, name);
  const Fields fields(instance, place, stg_keys);
  if (!request.processors)
    throw InputError(place.str(), "does not state the number of processors: add ?processors=P{}",
                     published_counts(fields));
  const auto processors = static_cast<std::size_t>(*request.processors);
  ProblemBuilder builder =
      processors_with_delays(fmt::format("{}?processors={}", name, processors), processors, place.str());
  const std::size_t tasks = add_tasks(fields, processors, builder);
  read_stg_edges(fields, tasks, builder);
  return builder.build(place.str());
}

}  // namespace

WorkloadEntry stg_workload() {
  WorkloadEntry entry;
  entry.name = "stg";
  entry.summary = "JSON list of task graphs without communication, times in microseconds (FILE#NAME?processors=P).";
  entry.reference = "Standard Task Graph Set, Kasahara et al.";
  entry.recognises = [](const TextOutline& outline) {
    return outline.bracket == '[' && outline.has("weights") && outline.has("preds");
  };
  entry.read = read_stg;
  return entry;
}

}  // namespace emplace::formats
