#include <nlohmann/json.hpp>

#include "report/explanation.hpp"
#include "report/names.hpp"

namespace emplace::report {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t shown_alive = 10;
constexpr std::size_t shown_levels = 200;

class Writer {
 public:
  Writer(const Problem& problem, const Placement& placement, const Explanation& explanation,
         const verdict::Verdict& head)
      : p_(problem), placement_(placement), e_(explanation), head_(head) {}

  [[nodiscard]] Json json() const {
    const bool timed = e_.outcome.timed();
    Json json = {{"problem", p_.name}, {"schedule", name_of(e_.schedule)}};
    json["makespan_ps"] = timed ? Json(e_.outcome.makespan) : Json(nullptr);
    json["makespan_s"] = timed ? Json(to_seconds(e_.outcome.makespan)) : Json(nullptr);
    json["feasible"] = e_.outcome.feasible();
    json["reason"] = e_.reason.empty() ? Json(nullptr) : Json(e_.reason);
    if (!head_.empty()) json["verdict"] = verdict();
    json["limits"] = timed ? limits() : Json(nullptr);
    json["critical_path"] = timed ? critical_path() : Json(nullptr);
    json["devices"] = timed ? devices() : Json(nullptr);
    json["channels"] = timed ? channels() : Json(nullptr);
    json["moved_bytes"] = timed ? Json(e_.moved_bytes) : Json(nullptr);
    json["ops"] = timed ? ops() : Json(nullptr);
    json["tensors"] = timed ? tensors() : Json(nullptr);
    json["moves"] = moves();
    return json;
  }

 private:
  [[nodiscard]] const std::string& device(std::size_t id) const { return p_.devices[id].name; }
  [[nodiscard]] const std::string& device_of(std::size_t op) const { return device(placement_.device[op]); }
  [[nodiscard]] double share(Ticks part) const {
    return static_cast<double>(part) / static_cast<double>(e_.outcome.makespan);
  }

  [[nodiscard]] Json verdict() const {
    Json rows = Json::array();
    for (const auto& [name, time] : head_.rows)
      rows.push_back({{"name", name}, {"makespan_s", time ? Json(to_seconds(*time)) : Json(nullptr)}});
    return {{"rows", std::move(rows)},
            {"sentences", head_.sentences},
            {"next", head_.next.empty() ? Json(nullptr) : Json(head_.next)}};
  }

