#include "simulate/exact/memory.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace emplace::simulate {

namespace {
constexpr std::size_t fewest_buckets = 64;

// All bits set, or none. Masks replace branches that depend on the consumers' devices: these are as good as random, so
// the branches would be mispredicted.
std::int64_t mask(bool yes) { return -static_cast<std::int64_t>(yes); }

// Two per op (start and end), three per edge, and one of 0 bytes at the end.
std::size_t most_changes(const Layout& layout) { return 2 * layout.problem.op_count() + 3 * layout.edges.size() + 1; }
}  // namespace

Memory::Memory(const Layout& layout)
    : layout_(layout),
      at_start_(layout.problem.scratch),
      at_end_(layout.problem.scratch),
      held_(layout.problem.resident),
      most_scratch_(most_scratch(layout.problem)),
      slots_(std::make_unique_for_overwrite<std::uint32_t[]>(most_changes(layout))),
      times_(std::make_unique_for_overwrite<Ticks[]>(most_changes(layout))),
      bytes_(std::make_unique_for_overwrite<Bytes[]>(most_changes(layout))) {
  const Problem& p = layout.problem;
  const std::size_t devices = p.device_count();
  // About four changes per bucket.
  most_buckets_ = std::max(fewest_buckets, std::bit_ceil(p.op_count() / devices + 1));
  for (std::size_t t = 0; t < p.tensor_count(); ++t) {
    at_start_[p.producer[t].index()] += p.tensor_bytes[t];
    held_[p.producer[t].index()] += p.tensor_bytes[t];
    if (p.consumers[t].empty()) at_end_[p.producer[t].index()] += p.tensor_bytes[t];
  }
  sums_.resize(devices * most_buckets_);
  suspect_.resize(devices * most_buckets_);
  resident_.resize(devices);
  level_.resize(devices);
  peak_.resize(devices);
  lowest_.resize(devices);
  last_use_.resize(devices);
  copied_.resize(devices);
  traffic_.resize(devices * devices);
  suspected_.reserve(most_changes(layout));
}

// Adds changes to the buckets of their times. A change of 0 bytes is not kept: the next one overwrites it.
template <bool Keep>
class Memory::Sink {
 public:
  explicit Sink(Memory& memory)
      : sums_(memory.sums_.data()),
        slots_(memory.slots_.get()),
        times_(memory.times_.get()),
        bytes_(memory.bytes_.get()),
        devices_(memory.layout_.network.devices),
        shift_(memory.shift_) {}

  // `allocation`: all bits set for an allocation; none for a free, and for bytes above 0 that cancel a free.
  void change(std::uint32_t device, Ticks time, Bytes bytes, std::int64_t allocation) {
    const std::size_t bucket = static_cast<std::size_t>(time >> shift_) * devices_ + device;
    sums_[bucket].change += bytes;
    sums_[bucket].allocated += bytes & allocation;
    write_down(bucket, time, bytes, allocation);
  }
  void free(std::uint32_t device, Ticks time, Bytes bytes) {
    const std::size_t bucket = static_cast<std::size_t>(time >> shift_) * devices_ + device;
    sums_[bucket].change -= bytes;
    write_down(bucket, time, -bytes, 0);
  }
  [[nodiscard]] std::size_t changes() const { return next_; }

 private:
  void write_down(std::size_t bucket, Ticks time, Bytes bytes, std::int64_t allocation) {
    if constexpr (Keep) {
      slots_[next_] = static_cast<std::uint32_t>(2 * bucket) + static_cast<std::uint32_t>(allocation & 1);
      times_[next_] = time;
      bytes_[next_] = bytes;
      next_ += bytes != 0;
    }
  }

  Bucket* sums_;
  std::uint32_t* slots_;
  Ticks* times_;
  Bytes* bytes_;
  std::size_t devices_;
  unsigned shift_;
  std::size_t next_ = 0;
};

