#include "memory.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace emplace {

namespace {
constexpr std::size_t fewest_buckets = 64;
constexpr std::size_t ops_a_bucket = 4;
}  // namespace

Memory::Memory(const Layout& layout)
    : layout_(layout),
      at_start_(layout.problem.scratch),
      at_end_(layout.problem.scratch),
      buckets_(std::max(fewest_buckets, std::bit_ceil(layout.problem.op_count() / ops_a_bucket + 1))) {
  const Problem& p = layout.problem;
  const std::size_t devices = p.device_count();
  for (std::size_t t = 0; t < p.tensor_count(); ++t) {
    at_start_[p.producer[t].index()] += p.tensor_bytes[t];
    if (p.consumers[t].empty()) at_end_[p.producer[t].index()] += p.tensor_bytes[t];
  }
  sums_.resize(devices * buckets_);
  suspect_.resize(devices * buckets_);
  level_.resize(devices);
  peak_.resize(devices);
  lowest_.resize(devices);
  last_use_.resize(devices);
  // Each op's start and end, each tensor's last use, and at most two changes for a copy an edge. Untouched pages cost
  // nothing.
  changes_.reserve(2 * p.op_count() + p.tensor_count() + 2 * p.edge_count());
}

template <class Visit>
void Memory::visit_changes(const Run& run, Visit&& visit) {
  const Problem& p = layout_.problem;
  const Network& network = layout_.network;
  for (std::uint32_t op = 0; op < run.ops.size(); ++op) {
    const OpState& state = run.ops[op];
    visit(state.device, state.start, at_start_[op]);
    visit(state.device, state.end(), -at_end_[op]);
    for (std::uint32_t edge = state.edge_begin; edge != state.edge_end;) {
      const std::uint32_t tensor = layout_.edges[edge].tensor;
      const std::uint32_t first = edge;
      const std::uint32_t end = layout_.edges_end(tensor);
      const Bytes bytes = p.tensor_bytes[tensor];
      Ticks original_free = state.end();
      for (; edge != end; ++edge) {
        const OpState& consumer = run.ops[layout_.edges[edge].consumer];
        if (consumer.device == state.device) {
          original_free = std::max(original_free, consumer.end());
        } else if (const Ticks start = run.send_start[edge]; start != not_sent) {
          const std::uint32_t column = network.column[state.device * network.devices + consumer.device];
          original_free = std::max(original_free, start + layout_.transfers_of(tensor)[column]);
          visit(consumer.device, start, bytes);
          last_use_[consumer.device] = consumer.end();
        } else {
          last_use_[consumer.device] = std::max(last_use_[consumer.device], consumer.end());
        }
      }
      visit(state.device, original_free, -bytes);
      for (edge = first; edge != end; ++edge)
        if (run.send_start[edge] != not_sent) {
          const std::uint32_t to = run.ops[layout_.edges[edge].consumer].device;
          visit(to, last_use_[to], -bytes);
        }
    }
  }
}

const std::vector<Bytes>& Memory::bound(const Run& run) {
  shift_ = 0;
  while (static_cast<std::size_t>(run.makespan >> shift_) >= buckets_) ++shift_;
  std::fill(sums_.begin(), sums_.end(), Bucket{0, 0});
  std::fill(level_.begin(), level_.end(), 0);
  for (std::size_t op = 0; op < run.ops.size(); ++op) level_[run.ops[op].device] += layout_.problem.resident[op];
  visit_changes(run, [&](std::uint32_t device, Ticks time, Bytes bytes) {
    Bucket& bucket = sums_[device * buckets_ + static_cast<std::size_t>(time >> shift_)];
    bucket.change += bytes;
    bucket.allocated += std::max<Bytes>(bytes, 0);
  });
  for (std::size_t device = 0; device < level_.size(); ++device) {
    Bytes level = level_[device];
    Bytes upper = level;
    Bytes lower = level;
    for (std::size_t b = 0; b < buckets_; ++b) {
      const Bucket& bucket = sums_[device * buckets_ + b];
      upper = std::max(upper, level + bucket.allocated);
      level += bucket.change;
      lower = std::max(lower, level);
    }
    peak_[device] = upper;
    lowest_[device] = lower;
  }
  return peak_;
}

const std::vector<Bytes>& Memory::exact(const Run& run, const std::vector<Bytes>& enough) {
  bool any = false;
  for (std::size_t device = 0; device < level_.size(); ++device) {
    char* const suspect = &suspect_[device * buckets_];
    std::fill(suspect, suspect + buckets_, 0);
    if (peak_[device] <= enough[device]) continue;
    peak_[device] = lowest_[device];
    Bytes level = level_[device];
    for (std::size_t b = 0; b < buckets_; ++b) {
      Bucket& bucket = sums_[device * buckets_ + b];
      suspect[b] = level + bucket.allocated > lowest_[device];
      any |= suspect[b] != 0;
      bucket.allocated = level;  // from here on: the level at the bucket's begin
      level += bucket.change;
    }
  }
  if (!any) return peak_;
  changes_.clear();
  visit_changes(run, [&](std::uint32_t device, Ticks time, Bytes bytes) {
    if (suspect_[device * buckets_ + static_cast<std::size_t>(time >> shift_)])
      changes_.push_back({time, bytes, device});
  });
  // Frees come before allocations at one instant.
  std::sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
    return std::tuple(a.device, a.time, a.bytes > 0) < std::tuple(b.device, b.time, b.bytes > 0);
  });
  std::size_t bucket_of_last = sums_.size();
  Bytes level = 0;
  for (const Change& change : changes_) {
    const std::size_t bucket = change.device * buckets_ + static_cast<std::size_t>(change.time >> shift_);
    if (bucket != bucket_of_last) level = sums_[bucket].allocated;
    bucket_of_last = bucket;
    level += change.bytes;
    peak_[change.device] = std::max(peak_[change.device], level);
  }
  return peak_;
}

}  // namespace emplace
