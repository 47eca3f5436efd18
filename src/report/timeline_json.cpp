#include <algorithm>
#include <map>
#include <numeric>

#include "report/page.hpp"
#include "report/placement_json.hpp"

namespace emplace::report {

namespace {

// The positions of the `most` longest, ascending; all positions if there are at most so many.
template <class Duration>
std::vector<std::uint32_t> longest(std::size_t count, std::size_t most, const Duration& duration) {
  std::vector<std::uint32_t> list(count);
  std::iota(list.begin(), list.end(), 0U);
  if (count <= most) return list;
  const auto rank = [&](std::uint32_t i) { return std::pair(-duration(i), i); };
  std::ranges::nth_element(list, list.begin() + static_cast<std::ptrdiff_t>(most), {}, rank);
  list.resize(most);
  return list;
}

void sort_unique(std::vector<std::uint32_t>& list) {
  std::ranges::sort(list);
  const auto rest = std::ranges::unique(list);
  list.erase(rest.begin(), rest.end());
}

std::vector<std::uint32_t> positions(const std::vector<std::uint32_t>& list, std::size_t count) {
  std::vector<std::uint32_t> position(count, ShownItems::none);
  for (std::uint32_t i = 0; i < list.size(); ++i) position[list[i]] = i;
  return position;
}

// The items of a device or channel, by position, with the idle time before each. On channels on which transfers may
// overlap, an item may begin before the previous one ends: the idle time is then below 0.
class Lane {
 public:
  void add(std::uint32_t position, Ticks start, Ticks end) {
    busy_ += end - start;
    if (position == ShownItems::none) return;
    items_.push_back(position);
    gaps_.push_back(start - last_end_);
    last_end_ = end;
  }
  [[nodiscard]] Ticks busy() const { return busy_; }
  Json json(std::string_view kind, std::size_t id, const std::string& name) && {
    return {{"kind", kind},
            {"id", id},
            {"name", page_text(name, longest_name)},
            {"busy", busy_},
            {"items", std::move(items_)},
            {"gaps", std::move(gaps_)}};
  }

