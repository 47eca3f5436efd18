#include "emplace/report/comparison.hpp"

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "emplace/simulate/engine.hpp"

namespace emplace {

Comparison compare(const Problem& problem, std::span<const NamedPlacement> placements) {
  std::map<Schedule, std::unique_ptr<Engine>> engines;
  Comparison comparison;
  for (const NamedPlacement& named : placements) {
    std::unique_ptr<Engine>& engine = engines[named.schedule];
    if (!engine) engine = make_exact_engine(problem, named.schedule);
    ComparedPlacement row;
    row.name = named.name;
    row.schedule = named.schedule;
    Timeline timeline;
    row.outcome = engine->evaluate(named.placement, {.usage = &row.usage, .timeline = &timeline});
    if (!row.outcome.feasible()) row.reason = reason_text(problem, row.outcome, named.placement.device, row.usage);
    row.ops_on.resize(problem.device_count());
    for (const std::uint8_t device : named.placement.device) ++row.ops_on[device];
    for (std::size_t op = 0; op < problem.op_count(); ++op)
      row.different += named.placement.device[op] != placements.front().placement.device[op] ? 1 : 0;
    row.transfers = timeline.transfers.size();
    for (const Timeline::Transfer& transfer : timeline.transfers)
      row.moved_bytes += problem.tensor_bytes[transfer.tensor.index()];
    comparison.placements.push_back(std::move(row));
    const std::size_t last = comparison.placements.size() - 1;
    if (better(comparison.placements[last].outcome, comparison.placements[comparison.best].outcome))
      comparison.best = last;
  }
  return comparison;
}

double ratio_to_best(const Comparison& comparison, std::size_t placement) {
  const Outcome& best = comparison.placements[comparison.best].outcome;
  const Outcome& outcome = comparison.placements[placement].outcome;
  if (!best.timed() || !outcome.timed()) return 0;
  return static_cast<double>(outcome.makespan) / static_cast<double>(best.makespan);
}

std::string comparison_json(const Problem& problem, const Comparison& comparison) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (std::size_t i = 0; i < comparison.placements.size(); ++i) {
    const ComparedPlacement& row = comparison.placements[i];
    const bool timed = row.outcome.timed();
    const auto if_timed = [&](auto value) { return timed ? Json(value) : Json(nullptr); };
    Json devices = Json::array();
    for (std::size_t d = 0; d < problem.device_count(); ++d) {
      const Device& device = problem.devices[d];
      Json cells = {{"name", device.name}, {"ops", row.ops_on[d]}};
      const Ticks busy = timed ? row.usage.device_busy[d] : 0;
      const Bytes peak = timed ? row.usage.device_peak[d] : 0;
      cells["busy_s"] = if_timed(to_seconds(busy));
      cells["busy_share"] = if_timed(static_cast<double>(busy) / static_cast<double>(row.outcome.makespan));
      cells["peak_memory_bytes"] = if_timed(peak);
      cells["overflow_bytes"] = if_timed(std::max<Bytes>(0, peak - device.memory));
      devices.push_back(std::move(cells));
    }
    const double ratio = ratio_to_best(comparison, i);
    rows.push_back({{"name", row.name},
                    {"schedule", name_of(row.schedule)},
                    {"makespan_ps", if_timed(row.outcome.makespan)},
                    {"makespan_s", if_timed(to_seconds(row.outcome.makespan))},
                    {"ratio_to_best", ratio == 0 ? Json(nullptr) : Json(ratio)},
                    {"feasible", row.outcome.feasible()},
                    {"reason", row.reason.empty() ? Json(nullptr) : Json(row.reason)},
                    {"transfers", if_timed(row.transfers)},
                    {"moved_bytes", if_timed(row.moved_bytes)},
                    {"ops_placed_differently", row.different},
                    {"devices", std::move(devices)}});
  }
  const Json json = {{"problem", problem.name},
                     {"best", comparison.placements[comparison.best].name},
                     {"placements", std::move(rows)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace emplace
