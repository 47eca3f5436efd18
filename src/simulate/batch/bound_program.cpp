#include "simulate/batch/bound_program.hpp"

#include <algorithm>
#include <cmath>

namespace emplace::simulate {

namespace {
// A level counts every buffer at most once and the highest level of a stretch at most twice, so with one count per size
// for rounding up, all sums stay below 2^31.
constexpr double most_counts = 0x1p28;

Bytes unit_of(const Problem& p) {
  double total = 0;
  for (std::size_t op = 0; op < p.op_count(); ++op) total += static_cast<double>(p.resident[op] + p.scratch[op]);
  for (const Bytes bytes : p.tensor_bytes) total += static_cast<double>(bytes);
  return std::max<Bytes>(1, static_cast<Bytes>(std::ceil(total / most_counts)));
}
}  // namespace

bool BatchBoundProgram::supports(const Problem& p) {
  return static_cast<double>(2 * p.op_count() + p.tensor_count()) < most_counts;
}

BatchBoundProgram::BatchBoundProgram(const Problem& p, std::span<const std::uint32_t> order,
                                     std::vector<batch::Stretch>& stretches)
    : unit(unit_of(p)) {
  const auto counts_of = [this](Bytes bytes) { return static_cast<std::int32_t>((bytes + unit - 1) / unit); };
  std::vector<std::uint32_t> position(p.op_count());
  for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  // number_of[i] is the number of the input p.inputs.items[i], or no_input.
  std::vector<std::uint32_t> number_of(p.inputs.items.size(), batch::no_input);
  std::size_t stretch = 0;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    if (i == stretches[stretch].op) {
      stretches[stretch].op_code = op_code.size();
      stretches[stretch].sizes = sizes.size();
      stretches[stretch].numbered_input = inputs;
      ++stretch;
    }
    const std::uint32_t op = order[i];
    op_code.insert(op_code.end(), {op, 0, 0});
    const std::size_t counts = op_code.size() - 2;
    const std::size_t start = sizes.size();
    std::uint32_t numbered = 0;
    sizes.insert(sizes.end(), 2, counts_of(p.scratch[op]));
    for (std::uint32_t at = p.inputs.begin[op]; at < p.inputs.begin[op + 1]; ++at) {
      const std::uint32_t tensor = p.inputs.items[at];
      const std::int32_t size = counts_of(p.tensor_bytes[tensor]);
      if (p.consumers[tensor].size() == 1) {
        sizes[start + 1] += size;
      } else {
        number_of[at] = static_cast<std::uint32_t>(inputs++);
        sizes.push_back(size);
        ++numbered;
      }
    }
    for (; numbered == 0 || numbered % 2 != 0; ++numbered, ++inputs) sizes.push_back(0);
    op_code[counts] = numbered / 2;
    for (const std::uint32_t tensor : p.outputs[op]) {
      const std::int32_t size = counts_of(p.tensor_bytes[tensor]);
      sizes[start] += size;
      if (p.consumers[tensor].empty()) {
        sizes[start + 1] += size;
      } else {
        sizes.push_back(size);
        ++op_code[counts + 1];
      }
    }
  }
  std::vector<std::uint32_t> with_consumers;
  for (const std::uint32_t op : order)
    for (const std::uint32_t tensor : p.outputs[op])
      if (!p.consumers[tensor].empty()) with_consumers.push_back(tensor);
  tensors = with_consumers.size();
  std::vector<std::uint32_t> number(p.tensor_count());
  for (std::uint32_t i = 0; i < tensors; ++i) number[with_consumers[i]] = i;
  // Sorted by number of consumers, so that the processor predicts the ends of the loops over consumers correctly.
  std::ranges::stable_sort(with_consumers, {}, [&p](std::uint32_t tensor) { return p.consumers[tensor].size(); });
  std::vector<std::uint32_t> consumers;
  for (const std::uint32_t tensor : with_consumers) {
    consumers.assign(p.consumers[tensor].begin(), p.consumers[tensor].end());
    std::ranges::sort(consumers, [&](std::uint32_t a, std::uint32_t b) { return position[a] > position[b]; });
    tensor_code.insert(tensor_code.end(),
                       {number[tensor], p.producer[tensor].value, static_cast<std::uint32_t>(consumers.size())});
    for (const std::uint32_t consumer : consumers) {
      const auto its_inputs = p.inputs[consumer];
      const auto which = std::ranges::find(its_inputs, tensor) - its_inputs.begin();
      tensor_code.insert(tensor_code.end(),
                         {consumer, number_of[p.inputs.begin[consumer] + static_cast<std::size_t>(which)]});
    }
  }
  if (std::ranges::any_of(p.resident, [](Bytes b) { return b != 0; }))
    for (const Bytes bytes : p.resident) resident.push_back(counts_of(bytes));
}

batch::BoundView BatchBoundProgram::view() const {
  batch::BoundView view{};
  view.tensor_code = tensor_code.data();
  view.tensor_code_size = tensor_code.size();
  view.op_code = op_code.data();
  view.sizes = sizes.data();
  view.resident = resident.empty() ? nullptr : resident.data();
  return view;
}

}  // namespace emplace::simulate
