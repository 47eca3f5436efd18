#include "simulate/estimate/move_estimates.hpp"

#include <algorithm>
#include <utility>

namespace emplace::simulate {

namespace {
constexpr Ticks not_there = -1;
}  // namespace

MoveEstimates::MoveEstimates(const Problem& problem) : layout_(problem) {
  const std::size_t ops = problem.op_count(), edges = layout_.edges.size();
  input_begin_.assign(ops + 1, 0);
  for (const Edge& edge : layout_.edges) ++input_begin_[edge.consumer + 1];
  for (std::size_t op = 0; op < ops; ++op) input_begin_[op + 1] += input_begin_[op];
  input_edges_.resize(edges);
  std::vector<std::uint32_t> next(input_begin_.begin(), input_begin_.end() - 1);
  for (std::uint32_t e = 0; e < edges; ++e) input_edges_[next[layout_.edges[e].consumer]++] = e;
  position_.resize(ops);
  lane_.resize(ops);
  in_lane_.resize(ops);
  end_.resize(ops);
  tail_.resize(ops);
  arrival_.resize(edges);
  chosen_in_.assign(ops, 0);
  seen_in_.assign(ops, 0);
  new_end_.resize(ops);
  sent_.resize(problem.device_count());
}

void MoveEstimates::set_run(const std::vector<std::uint8_t>& device, const std::vector<Ticks>& start) {
  const Problem& p = layout_.problem;
  device_ = device;
  for (std::uint32_t op = 0; op < device_.size(); ++op)
    end_[op] = start[op] + p.op_time[op * p.device_count() + device_[op]];
  // Sorted by end, because transfers are requested at the end of their producer; by start too, for ops without time.
  order_ = p.topological;
  std::ranges::stable_sort(order_, {}, [&](std::uint32_t op) { return std::pair(end_[op], start[op]); });
  lane_begin_.assign(p.device_count() + 1, 0);
  for (const std::uint8_t d : device_) ++lane_begin_[d + 1U];
  for (std::size_t d = 0; d < p.device_count(); ++d) lane_begin_[d + 1] += lane_begin_[d];
  std::vector<std::uint32_t> next(lane_begin_.begin(), lane_begin_.end() - 1);
  for (std::uint32_t k = 0; k < order_.size(); ++k) {
    const std::uint32_t op = order_[k];
    position_[op] = k;
    lane_[in_lane_[op] = next[device_[op]]++] = op;
  }
  find_arrivals();
  find_tails();
}

// A tensor goes to its devices in ascending order, over all channels of the route at once.
void MoveEstimates::find_arrivals() {
  const Network& network = layout_.network;
  free_.assign(layout_.problem.channels.size(), 0);
  for (const std::uint32_t op : order_) {
    const std::size_t row = device_[op] * network.devices;
    const Ticks now = end_[op];
    const std::uint32_t last = layout_.edge_begin[op + 1];
    for (std::uint32_t first = layout_.edge_begin[op]; first != last;) {
      const std::uint32_t tensor = layout_.edges[first].tensor, end = layout_.edges_end(tensor);
      std::ranges::fill(sent_, not_there);
      for (std::uint32_t e = first; e != end; ++e) sent_[device_[layout_.edges[e].consumer]] = now;
      for (std::size_t to = 0; to < network.devices; ++to) {
        if (sent_[to] == not_there || to == device_[op]) continue;
        Ticks start = now;
        for (const std::uint32_t channel : network.contended[row + to]) start = std::max(start, free_[channel]);
        sent_[to] = start + layout_.transfers_of(tensor)[network.column[row + to]];
        for (const std::uint32_t channel : network.contended[row + to]) free_[channel] = sent_[to];
      }
      for (; first != end; ++first) arrival_[first] = sent_[device_[layout_.edges[first].consumer]];
    }
  }
}

void MoveEstimates::find_tails() {
  const Network& network = layout_.network;
  std::ranges::fill(free_, 0);  // the longest tail of the transfers that follow on each channel
  for (std::size_t k = order_.size(); k-- > 0;) {
    const std::uint32_t op = order_[k], device = device_[op];
    const std::size_t row = device * network.devices;
    Ticks tail = in_lane_[op] + 1 == lane_begin_[device + 1] ? 0 : tail_[lane_[in_lane_[op] + 1]];
    const std::uint32_t first = layout_.edge_begin[op];
    for (std::uint32_t end = layout_.edge_begin[op + 1]; end != first;) {
      const std::uint32_t tensor = layout_.edges[end - 1].tensor, begin = layout_.tensor_edge[tensor];
      std::ranges::fill(sent_, not_there);
      for (std::uint32_t e = begin; e != end; ++e) {
        const std::uint32_t consumer = layout_.edges[e].consumer;
        sent_[device_[consumer]] = std::max(sent_[device_[consumer]], tail_[consumer]);
      }
      tail = std::max(tail, sent_[device]);
      for (std::size_t to = network.devices; to-- > 0;) {
        if (sent_[to] == not_there || to == device) continue;
        Ticks after = sent_[to];
        for (const std::uint32_t channel : network.contended[row + to]) after = std::max(after, free_[channel]);
        after += layout_.transfers_of(tensor)[network.column[row + to]];
        for (const std::uint32_t channel : network.contended[row + to]) free_[channel] = after;
        tail = std::max(tail, after);
      }
      end = begin;
    }
    tail_[op] = layout_.problem.op_time[op * network.devices + device] + tail;
  }
}

void MoveEstimates::choose(std::span<const std::uint32_t> ops) {
  ++choice_;
  chosen_.assign(ops.begin(), ops.end());
  std::ranges::sort(chosen_, {}, [&](std::uint32_t op) { return position_[op]; });
  for (const std::uint32_t op : chosen_) chosen_in_[op] = choice_;
}

// When the inputs of an op have arrived on `device`, if the chosen ops are on `target`.
Ticks MoveEstimates::arrival(std::uint32_t op, std::uint32_t device, std::uint32_t target) const {
  const Network& network = layout_.network;
  Ticks latest = 0;
  for (std::uint32_t i = input_begin_[op]; i != input_begin_[op + 1]; ++i) {
    const std::uint32_t e = input_edges_[i], tensor = layout_.edges[e].tensor;
    const std::uint32_t producer = layout_.problem.producer[tensor].value;
    const bool moves = is_chosen(producer);
    const std::uint32_t from = moves ? target : device_[producer];
    Ticks at = moves ? new_end_[producer] : end_[producer];
    if (!moves && device == device_[op]) {
      at = arrival_[e];
    } else if (from != device) {
      at += layout_.transfers_of(tensor)[network.column[from * network.devices + device]];
    }
    latest = std::max(latest, at);
  }
  return latest;
}

// When the device of an op that does not move has run what is before the op.
Ticks MoveEstimates::free_before(std::uint32_t op, std::uint32_t target) const {
  const std::uint32_t device = device_[op];
  std::uint32_t k = in_lane_[op];
  while (k != lane_begin_[device] && is_chosen(lane_[k - 1])) --k;
  Ticks free = k == lane_begin_[device] ? 0 : end_[lane_[k - 1]];
  if (device == target) {
    const auto after =
        std::ranges::upper_bound(chosen_, position_[op], {}, [&](std::uint32_t c) { return position_[c]; });
    if (after != chosen_.begin()) free = std::max(free, new_end_[*(after - 1)]);
  }
  return free;
}

void MoveEstimates::visit(std::uint32_t op, std::uint32_t target) {
  if (is_chosen(op) || seen_in_[op] == visit_) return;
  seen_in_[op] = visit_;
  const Ticks start = std::max(arrival(op, device_[op], target), free_before(op, target));
  longest_ = std::max(longest_, start + tail_[op]);
}

Ticks MoveEstimates::path_on(std::uint8_t device) {
  const Problem& p = layout_.problem;
  ++visit_;
  longest_ = 0;
  next_.clear();
  const auto begin = lane_.begin() + lane_begin_[device], end = lane_.begin() + lane_begin_[device + 1U];
  Ticks free = 0;
  for (const std::uint32_t op : chosen_) {
    const auto next =
        std::ranges::lower_bound(begin, end, position_[op], {}, [&](std::uint32_t other) { return position_[other]; });
    if (next != begin && !is_chosen(*(next - 1))) free = std::max(free, end_[*(next - 1)]);
    free = new_end_[op] = std::max(free, arrival(op, device, device)) + p.op_time[op * p.device_count() + device];
    longest_ = std::max(longest_, free);
    next_.push_back(static_cast<std::uint32_t>(next - lane_.begin()));
  }
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const std::uint32_t op = chosen_[i];
    if (next_[i] != lane_begin_[device + 1U]) visit(lane_[next_[i]], device);
    if (const std::uint32_t k = in_lane_[op] + 1; k != lane_begin_[device_[op] + 1U]) visit(lane_[k], device);
    for (std::uint32_t e = layout_.edge_begin[op]; e != layout_.edge_begin[op + 1]; ++e)
      visit(layout_.edges[e].consumer, device);
  }
  return longest_;
}

}  // namespace emplace::simulate
