#include "search/latency/greedy_latency.hpp"

#include <algorithm>

#include "search/latency/sample_latency.hpp"
#include "search/methods.hpp"
#include "search/pipeline/contiguous_split.hpp"
#include "search/pipeline/split_classes.hpp"
#include "simulate/pipeline/host_model.hpp"

namespace emplace::search {

namespace {

class BlockFiller {
 public:
  explicit BlockFiller(const Problem& problem)
      : problem_(problem), blocks_(split_classes(problem, false)), order_(depth_first_order(blocks_)) {
    const simulate::HostModel model(problem);
    for (std::uint8_t d = 0; d < problem.device_count(); ++d) {
      (model.pays(d) ? accelerators_ : hosts_).push_back(d);
      left_.push_back(problem.devices[d].memory);
    }
    for (std::uint32_t block = 0; block < blocks_.count(); ++block) {
      bytes_.push_back(0);
      for (const std::uint32_t op : blocks_.members[block]) bytes_.back() += problem.resident[op];
    }
  }

  std::optional<std::vector<std::uint8_t>> run() {
    std::size_t used = 0;  // accelerators
    for (std::size_t next = 0; next < order_.size();) {
      if (used == accelerators_.size() || !fits(order_[next], accelerators_[used])) {
        if (!put_elsewhere(order_[next++])) return std::nullopt;
        continue;
      }
      const std::uint8_t accelerator = accelerators_[used++];
      while (next < order_.size() && fits(order_[next], accelerator)) put(order_[next++], accelerator);
    }
    std::vector<std::uint8_t> devices;
    for (const std::uint32_t block : blocks_.of_op) devices.push_back(device_[block]);
    return devices;
  }

 private:
  [[nodiscard]] Ticks time(std::uint32_t block, std::uint8_t device) const {
    Ticks sum = 0;
    for (const std::uint32_t op : blocks_.members[block]) {
      const Ticks time = problem_.time(OpId{op}, DeviceId{device});
      if (time == cannot_run) return cannot_run;
      sum += time;
    }
    return sum;
  }
  [[nodiscard]] bool fits(std::uint32_t block, std::uint8_t device) const {
    return bytes_[block] <= left_[device] && time(block, device) != cannot_run;
  }
  void put(std::uint32_t block, std::uint8_t device) {
    if (left_[device] != no_memory_limit) left_[device] -= bytes_[block];
    device_[block] = device;
  }
  bool put_elsewhere(std::uint32_t block) {
    std::optional<std::uint8_t> best;
    for (const std::uint8_t d : hosts_)
      if (time(block, d) != cannot_run && (!best || time(block, d) < time(block, *best))) best = d;
    if (!best)
      for (const std::uint8_t d : accelerators_)
        if (time(block, d) != cannot_run && (!best || left_[d] > left_[*best])) best = d;
    if (best) put(block, *best);
    return best.has_value();
  }

  const Problem& problem_;
  const SplitClasses blocks_;
  const std::vector<std::uint32_t> order_;
  std::vector<std::uint8_t> accelerators_, hosts_;
  std::vector<Bytes> left_;   // D: memory, below 0 after put_elsewhere()
  std::vector<Bytes> bytes_;  // by block
  std::vector<std::uint8_t> device_ = std::vector<std::uint8_t>(blocks_.count());
};

PlacerResult place_greedy_latency(const PlacerRequest& request, const ConfigTable& options) {
  read_options<NoOptions>(options);
  const auto split = greedy_latency_split(*request.problem);
  if (!split) return on_best_device(request, "no device can run a block of ops that stay together");
  return scored_split(request, *split, sample_latency_text(*request.problem, *split));
}

}  // namespace

std::optional<std::vector<std::uint8_t>> greedy_latency_split(const Problem& problem) {
  return BlockFiller(problem).run();
}

PlacerEntry greedy_latency_placer() {
  PlacerEntry entry;
  entry.name = "greedy-latency";
  entry.summary = "For the latency of one sample: blocks fill one accelerator after the other, the rest is on the CPU.";
  entry.reference = "Tarnawski et al. 2020";
  entry.role = PlacerRole::other;  // it does not know the objective
  entry.options = list_options<NoOptions>;
  entry.place = place_greedy_latency;
  return entry;
}

}  // namespace emplace::search
