// S7: peak memory of each device.
#include <algorithm>
#include <tuple>

#include "emplace/base/error.hpp"
#include "simulate/published/run.hpp"

namespace emplace::simulate::published {

namespace {

using Devices = std::vector<std::uint8_t>;

struct Change {
  std::uint8_t device;
  bool second;  // true for changes that are applied after the other changes of the same instant
  Ticks time;
  Bytes bytes;
};

// On entry `peak` has the bytes that are allocated from the start.
void add_peaks(std::vector<Change>& changes, std::vector<Bytes>& peak) {
  std::ranges::sort(changes, {}, [](const Change& c) { return std::tuple(c.device, c.time, c.second); });
  std::vector<Bytes> used = peak;
  for (const Change& change : changes)
    peak[change.device] = std::max(peak[change.device], used[change.device] += change.bytes);
}

void peaks_of_none(const SwitchedProblem& p, const Devices&, const Simulated&, std::vector<Bytes>& peak) {
  peak.assign(p.devices, 0);
}

void sums(const SwitchedProblem& p, const Devices& device, const Simulated&, std::vector<Bytes>& peak) {
  peak.assign(p.devices, 0);
  for (std::size_t op = 0; op < device.size(); ++op) peak[device[op]] += p.problem.resident[op];
}

// R5: frees come before allocations. A copy belongs to one transfer, and is freed when the last of that transfer's
// consumers on the copy's device has ended.
template <bool copies>
void plain(const SwitchedProblem& p, const Devices& device, const Simulated& s, std::vector<Bytes>& peak) {
  sums(p, device, s, peak);
  std::vector<Change> changes;
  const auto hold = [&](std::uint8_t where, Ticks begin, Ticks end, Bytes bytes) {
    if (bytes == 0) return;
    changes.push_back({where, true, begin, bytes});
    changes.push_back({where, false, end, -bytes});
  };
  const MessagePlan& traffic = s.traffic;
  for (std::size_t op = 0; op < device.size(); ++op)
    hold(device[op], s.op_start[op], s.op_end[op], p.problem.scratch[op]);
  for (std::size_t tensor = 0; tensor < p.problem.tensor_count(); ++tensor) {
    const Bytes bytes = p.problem.tensor_bytes[tensor];
    const std::size_t producer = p.problem.producer[tensor].index();
    Ticks end = s.op_end[producer];
    for (std::uint32_t i = traffic.local_begin[tensor]; i < traffic.local_begin[tensor + 1]; ++i)
      end = std::max(end, s.op_end[traffic.local[i]]);
    for (std::uint32_t m = traffic.message_begin[tensor]; m < traffic.message_begin[tensor + 1]; ++m) {
      const Message& message = traffic.messages[m];
      end = std::max(end, message.end());
      if constexpr (copies)
        visit_destinations(traffic, message, device, [&](std::uint8_t to, const auto* consumer, const auto* last) {
          Ticks last_use = 0;
          for (; consumer != last; ++consumer) last_use = std::max(last_use, s.op_end[*consumer]);
          hold(to, message.start, last_use, bytes);
        });
    }
    hold(device[producer], s.op_start[producer], end, bytes);
  }
  add_peaks(changes, peak);
}

// docs/simulators.md, section 2.4, rule 7. Times are cut to whole microseconds where the original truncates to
// int.
void placeto(const SwitchedProblem& p, const Devices& device, const Simulated& s, std::vector<Bytes>& peak) {
  constexpr Ticks microsecond = 1000000;
  peak.assign(p.devices, 0);
  std::vector<Change> changes;
  for (std::uint32_t op = 0; op < device.size(); ++op) {
    Bytes bytes = 0;
    Ticks end = s.op_start[op];
    const auto use = [&](std::uint32_t consumer) {
      const Ticks last = s.op_start[consumer] / microsecond + p.time(consumer, device[consumer]) / microsecond - 1;
      end = std::max(end, last * microsecond);
    };
    for (const std::uint32_t tensor : p.problem.outputs[op]) {
      bytes += p.problem.tensor_bytes[tensor];
      for (const std::uint32_t consumer : p.sent[tensor]) use(consumer);
    }
    for (const std::uint32_t consumer : p.released[op]) use(consumer);
    changes.push_back({device[op], false, s.op_start[op], bytes});
    changes.push_back({device[op], true, end, -bytes});
  }
  add_peaks(changes, peak);
}

}  // namespace

FindPeaks peak_finder(MemoryModel model) {
  switch (model) {
    case MemoryModel::none: return peaks_of_none;
    case MemoryModel::sums: return sums;
    case MemoryModel::plain: return plain<true>;
    case MemoryModel::without_copies: return plain<false>;
    case MemoryModel::placeto: return placeto;
  }
  EMPLACE_CHECK(false, "unknown memory model");
}

}  // namespace emplace::simulate::published
