#include "simulate/batch/program.hpp"

#include <algorithm>
#include <limits>

namespace emplace::simulate {

namespace {
constexpr double infinite_time = std::numeric_limits<double>::infinity();
// The code and costs of so many ops stay in the L2 cache while all lanes walk over them.
constexpr std::size_t ops_a_stretch = 128;
constexpr std::uint32_t none = 0xffffffff;

// Allocates slots as a compiler allocates registers.
class Slots {
 public:
  explicit Slots(std::size_t& count) : count_(count) {}
  std::uint32_t take() {
    if (free_.empty()) free_.push_back(static_cast<std::uint32_t>(count_++));
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(std::uint32_t slot) { free_.push_back(slot); }

 private:
  std::size_t& count_;
  std::vector<std::uint32_t> free_;
};
}  // namespace

BatchProgram::BatchProgram(const Problem& p, const Network& network, std::span<const std::uint32_t> order)
    : devices(p.device_count()), columns(p.route_classes.size()) {
  if (!network.complete || columns == 0) ++columns;
  uniform = columns == 1;
  shared_lines = !network.private_pairs;
  std::vector<std::int32_t> lines(2, -1);  // the first two belong to no channel
  for (std::size_t pair = 0; pair < devices * devices; ++pair) {
    const std::int32_t cls = p.route_class[pair];
    column.push_back(cls < 0 ? static_cast<std::int64_t>(columns) - 1 : cls);
    const bool contends = !network.contended[pair].empty();
    contended.push_back(contends ? -1 : 0);
    uniform &= contends || pair / devices == pair % devices;
    const std::int32_t channel = network.line[pair];
    if (channel >= 0 && std::ranges::find(lines, channel) == lines.end()) lines.push_back(channel);
    const auto at = (std::ranges::find(lines, channel) - lines.begin()) * batch::lanes;
    line.push_back(channel < 0 ? batch::zero_slot * batch::lanes : at);
    line_after.push_back(channel < 0 ? batch::waste_slot * batch::lanes : at);
  }

  std::vector<std::uint32_t> slot_of(p.op_count(), none);
  Slots free_slots(slots);
  std::size_t tensors = 0;
  const bool in_pairs = view().one_hot();
  const auto add_consumer = [&](std::uint32_t op, std::uint32_t from, std::uint32_t to) {
    code.insert(code.end(), {op, from * batch::lanes, to * batch::lanes});
  };
  for (std::size_t position = 0; position < order.size(); ++position) {
    if (position % ops_a_stretch == 0) stretches.push_back({code.size(), position, tensors, 0, 0, 0});
    const std::uint32_t op = order[position];
    for (std::size_t d = 0; d < devices; ++d) {
      const Ticks time = p.op_time[op * devices + d];
      op_time.push_back(time == cannot_run ? infinite_time : static_cast<double>(time));
    }
    const bool has_slot = slot_of[op] != none;
    if (has_slot) free_slots.give_back(slot_of[op]);
    code.insert(code.end(), {op, (has_slot ? slot_of[op] : batch::zero_slot) * batch::lanes, 0});
    const std::size_t tensors_at = code.size() - 1;
    for (const std::uint32_t tensor : p.outputs[op]) {
      const auto consumers = p.consumers[tensor];
      if (consumers.empty()) continue;
      ++tensors;
      ++code[tensors_at];
      for (std::size_t cls = 0; cls < columns; ++cls)
        transfer.push_back(cls < p.route_classes.size()
                               ? static_cast<double>(p.transfer_time[tensor * p.route_classes.size() + cls])
                               : infinite_time);
      code.push_back(static_cast<std::uint32_t>(in_pairs ? (consumers.size() + 1) / 2 : consumers.size()));
      for (const std::uint32_t consumer : consumers) {
        const bool first = slot_of[consumer] == none;
        if (first) slot_of[consumer] = free_slots.take();
        add_consumer(consumer, first ? batch::zero_slot : slot_of[consumer], slot_of[consumer]);
      }
      if (in_pairs && consumers.size() % 2 != 0) add_consumer(op, batch::zero_slot, batch::waste_slot);
    }
  }
  stretches.push_back({code.size(), order.size(), tensors, 0, 0, 0});
  op_time.resize(op_time.size() + batch::lanes);  // kernels may load whole vectors
}

batch::View BatchProgram::view() const {
  batch::View view{};
  view.devices = static_cast<unsigned>(devices);
  view.code = code.data();
  view.stretches = stretches.data();
  view.stretch_count = stretches.size() - 1;
  view.op_time = op_time.data();
  view.transfer = transfer.data();
  view.columns = columns;
  view.column = column.data();
  view.contended = contended.data();
  view.uniform = uniform;
  view.line = line.data();
  view.line_after = line_after.data();
  view.shared_lines = shared_lines;
  return view;
}

}  // namespace emplace::simulate