  [[nodiscard]] Json limits() const {
    Json rows = Json::array();
    for (const Limit& limit : e_.limits) {
      Json row = {{"kind", name_of(limit.kind)},
                  {"name", limit.kind == LimitKind::chain ? Json(nullptr) : Json(limit.name)},
                  {"share", limit.share},
                  {"slack_s", limit.kind == LimitKind::memory ? Json(nullptr) : Json(to_seconds(limit.slack))},
                  {"fills", limit.fills},
                  {"sentence", limit.sentence}};
      if (limit.kind == LimitKind::memory) row["free_bytes"] = limit.free;
      if (limit.kind == LimitKind::chain) {
        row["waits"] = Json::array();
        for (const auto& [name, share] : limit.waits) row["waits"].push_back({{"for", name}, {"share", share}});
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

  [[nodiscard]] Json critical_path() const {
    Json steps = Json::array();
    for (const simulate::PathStep& step : e_.path) {
      Json row;
      if (step.is_op()) {
        row = {{"op", p_.op_names[step.op.index()]}, {"device", device_of(step.op.index())}};
      } else {
        const simulate::Timeline::Transfer& transfer = e_.timeline.transfers[step.transfer];
        row = {{"tensor", tensor_name(p_, transfer.tensor)},
               {"from", device(transfer.from.index())},
               {"to", device(transfer.to.index())}};
      }
      row["start_ps"] = step.start;
      row["end_ps"] = step.end;
      row["wait_ps"] = step.wait();
      row["reason"] = name_of(step.reason);
      if (!step.channel.is_none()) row["channel"] = p_.channels[step.channel.index()].name;
      steps.push_back(std::move(row));
    }
    return {{"computing_s", to_seconds(e_.shares.computing)},
            {"transferring_s", to_seconds(e_.shares.transferring)},
            {"waiting_s", to_seconds(e_.shares.waiting)},
            {"steps", std::move(steps)}};
  }

  [[nodiscard]] Json devices() const {
    Json rows = Json::array();
    for (std::size_t d = 0; d < p_.device_count(); ++d) {
      const Bytes limit = p_.devices[d].memory;
      const PeakMemory& peak = e_.at_peak[d];
      Json largest = Json::array();
      for (std::size_t i = 0; i < std::min(peak.alive.size(), shown_alive); ++i) largest.push_back(held(peak.alive[i]));
      Json levels = Json::array();
      for (const simulate::DeviceMemory::Level& level : simulate::thinned(e_.memory[d].levels, shown_levels))
        levels.push_back({to_seconds(level.time), level.bytes});
      rows.push_back({{"name", device(d)},
                      {"ops", e_.ops_on[d]},
                      {"busy_s", to_seconds(e_.usage.device_busy[d])},
                      {"busy_share", share(e_.usage.device_busy[d])},
                      {"idle_share", share(e_.outcome.makespan - e_.usage.device_busy[d])},
                      {"memory_bytes", limit == no_memory_limit ? Json(nullptr) : Json(limit)},
                      {"peak_memory_bytes", e_.usage.device_peak[d]},
                      {"overflow_bytes", std::max<Bytes>(0, e_.usage.device_peak[d] - limit)},
                      {"peak_at_s", to_seconds(e_.memory[d].peak_time)},
                      {"at_peak",
                       {{"resident_bytes", peak.resident},
                        {"output_bytes", peak.outputs},
                        {"copy_bytes", peak.copies},
                        {"scratch_bytes", peak.scratch},
                        {"largest", std::move(largest)}}},
                      {"memory_over_time", std::move(levels)}});
    }
    return rows;
  }

  [[nodiscard]] Json held(const simulate::Holding& holding) const {
    switch (holding.kind) {
      case simulate::Holding::Kind::resident:
        return {{"kind", "resident"}, {"op", p_.op_names[holding.id]}, {"bytes", holding.bytes}};
      case simulate::Holding::Kind::scratch:
        return {{"kind", "scratch"}, {"op", p_.op_names[holding.id]}, {"bytes", holding.bytes}};
      case simulate::Holding::Kind::output:
        return {{"kind", "output"}, {"tensor", tensor_name(p_, TensorId{holding.id})}, {"bytes", holding.bytes}};
      case simulate::Holding::Kind::copy: break;
    }
    return {{"kind", "copy"}, {"tensor", tensor_name(p_, TensorId{holding.id})}, {"bytes", holding.bytes}};
  }

  [[nodiscard]] Json channels() const {
    Json rows = Json::array();
    for (std::size_t c = 0; c < p_.channels.size(); ++c)
      rows.push_back({{"name", p_.channels[c].name},
                      {"busy_s", to_seconds(e_.usage.channel_busy[c])},
                      {"busy_share", share(e_.usage.channel_busy[c])},
                      {"bytes", e_.usage.channel_bytes[c]}});
    return rows;
  }

  [[nodiscard]] Json ops() const {
    Json rows = Json::array();
    for (const OpId op : e_.costly_ops) {
      const Ticks time = e_.timeline.op_end[op.index()] - e_.timeline.op_start[op.index()];
      rows.push_back({{"op", p_.op_names[op.index()]},
                      {"type", p_.op_types[op.index()]},
                      {"device", device_of(op.index())},
                      {"seconds", to_seconds(time)},
                      {"share", share(time)}});
    }
    return rows;
  }

  [[nodiscard]] Json tensors() const {
    Json rows = Json::array();
    for (const TensorCost& cost : e_.costly_tensors)
      rows.push_back({{"tensor", tensor_name(p_, cost.tensor)},
                      {"from", device_of(p_.producer[cost.tensor.index()].index())},
                      {"bytes", p_.tensor_bytes[cost.tensor.index()]},
                      {"transfers", cost.transfers},
                      {"moved_bytes", cost.bytes},
                      {"moving_s", to_seconds(cost.moving)},
                      {"waiting_s", to_seconds(cost.waiting)}});
    return rows;
  }

  [[nodiscard]] Json moves() const {
    Json rows = Json::array();
    for (const Move& move : e_.moves.best) {
      Json names = Json::array();
      for (const std::uint32_t op : move.ops) names.push_back(p_.op_names[op]);
      rows.push_back({{"ops", std::move(names)},
                      {"to", device(move.to.index())},
                      {"makespan_ps", move.outcome.timed() ? Json(move.outcome.makespan) : Json(nullptr)},
                      {"makespan_s", move.outcome.timed() ? Json(to_seconds(move.outcome.makespan)) : Json(nullptr)},
                      {"feasible", move.outcome.feasible()}});
    }
    return {{"possible", e_.moves.possible},
            {"guessed", e_.moves.guessed},
            {"simulated", e_.moves.simulated},
            {"best", std::move(rows)}};
  }

  const Problem& p_;
  const Placement& placement_;
  const Explanation& e_;
  const verdict::Verdict& head_;
};

}  // namespace

std::string explanation_json(const Problem& problem, const Placement& placement, const Explanation& explanation,
                             const verdict::Verdict& head) {
  return Writer(problem, placement, explanation, head).json().dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace emplace::report
