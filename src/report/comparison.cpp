#include "report/comparison.hpp"
#include "simulate/pipeline/pipeline.hpp"

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "emplace/simulate/engine.hpp"

namespace emplace::report {

namespace {

class Judge {
 public:
  Judge(const Problem& problem, const std::optional<simulate::PipelineOptions>& pipeline)
      : p_(problem), pipeline_(pipeline) {
    if (pipeline_) by_load_ = simulate::make_pipeline_engine(p_, *pipeline_);
  }

  void fill(ComparedPlacement& row, const Placement& placement) {
    pipeline_ ? fill_load(row, placement) : fill_step(row, placement);
  }

 private:
  void fill_step(ComparedPlacement& row, const Placement& placement) {
    std::unique_ptr<simulate::Engine>& engine = by_time_[row.schedule];
    if (!engine) engine = simulate::make_exact_engine(p_, row.schedule);
    simulate::Timeline timeline;
    row.outcome = engine->evaluate(placement, {.usage = &row.usage, .timeline = &timeline});
    if (!row.outcome.feasible()) row.reason = reason_text(p_, row.outcome, placement.device, row.usage);
    row.transfers = timeline.transfers.size();
    for (const simulate::Timeline::Transfer& transfer : timeline.transfers)
      row.moved_bytes += p_.tensor_bytes[transfer.tensor.index()];
  }

  void fill_load(ComparedPlacement& row, const Placement& placement) {
    row.outcome = by_load_->evaluate(placement, {.usage = &row.usage, .timeline = nullptr});
    if (!row.outcome.feasible())
      row.reason = simulate::pipeline_reason_text(p_, row.outcome, placement.device, row.usage);
    for (const simulate::DeviceLoad& load : simulate::pipeline_loads(p_, placement))
      row.load.push_back(simulate::load_of(load, *pipeline_));
  }

  const Problem& p_;
  const std::optional<simulate::PipelineOptions> pipeline_;
  std::unique_ptr<simulate::Engine> by_load_;
  std::map<Schedule, std::unique_ptr<simulate::Engine>> by_time_;
};

}  // namespace

Comparison compare(const Problem& problem, std::span<const NamedPlacement> placements,
                   const std::optional<simulate::PipelineOptions>& pipeline) {
  Judge judge(problem, pipeline);
  Comparison comparison;
  comparison.objective = pipeline ? Objective::pipeline : Objective::step;
  for (const NamedPlacement& named : placements) {
    ComparedPlacement row;
    row.name = named.name;
    row.schedule = named.schedule;
    judge.fill(row, named.placement);
    row.ops_on.resize(problem.device_count());
    for (const std::uint8_t device : named.placement.device) ++row.ops_on[device];
    for (std::size_t op = 0; op < problem.op_count(); ++op)
      row.different += named.placement.device[op] != placements.front().placement.device[op] ? 1 : 0;
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
  const bool pipeline = comparison.objective == Objective::pipeline;
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
      if (pipeline) cells["load_s"] = if_timed(timed ? to_seconds(row.load[d]) : 0);
      if (!pipeline)
        cells["busy_share"] = if_timed(static_cast<double>(busy) / static_cast<double>(row.outcome.makespan));
      cells["peak_memory_bytes"] = if_timed(peak);
      cells["overflow_bytes"] = if_timed(std::max<Bytes>(0, peak - device.memory));
      devices.push_back(std::move(cells));
    }
    const double ratio = ratio_to_best(comparison, i);
    Json cells = {{"name", row.name}};
    if (pipeline) {
      cells["load_s"] = if_timed(to_seconds(row.outcome.makespan));
    } else {
      cells["schedule"] = name_of(row.schedule);
      cells["makespan_ps"] = if_timed(row.outcome.makespan);
      cells["makespan_s"] = if_timed(to_seconds(row.outcome.makespan));
    }
    cells["ratio_to_best"] = ratio == 0 ? Json(nullptr) : Json(ratio);
    cells["feasible"] = row.outcome.feasible();
    cells["reason"] = row.reason.empty() ? Json(nullptr) : Json(row.reason);
    if (!pipeline) {
      cells["transfers"] = if_timed(row.transfers);
      cells["moved_bytes"] = if_timed(row.moved_bytes);
    }
    cells["ops_placed_differently"] = row.different;
    cells["devices"] = std::move(devices);
    rows.push_back(std::move(cells));
  }
  const Json json = {{"problem", problem.name},
                     {"best", comparison.placements[comparison.best].name},
                     {"placements", std::move(rows)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace emplace::report