template <bool Keep>
void Memory::sum(const Run& run) {
  const Problem& p = layout_.problem;
  const std::size_t devices = layout_.network.devices;
  shift_ = 0;
  while (static_cast<std::size_t>(run.makespan >> shift_) >= most_buckets_) ++shift_;
  buckets_ = static_cast<std::size_t>(run.makespan >> shift_) + 1;
  std::fill_n(sums_.begin(), buckets_ * devices, Bucket{0, 0});
  std::fill(resident_.begin(), resident_.end(), 0);
  if (Keep) std::fill(traffic_.begin(), traffic_.end(), Traffic{0, 0});
  Sink<Keep> sink(*this);
  const OpState* const ops = run.ops.data();

  const auto edges = static_cast<std::uint32_t>(layout_.edges.size());
  const Edge* const edge = layout_.edges.data();
  const std::uint32_t* const column = layout_.network.column.data();
  const Ticks* const transfer_time = layout_.transfer_time.data();
  const Ticks* const send_start = run.send_start.data();
  const OpId* const producer = p.producer.data();
  const Bytes* const tensor_bytes = p.tensor_bytes.data();
  Ticks* const last_use = last_use_.data();
  std::fill(last_use_.begin(), last_use_.end(), 0);
  std::uint32_t previous = TensorId::none_value;
  Ticks original_free = 0;
  std::uint32_t e = 0;
  // Processes a block of ops and then their edges, so that their data stays in an inner cache.
  constexpr std::size_t together = 512;
  for (std::size_t begin = 0; begin < p.op_count(); begin += together) {
    const std::size_t end_of_ops = std::min(begin + together, p.op_count());
    const std::uint32_t end_of_edges = layout_.edge_begin[end_of_ops];
    for (std::size_t op = begin; op < end_of_ops; ++op) {
      const OpState& state = ops[op];
      resident_[state.device] += p.resident[op];
      sink.change(state.device, state.start, at_start_[op], mask(true));
      sink.free(state.device, state.end(), at_end_[op]);
    }
    for (; e < end_of_edges; ++e) {
      const std::uint32_t tensor = edge[e].tensor;
      const OpState& from = ops[producer[tensor].index()];
      const OpState& to = ops[edge[e].consumer];
      const std::int64_t away = mask(from.device != to.device);
      const std::int64_t sent = mask(send_start[e] != not_sent);
      const std::int64_t first = mask(tensor != previous);
      const std::int64_t last = mask(e + 1 == edges || edge[e + 1].tensor != tensor);
      previous = tensor;
      const std::size_t pair = from.device * devices + to.device;
      const Ticks duration = transfer_time[edge[e].row + column[pair]];
      const Bytes bytes = tensor_bytes[tensor];
      const Ticks end = to.end();

      // The original is freed after its last send or its last consumer on its own device.
      original_free = std::max((original_free & ~first) | (from.end() & first),
                               ((send_start[e] + duration) & sent) | (end & ~away));
      sink.free(from.device, original_free, bytes & last);
      // The copy is allocated when its send starts and freed after its last consumer: a later consumer cancels the free
      // of an earlier one and adds its own.
      const Ticks freed = last_use[to.device];
      const Ticks use = std::max(freed & ~sent, end);
      last_use[to.device] = use;
      sink.change(to.device, (freed & ~sent) | (send_start[e] & sent), bytes & away, sent);
      sink.free(to.device, use, bytes & away);
      if constexpr (Keep) {
        traffic_[pair].busy += duration & sent;
        traffic_[pair].bytes += bytes & sent;
      }
    }
  }
  changes_ = sink.changes();
}

void Memory::bound_levels() {
  const std::size_t devices = level_.size();
  level_ = lowest_ = peak_ = resident_;
  const Bucket* bucket = sums_.data();
  for (std::size_t b = 0; b < buckets_; ++b)
    for (std::size_t device = 0; device < devices; ++device, ++bucket) {
      peak_[device] = std::max(peak_[device], level_[device] + bucket->allocated);
      level_[device] += bucket->change;
      lowest_[device] = std::max(lowest_[device], level_[device]);
    }
}

// Afterwards a bucket's `allocated` is the level at its beginning.
void Memory::mark_suspects() {
  const std::size_t devices = level_.size();
  level_ = resident_;
  Bucket* bucket = sums_.data();
  char* suspect = suspect_.data();
  for (std::size_t b = 0; b < buckets_; ++b)
    for (std::size_t device = 0; device < devices; ++device, ++bucket, ++suspect) {
      *suspect = level_[device] + bucket->allocated > lowest_[device];
      bucket->allocated = level_[device];
      level_[device] += bucket->change;
    }
}

const std::vector<Bytes>& Memory::whatever_the_times(const std::vector<std::uint8_t>& device) {
  const Bytes* const tensor_bytes = layout_.problem.tensor_bytes.data();
  std::fill(peak_.begin(), peak_.end(), most_scratch_);
  std::fill(copied_.begin(), copied_.end(), TensorId::none_value);
  const Edge* edge = layout_.edges.data();
  for (std::size_t op = 0; op < device.size(); ++op) {
    const std::uint8_t home = device[op];
    peak_[home] += held_[op];
    for (const Edge* const end = layout_.edges.data() + layout_.edge_begin[op + 1]; edge != end; ++edge) {
      const std::uint8_t to = device[edge->consumer];
      peak_[to] += tensor_bytes[edge->tensor] & mask(to != home) & mask(copied_[to] != edge->tensor);
      copied_[to] = edge->tensor;
    }
  }
  return peak_;
}

const std::vector<Bytes>& Memory::bound(const Run& run) {
  sum<false>(run);
  bound_levels();
  return peak_;
}

const std::vector<Bytes>& Memory::exact(const Run& run) {
  sum<true>(run);
  bound_levels();
  mark_suspects();
  suspected_.clear();
  for (std::size_t i = 0; i < changes_; ++i)
    if (suspect_[slots_[i] / 2]) suspected_.push_back({slots_[i], times_[i], bytes_[i]});
  std::sort(suspected_.begin(), suspected_.end(), [](const Change& a, const Change& b) {
    return std::tuple(a.slot / 2, a.time, a.slot) < std::tuple(b.slot / 2, b.time, b.slot);
  });
  peak_ = lowest_;
  std::size_t bucket = sums_.size();
  Bytes level = 0;
  for (const Change& change : suspected_) {
    if (change.slot / 2 != bucket) level = sums_[change.slot / 2].allocated;
    bucket = change.slot / 2;
    level += change.bytes;
    // A cancelled free is not an allocation: the level between the two changes never existed.
    Bytes& peak = peak_[bucket % level_.size()];
    if (change.slot % 2 == 1) peak = std::max(peak, level);
  }
  return peak_;
}

}  // namespace emplace::simulate
