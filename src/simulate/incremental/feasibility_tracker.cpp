#include "simulate/incremental/feasibility_tracker.hpp"

#include <algorithm>

#include "problem/cuts.hpp"

namespace emplace::simulate {

FeasibilityTracker::FeasibilityTracker(const Layout& layout)
    : layout_(layout),
      limited_(memory_can_overflow(layout.problem)),
      cuts_limited_(layout.problem.max_cuts != no_cut_limit) {
  const Problem& p = layout.problem;
  const std::size_t groups = p.group_names.size();
  members_.begin.assign(groups + 1, 0);
  for (const GroupId group : p.group)
    if (!group.is_none()) ++members_.begin[group.index() + 1];
  for (std::size_t g = 0; g < groups; ++g) members_.begin[g + 1] += members_.begin[g];
  members_.items.resize(members_.begin.back());
  std::vector<std::uint32_t> next = members_.begin;
  for (std::uint32_t op = 0; op < p.op_count(); ++op)
    if (!p.group[op].is_none()) members_.items[next[p.group[op].index()]++] = op;
  split_.resize(groups);
  bound_.resize(p.device_count());
  moved_bound_.resize(p.device_count());
  copied_.resize(p.device_count());
  // Enough for a move of all ops, where each tensor is listed by its producer and by each consumer. Pages that are
  // never used take no memory.
  tensors_.reserve(p.tensor_count() + p.edge_count());
  groups_.reserve(p.op_count());
}

void FeasibilityTracker::set_base(const std::vector<std::uint8_t>& device) {
  const Problem& p = layout_.problem;
  split_count_ = 0;
  for (std::uint32_t group = 0; group < split_.size(); ++group) {
    split_[group] = is_split(device, group);
    split_count_ += split_[group] != 0;
  }
  if (cuts_limited_) cuts_ = count_cuts(p, device.data());
  if (!limited_) return;
  std::fill(moved_bound_.begin(), moved_bound_.end(), most_scratch(layout_.problem));
  for (std::size_t op = 0; op < p.op_count(); ++op) moved_bound_[device[op]] += p.resident[op];
  for (std::uint32_t tensor = 0; tensor < p.tensor_count(); ++tensor) add_tensor(device, tensor, 1);
  bound_ = moved_bound_;
}

void FeasibilityTracker::begin(const std::vector<std::uint8_t>& device, const std::vector<std::uint32_t>& moved) {
  if (!limited_ && !cuts_limited_ && layout_.network.complete) return;
  const Problem& p = layout_.problem;
  tensors_.clear();
  for (const std::uint32_t op : moved) {
    for (const std::uint32_t tensor : p.inputs[op]) tensors_.push_back(tensor);
    for (const std::uint32_t tensor : p.outputs[op]) tensors_.push_back(tensor);
  }
  std::sort(tensors_.begin(), tensors_.end());
  tensors_.erase(std::unique(tensors_.begin(), tensors_.end()), tensors_.end());
  if (cuts_limited_) moved_cuts_ = cuts_ - cuts_of_tensors(device);
  if (!limited_) return;
  moved_bound_ = bound_;
  for (const std::uint32_t op : moved) moved_bound_[device[op]] -= p.resident[op];
  add_tensors(device, -1);
}

Outcome FeasibilityTracker::feasibility(const std::vector<std::uint8_t>& device,
                                        const std::vector<std::uint32_t>& moved) {
  const Problem& p = layout_.problem;
  const std::size_t devices = p.device_count();
  OpId unsupported;  // `none` compares larger than any op
  for (const std::uint32_t op : moved)
    if (p.op_time[op * devices + device[op]] == cannot_run) unsupported = std::min(unsupported, OpId{op});
  if (!unsupported.is_none())
    return {.why = Infeasible::unsupported_op, .device = device[unsupported.index()], .subject = unsupported.value};
  if (!layout_.network.complete)
    if (const Outcome outcome = missing_route(device); !outcome.feasible()) return outcome;
  if (limited_) {
    for (const std::uint32_t op : moved) moved_bound_[device[op]] += p.resident[op];
    add_tensors(device, 1);
  }
  groups_.clear();
  if (!split_.empty())
    for (const std::uint32_t op : moved)
      if (!p.group[op].is_none()) groups_.push_back({p.group[op].value, false});
  Outcome outcome = split_.empty() ? Outcome{} : split_group(device);
  if (!cuts_limited_) return outcome;
  moved_cuts_ += cuts_of_tensors(device);
  judge_cuts(p, moved_cuts_, outcome);
  return outcome;
}

bool FeasibilityTracker::memory_settled() const {
  if (!limited_) return true;
  bool fits = true;
  for (std::size_t d = 0; d < moved_bound_.size(); ++d) fits &= moved_bound_[d] <= layout_.problem.devices[d].memory;
  return fits;
}

void FeasibilityTracker::commit() {
  for (const Split& group : groups_) {
    split_count_ += std::size_t{group.split} - std::size_t{split_[group.group] != 0};
    split_[group.group] = group.split;
  }
  if (limited_) bound_ = moved_bound_;
  cuts_ = moved_cuts_;
}

Outcome FeasibilityTracker::missing_route(const std::vector<std::uint8_t>& device) const {
  const Problem& p = layout_.problem;
  for (const std::uint32_t tensor : tensors_) {
    const DeviceId from{device[p.producer[tensor].index()]};
    DeviceId missing;
    for (const std::uint32_t consumer : p.consumers[tensor]) {
      const DeviceId to{device[consumer]};
      if (to != from && !p.has_route(from, to)) missing = std::min(missing, to);
    }
    if (!missing.is_none())
      return {.why = Infeasible::missing_route, .device = static_cast<std::uint8_t>(missing.value), .subject = tensor};
  }
  return {};
}

Outcome FeasibilityTracker::split_group(const std::vector<std::uint8_t>& device) {
  std::sort(groups_.begin(), groups_.end(), [](const Split& a, const Split& b) { return a.group < b.group; });
  groups_.erase(
      std::unique(groups_.begin(), groups_.end(), [](const Split& a, const Split& b) { return a.group == b.group; }),
      groups_.end());
  std::uint32_t first = GroupId::none_value;
  for (Split& group : groups_) {
    group.split = is_split(device, group.group);
    if (group.split) first = std::min(first, group.group);
  }
  if (split_count_ > 0)
    for (std::uint32_t group = 0; group < std::min<std::size_t>(first, split_.size()); ++group)
      if (split_[group] && !std::binary_search(groups_.begin(), groups_.end(), Split{group, false},
                                               [](const Split& a, const Split& b) { return a.group < b.group; }))
        first = group;
  if (first == GroupId::none_value) return {};
  return {.why = Infeasible::split_group, .subject = first};
}

bool FeasibilityTracker::is_split(const std::vector<std::uint8_t>& device, std::uint32_t group) const {
  const auto ops = members_[group];
  return std::any_of(ops.begin(), ops.end(), [&](std::uint32_t op) { return device[op] != device[ops[0]]; });
}

// How many of the tensors that the moved ops read or write are cut.
std::uint32_t FeasibilityTracker::cuts_of_tensors(const std::vector<std::uint8_t>& device) const {
  std::uint32_t cuts = 0;
  for (const std::uint32_t tensor : tensors_) cuts += is_cut(layout_.problem, tensor, device.data());
  return cuts;
}

void FeasibilityTracker::add_tensors(const std::vector<std::uint8_t>& device, Bytes sign) {
  for (const std::uint32_t tensor : tensors_) add_tensor(device, tensor, sign);
}

// Adds the original, and a copy on each other device that has a consumer (`sign` -1: subtracts them).
void FeasibilityTracker::add_tensor(const std::vector<std::uint8_t>& device, std::uint32_t tensor, Bytes sign) {
  const Problem& p = layout_.problem;
  const Bytes bytes = sign * p.tensor_bytes[tensor];
  if (++serial_ == 0) {
    std::fill(copied_.begin(), copied_.end(), 0);
    serial_ = 1;
  }
  const auto add = [&](std::size_t d) {
    if (copied_[d] != serial_) moved_bound_[d] += bytes;
    copied_[d] = serial_;
  };
  add(device[p.producer[tensor].index()]);
  for (const std::uint32_t consumer : p.consumers[tensor]) add(device[consumer]);
}

}  // namespace emplace::simulate