 private:
  Ticks busy_ = 0, last_end_ = 0;
  Json items_ = Json::array(), gaps_ = Json::array();
};

std::vector<Lane> device_lanes(const Problem& problem, const Placement& placement, const simulate::Timeline& timeline,
                               const ShownItems& shown) {
  std::vector<std::uint32_t> by_start(problem.op_count());
  std::iota(by_start.begin(), by_start.end(), 0U);
  std::ranges::stable_sort(by_start, {}, [&](std::uint32_t op) { return timeline.op_start[op]; });
  std::vector<Lane> lanes(problem.device_count());
  for (const std::uint32_t op : by_start)
    lanes[placement.device[op]].add(shown.position_of_op(op), timeline.op_start[op], timeline.op_end[op]);
  return lanes;
}

std::vector<Lane> channel_lanes(const Problem& problem, const simulate::Timeline& timeline, const ShownItems& shown) {
  std::vector<Lane> lanes(problem.channels.size());
  for (std::size_t i = 0; i < timeline.transfers.size(); ++i) {
    const simulate::Timeline::Transfer& transfer = timeline.transfers[i];
    for (const std::uint32_t channel : problem.route(transfer.from, transfer.to))
      lanes[channel].add(shown.position_of_transfer(i), transfer.start, transfer.end);
  }
  return lanes;
}

// The busiest of the channels in use, in the problem's order.
std::vector<std::uint32_t> shown_channels(const std::vector<Lane>& lanes, std::size_t most) {
  std::vector<std::uint32_t> list = longest(lanes.size(), most, [&](std::uint32_t i) { return lanes[i].busy(); });
  std::ranges::sort(list);
  std::erase_if(list, [&](std::uint32_t i) { return lanes[i].busy() == 0; });
  return list;
}

// The position of the tensor among its producer's outputs; null if it is the only one.
Json output_of(const Problem& problem, TensorId tensor) {
  const auto outputs = problem.outputs[problem.producer[tensor.index()].index()];
  if (outputs.size() == 1) return nullptr;
  return std::ranges::find(outputs, tensor.value) - outputs.begin();
}

Json transfers_json(const Problem& problem, const simulate::Timeline& timeline, const ShownItems& shown) {
  Json ops = Json::array(), outputs = Json::array(), bytes = Json::array(), lasts = Json::array(), from = Json::array(),
       to = Json::array();
  for (const std::uint32_t i : shown.transfers()) {
    const simulate::Timeline::Transfer& transfer = timeline.transfers[i];
    ops.push_back(shown.position_of_op(problem.producer[transfer.tensor.index()].index()));
    outputs.push_back(output_of(problem, transfer.tensor));
    bytes.push_back(problem.tensor_bytes[transfer.tensor.index()]);
    lasts.push_back(transfer.end - transfer.start);
    from.push_back(transfer.from.index());
    to.push_back(transfer.to.index());
  }
  return {{"ops", std::move(ops)},     {"outputs", std::move(outputs)}, {"bytes", std::move(bytes)},
          {"lasts", std::move(lasts)}, {"from", std::move(from)},       {"to", std::move(to)}};
}

// The steps in order: the position of an op, or for a transfer -1 minus its position.
Json path_json(const Explanation& explanation, const ShownItems& shown) {
  Json steps = Json::array();
  for (const simulate::PathStep& step : explanation.path)
    steps.push_back(step.is_op() ? Json(shown.position_of_op(step.op.index()))
                                 : Json(-1 - static_cast<std::int64_t>(shown.position_of_transfer(step.transfer))));
  return {{"steps", std::move(steps)},
          {"computing", explanation.shares.computing},
          {"transferring", explanation.shares.transferring},
          {"waiting", explanation.shares.waiting}};
}

}  // namespace

ShownItems::ShownItems(const Problem& problem, const Placement& placement, const Explanation& explanation,
                       const PlacementLimits& limits) {
  const simulate::Timeline& timeline = explanation.timeline;
  transfers_ = longest(timeline.transfers.size(), limits.transfers,
                       [&](std::uint32_t i) { return timeline.transfers[i].end - timeline.transfers[i].start; });
  ops_ = longest(problem.op_count(), limits.ops,
                 [&](std::uint32_t op) { return problem.time(OpId{op}, DeviceId{placement.device[op]}); });
  for (const simulate::PathStep& step : explanation.path)
    if (step.is_op())
      ops_.push_back(step.op.value);
    else
      transfers_.push_back(step.transfer);
  sort_unique(transfers_);
  for (const std::uint32_t i : transfers_) ops_.push_back(problem.producer[timeline.transfers[i].tensor.index()].value);
  sort_unique(ops_);
  position_of_op_ = positions(ops_, problem.op_count());
  position_of_transfer_ = positions(transfers_, timeline.transfers.size());
}

Json ops_json(const Problem& problem, const Placement& placement, const ShownItems& shown) {
  Json names = Json::array(), types = Json::array(), type_names = Json::array(), devices = Json::array(),
       lasts = Json::array(), resident = Json::array(), made = Json::array();
  std::map<std::string_view, std::size_t> number_of_type;
  for (const std::uint32_t op : shown.ops()) {
    const auto [type, is_new] = number_of_type.emplace(problem.op_types[op], number_of_type.size());
    if (is_new) type_names.push_back(page_text(type->first, longest_name));
    Bytes bytes = 0;
    for (const std::uint32_t tensor : problem.outputs[op]) bytes += problem.tensor_bytes[tensor];
    names.push_back(page_text(problem.op_names[op], longest_name));
    types.push_back(type->second);
    devices.push_back(placement.device[op]);
    lasts.push_back(std::max<Ticks>(0, problem.time(OpId{op}, DeviceId{placement.device[op]})));
    resident.push_back(problem.resident[op]);
    made.push_back(bytes);
  }
  return {{"names", std::move(names)},     {"types", std::move(types)},  {"type_names", std::move(type_names)},
          {"devices", std::move(devices)}, {"lasts", std::move(lasts)},  {"resident", std::move(resident)},
          {"made", std::move(made)},       {"total", problem.op_count()}};
}

Json timeline_json(const Problem& problem, const Placement& placement, const Explanation& explanation,
                   const ShownItems& shown, const PlacementLimits& limits) {
  if (!explanation.outcome.timed()) return nullptr;
  const simulate::Timeline& timeline = explanation.timeline;
  Json lanes = Json::array(), idle = Json::array();
  std::vector<Lane> of_device = device_lanes(problem, placement, timeline, shown);
  for (std::size_t d = 0; d < of_device.size(); ++d)
    if (of_device[d].busy() > 0)
      lanes.push_back(std::move(of_device[d]).json("device", d, problem.devices[d].name));
    else
      idle.push_back(page_text(problem.devices[d].name, longest_name));
  std::vector<Lane> of_channel = channel_lanes(problem, timeline, shown);
  const auto used = std::ranges::count_if(of_channel, [](const Lane& lane) { return lane.busy() > 0; });
  const std::vector<std::uint32_t> channels = shown_channels(of_channel, limits.channels);
  for (const std::uint32_t c : channels)
    lanes.push_back(std::move(of_channel[c]).json("channel", c, problem.channels[c].name));
  return {{"end", explanation.outcome.makespan},
          {"lanes", std::move(lanes)},
          {"idle", std::move(idle)},
          {"channels", used},
          {"transfers_total", timeline.transfers.size()},
          {"moved_bytes", explanation.moved_bytes},
          {"transfers", transfers_json(problem, timeline, shown)},
          {"path", path_json(explanation, shown)}};
}

}  // namespace emplace::report
