#include "search/common/earliest.hpp"

#include <algorithm>
#include <set>

namespace emplace::search {

namespace {

bool together(const Problem& p, std::uint32_t a, std::uint32_t b) {
  return !p.group[a].is_none() && p.group[a] == p.group[b];
}

}  // namespace

EarliestSweep::EarliestSweep(const Problem& p, bool forward, double exact_pairs)
    : p_(p), devices_(p.device_count()), forward_(forward) {
  const auto d2 = static_cast<double>(devices_) * static_cast<double>(devices_);
  exact_ = static_cast<double>(p.edge_count()) * d2 <= exact_pairs;
  if (exact_) return;
  for (std::size_t d = 0; d < devices_; ++d) {
    std::set<std::int32_t> classes;
    for (std::size_t e = 0; e < devices_; ++e)
      classes.insert(p.route_class[forward ? e * devices_ + d : d * devices_ + e]);
    classes.erase(-1);
    classes_.emplace_back(classes.begin(), classes.end());
  }
}

void EarliestSweep::wait(const std::vector<Ticks>& times, std::uint32_t other, std::uint32_t tensor, bool same_device,
                         std::vector<Ticks>& there) const {
  const Ticks* const row = times.data() + other * devices_;
  if (same_device) {
    for (std::size_t d = 0; d < devices_; ++d) there[d] = std::max(there[d], row[d]);
    return;
  }
  const Ticks* const transfer = p_.transfer_time.data() + tensor * p_.route_classes.size();
  const Ticks least = exact_ ? 0 : *std::min_element(row, row + devices_);
  for (std::size_t d = 0; d < devices_; ++d) {
    if (there[d] == never) continue;
    Ticks best = row[d];
    if (exact_) {
      for (std::size_t e = 0; e < devices_; ++e) {
        const auto cls = p_.route_class[forward_ ? e * devices_ + d : d * devices_ + e];
        if (cls >= 0) best = std::min(best, later(row[e], transfer[cls]));
      }
    } else {
      for (const std::int32_t cls : classes_[d]) best = std::min(best, later(least, transfer[cls]));
    }
    there[d] = std::max(there[d], best);
  }
}

std::vector<std::uint8_t> possible_devices(const Problem& p) {
  const std::size_t devices = p.device_count();
  std::vector<Bytes> resident(p.group_names.size(), 0);
  for (std::size_t op = 0; op < p.op_count(); ++op)
    if (!p.group[op].is_none()) resident[p.group[op].index()] += p.resident[op];
  std::vector<std::uint8_t> possible(p.op_count() * devices, 1);
  std::vector<std::uint8_t> group_possible(p.group_names.size() * devices, 1);
  for (std::size_t op = 0; op < p.op_count(); ++op) {
    const bool alone = p.group[op].is_none();
    Bytes need = p.scratch[op] + (alone ? p.resident[op] : resident[p.group[op].index()]);
    for (const std::uint32_t tensor : p.inputs[op]) need += p.tensor_bytes[tensor];
    for (const std::uint32_t tensor : p.outputs[op]) need += p.tensor_bytes[tensor];
    for (std::size_t d = 0; d < devices; ++d) {
      if (p.op_time[op * devices + d] != cannot_run && need <= p.devices[d].memory) continue;
      (alone ? possible[op * devices + d] : group_possible[p.group[op].index() * devices + d]) = 0;
    }
  }
  for (std::size_t op = 0; op < p.op_count(); ++op)
    if (!p.group[op].is_none())
      std::copy_n(group_possible.data() + p.group[op].index() * devices, devices, possible.data() + op * devices);
  return possible;
}

EarliestTimes earliest_times(const Problem& p, const std::vector<std::uint8_t>& possible, double exact_pairs) {
  const std::size_t devices = p.device_count();
  EarliestTimes times;
  times.end.assign(p.op_count() * devices, never);
  times.tail.assign(p.op_count() * devices, never);
  std::vector<Ticks> there(devices);

  const EarliestSweep forward(p, true, exact_pairs);
  for (const std::uint32_t op : p.topological) {
    std::fill(there.begin(), there.end(), 0);
    for (const std::uint32_t tensor : p.inputs[op]) {
      const std::uint32_t producer = p.producer[tensor].value;
      forward.wait(times.end, producer, tensor, together(p, op, producer), there);
    }
    for (std::size_t d = 0; d < devices; ++d)
      if (possible[op * devices + d] != 0) times.end[op * devices + d] = later(there[d], p.op_time[op * devices + d]);
  }

  // Least time from an op's start to the end of the step; its tail is that without the op's own time.
  std::vector<Ticks> from_start(p.op_count() * devices, never);
  const EarliestSweep backward(p, false, exact_pairs);
  for (auto at = p.topological.rbegin(); at != p.topological.rend(); ++at) {
    const std::uint32_t op = *at;
    std::fill(there.begin(), there.end(), 0);
    for (const std::uint32_t tensor : p.outputs[op])
      for (const std::uint32_t consumer : p.consumers[tensor])
        backward.wait(from_start, consumer, tensor, together(p, op, consumer), there);
    for (std::size_t d = 0; d < devices; ++d) {
      if (possible[op * devices + d] == 0) continue;
      times.tail[op * devices + d] = there[d];
      from_start[op * devices + d] = later(there[d], p.op_time[op * devices + d]);
    }
  }
  return times;
}

LeastTimes least_times(const Problem& p, const EarliestTimes& times) {
  const std::size_t devices = p.device_count(), ops = p.op_count();
  LeastTimes least{std::vector<Ticks>(ops, never), std::vector<Ticks>(ops, never), std::vector<Ticks>(ops, never)};
  for (std::size_t at = 0; at < ops * devices; ++at) {
    if (times.end[at] == never || times.tail[at] == never) continue;
    const std::size_t op = at / devices;
    least.head[op] = std::min(least.head[op], times.end[at] - p.op_time[at]);
    least.tail[op] = std::min(least.tail[op], times.tail[at]);
    least.time[op] = std::min(least.time[op], p.op_time[at]);
  }
  return least;
}

}  // namespace emplace::search
