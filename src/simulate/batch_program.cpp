#include "batch_program.hpp"

#include <algorithm>
#include <limits>

namespace emplace {

namespace {
constexpr double never = std::numeric_limits<double>::infinity();
}

BatchProgram::BatchProgram(const Problem& p, const Network& network, std::span<const std::uint32_t> order)
    : devices(p.device_count()), columns(p.route_classes.size() + 1) {
  std::vector<std::uint32_t> slot_of(p.op_count(), batch::no_slot);
  std::vector<std::uint32_t> free_slots;
  for (const std::uint32_t op : order) {
    for (std::size_t d = 0; d < devices; ++d) {
      const Ticks time = p.op_time[op * devices + d];
      op_time.push_back(time == cannot_run ? never : static_cast<double>(time));
    }
    code.push_back(op);
    code.push_back(slot_of[op]);
    if (slot_of[op] != batch::no_slot) free_slots.push_back(slot_of[op]);
    const std::size_t tensors_at = code.size();
    code.push_back(0);
    for (const std::uint32_t tensor : p.outputs[op]) {
      const auto consumers = p.consumers[tensor];
      if (consumers.empty()) continue;
      ++code[tensors_at];
      for (std::size_t cls = 0; cls + 1 < columns; ++cls)
        transfer.push_back(static_cast<double>(p.transfer_time[tensor * (columns - 1) + cls]));
      transfer.push_back(never);
      code.push_back(static_cast<std::uint32_t>(consumers.size()));
      for (const std::uint32_t consumer : consumers) {
        const bool nothing_there = slot_of[consumer] == batch::no_slot;
        if (nothing_there) {
          if (free_slots.empty()) free_slots.push_back(static_cast<std::uint32_t>(slots++));
          slot_of[consumer] = free_slots.back();
          free_slots.pop_back();
        }
        code.push_back(consumer);
        code.push_back(slot_of[consumer] * 2 + nothing_there);
      }
    }
  }
  op_time.resize(op_time.size() + batch::lanes);  // kernels may load whole vectors

  uniform = network.complete && p.route_classes.size() <= 1;
  for (std::size_t pair = 0; pair < devices * devices; ++pair) {
    const std::int32_t cls = p.route_class[pair];
    column.push_back(cls < 0 ? static_cast<std::int64_t>(columns) - 1 : cls);
    const bool contends = !network.contended[pair].empty();
    contended.push_back(contends ? -1 : 0);
    uniform &= contends || pair / devices == pair % devices;
  }
}

batch::View BatchProgram::view() const {
  batch::View view{};
  view.ops = op_time.size() / devices;
  view.devices = static_cast<unsigned>(devices);
  view.code = code.data();
  view.code_size = code.size();
  view.op_time = op_time.data();
  view.transfer = transfer.data();
  view.columns = columns;
  view.column = column.data();
  view.contended = contended.data();
  view.uniform = uniform;
  return view;
}

}  // namespace emplace
