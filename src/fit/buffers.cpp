#include "fit/buffers.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "language/runtime_memory.hpp"

namespace emplace::fit {

namespace {

language::ComputeOptions server_options(const language::Scenario& scenario, bool pipelined) {
  return {.pipelined = pipelined, .outputs = scenario.sequences};
}

// Units by device, numbered so that the device of the input is 0.
class Devices {
 public:
  Devices(const language::LanguageModel& model, const Chain& chain, const Assignment& assignment)
      : number_(chain.device_count()), placed_(language::all_on_host(model)) {
    std::iota(number_.begin(), number_.end(), std::size_t{0});
    placed_.devices = chain.device_count();
    const std::size_t host = assignment.front();
    std::swap(number_[0], number_[host]);
    for (std::size_t u = 0; u < chain.size(); ++u) put(chain.units[u], number_[assignment[u]]);
    holds_.insert(assignment.begin(), assignment.end());
  }

  [[nodiscard]] const language::DeviceOfParts& placed() const { return placed_; }
  [[nodiscard]] std::size_t number(std::size_t device) const { return number_[device]; }
  [[nodiscard]] bool holds(std::size_t device) const { return holds_.contains(device); }

  // The host has the embedding alone, each layer is on one device, and there are two or more of them.
  [[nodiscard]] bool is_pipeline() const {
    std::set<std::size_t> used{placed_.output};
    for (std::size_t i = 0; i < placed_.attention.size(); ++i) {
      if (placed_.feed_forward[i] != placed_.attention[i] || placed_.experts[i] != placed_.attention[i]) return false;
      used.insert(placed_.attention[i]);
    }
    return used.size() > 1 && !used.contains(0);
  }

 private:
  void put(const Unit& unit, std::size_t device) {
    const auto layer = static_cast<std::size_t>(std::max<std::int64_t>(0, unit.layer));
    if (unit.kind == UnitKind::output) placed_.output = device;
    if (unit.kind == UnitKind::attention || unit.kind == UnitKind::layer) {
      placed_.attention[layer] = placed_.feed_forward[layer] = placed_.experts[layer] = device;
    } else if (unit.kind == UnitKind::feed_forward) {
      placed_.feed_forward[layer] = placed_.experts[layer] = device;
    } else if (unit.kind == UnitKind::experts) {
      placed_.experts[layer] = device;
    }
  }

  std::vector<std::size_t> number_;
  language::DeviceOfParts placed_;
  std::set<std::size_t> holds_;
};

}  // namespace

UnitBuffers unit_buffers(const language::LanguageModel& model, const language::Scenario& scenario,
                         std::size_t devices) {
  language::DeviceOfParts placed = language::all_on_host(model);
  placed.devices = 4;
  placed.output = 3;
  const Bytes host = compute_bytes(model, scenario, placed, server_options(scenario, false))[0];
  const language::ComputeOptions options = server_options(scenario, devices > 1);
  // Two halves: the second one has what the first one sends it.
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    placed.attention[i] = placed.feed_forward[i] = placed.experts[i] = 2 * i < model.layers.size() ? 1 : 2;
  const std::vector<Bytes> halves = compute_bytes(model, scenario, placed, options);
  placed.output = 2;
  const Bytes with_output = compute_bytes(model, scenario, placed, options)[2];
  const Bytes layers = std::max(halves[1], halves[2]);
  return {layers, std::max<Bytes>(0, std::max(host, halves[0]) - layers) + output_bytes(model, scenario),
          std::max<Bytes>(0, with_output - layers)};
}

std::vector<Bytes> plan_buffers(const language::LanguageModel& model, const language::Scenario& scenario,
                                const Chain& chain, const Assignment& assignment) {
  const Devices devices(model, chain, assignment);
  const std::vector<Bytes> by_number =
      compute_bytes(model, scenario, devices.placed(), server_options(scenario, devices.is_pipeline()));
  std::vector<Bytes> bytes(chain.device_count(), 0);
  for (std::size_t d = 0; d < bytes.size(); ++d)
    if (devices.holds(d)) bytes[d] = by_number[devices.number(d)];
  bytes[assignment.front()] += output_bytes(model, scenario);
  return bytes;
}

}  // namespace emplace::fit
