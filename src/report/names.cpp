#include "report/names.hpp"

#include <fmt/core.h>

#include "base/text.hpp"

namespace emplace::report {

namespace {
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }  // inside a UTF-8 character
}  // namespace

std::string tensor_name(const Problem& problem, TensorId tensor) {
  const OpId producer = problem.producer[tensor.index()];
  const auto outputs = problem.outputs[producer.index()];
  const std::string& name = problem.op_names[producer.index()];
  if (outputs.size() == 1) return name;
  std::size_t position = 0;
  while (outputs[position] != tensor.value) ++position;
  return fmt::format("{}:{}", name, position);
}

std::string cell_name(std::string_view name, std::size_t width) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  if (out.size() <= width) return out;
  // Names differ more at their ends than at their beginnings ("model/layers/17/attention/..."), so the beginning gets
  // only two fifths of the width.
  std::size_t head = (width - 3) * 2 / 5;
  std::size_t tail = out.size() - (width - 3 - head);
  while (head > 0 && continues(out[head])) --head;
  while (tail < out.size() && continues(out[tail])) ++tail;
  return out.substr(0, head) + "..." + out.substr(tail);
}

std::string percent(double share) {
  const double value = 100 * share;
  if (value > 0 && value < 0.05) return "<0.1 %";
  return fmt::format("{:.1f} %", value);
}

}  // namespace emplace::report
