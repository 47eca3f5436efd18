#include "batch_bound_program.hpp"

#include <algorithm>

namespace emplace {

BatchBoundProgram::BatchBoundProgram(const Problem& p, std::span<const std::uint32_t> order,
                                     std::vector<batch::Stretch>& stretches) {
  std::vector<std::uint32_t> position(p.op_count());
  for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  // The inputs of an op that are numbered, in the order of its inputs: at number_of[i] is that of p.inputs.items[i].
  std::vector<std::uint32_t> number_of(p.inputs.items.size(), batch::no_input);
  std::size_t stretch = 0;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    if (i == stretches[stretch].op) {
      stretches[stretch].op_code = op_code.size();
      stretches[stretch].bytes = bytes.size();
      stretches[stretch].numbered_input = inputs;
      ++stretch;
    }
    const std::uint32_t op = order[i];
    op_code.insert(op_code.end(), {op, 0, 0});
    const std::size_t counts = op_code.size() - 2;
    const std::size_t start = bytes.size();
    std::uint32_t numbered = 0;
    bytes.insert(bytes.end(), 2, static_cast<double>(p.scratch[op]));
    for (std::uint32_t at = p.inputs.begin[op]; at < p.inputs.begin[op + 1]; ++at) {
      const std::uint32_t tensor = p.inputs.items[at];
      const auto size = static_cast<double>(p.tensor_bytes[tensor]);
      if (p.consumers[tensor].size() == 1) {
        bytes[start + 1] += size;
      } else {
        number_of[at] = static_cast<std::uint32_t>(inputs++);
        bytes.push_back(size);
        ++numbered;
      }
    }
    for (; numbered == 0 || numbered % 2 != 0; ++numbered, ++inputs) bytes.push_back(0);
    op_code[counts] = numbered / 2;
    for (const std::uint32_t tensor : p.outputs[op]) {
      const auto size = static_cast<double>(p.tensor_bytes[tensor]);
      bytes[start] += size;
      if (p.consumers[tensor].empty()) {
        bytes[start + 1] += size;
      } else {
        bytes.push_back(size);
        ++op_code[counts + 1];
      }
    }
  }
  std::vector<std::uint32_t> consumers;
  for (const std::uint32_t op : order)
    for (const std::uint32_t tensor : p.outputs[op]) {
      consumers.assign(p.consumers[tensor].begin(), p.consumers[tensor].end());
      if (consumers.empty()) continue;
      ++tensors;
      std::ranges::sort(consumers, [&](std::uint32_t a, std::uint32_t b) { return position[a] > position[b]; });
      tensor_code.insert(tensor_code.end(), {op, static_cast<std::uint32_t>(consumers.size())});
      for (const std::uint32_t consumer : consumers) {
        const auto its_inputs = p.inputs[consumer];
        const auto which = std::ranges::find(its_inputs, tensor) - its_inputs.begin();
        tensor_code.insert(tensor_code.end(),
                           {consumer, number_of[p.inputs.begin[consumer] + static_cast<std::size_t>(which)]});
      }
    }
  if (std::ranges::any_of(p.resident, [](Bytes b) { return b != 0; }))
    resident.assign(p.resident.begin(), p.resident.end());
}

batch::BoundView BatchBoundProgram::view() const {
  batch::BoundView view{};
  view.tensor_code = tensor_code.data();
  view.tensor_code_size = tensor_code.size();
  view.op_code = op_code.data();
  view.bytes = bytes.data();
  view.resident = resident.empty() ? nullptr : resident.data();
  return view;
}

}  // namespace emplace
