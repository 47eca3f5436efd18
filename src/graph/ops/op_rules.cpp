#include "graph/ops/op_rules.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace emplace {

namespace {

const Shape no_shape;

double known_or_zero(const OpView& op, const std::optional<std::int64_t>& value) {
  if (!value) op.set_incomplete();
  return static_cast<double>(value.value_or(0));
}

// The size of each index of "bij,bjk->bik"; nullopt if one is not known or some are only hinted at ("...").
std::optional<std::map<char, std::int64_t>> einsum_sizes(const OpView& op, const std::string& equation) {
  std::map<char, std::int64_t> sizes;
  std::size_t operand = 0, dimension = 0;
  for (const char c : equation.substr(0, equation.find('-'))) {
    if (c == ' ') continue;
    if (c == ',') {
      ++operand;
      dimension = 0;
      continue;
    }
    const Shape& shape = op.input_shape(operand);
    if (c == '.' || dimension >= shape.dims.size() || shape.dims[dimension] < 0) return std::nullopt;
    sizes[c] = std::max(sizes[c], shape.dims[dimension++]);  // 1 is repeated
  }
  return sizes;
}

}  // namespace

bool OpView::has_input(std::size_t position) const {
  return position < op_.inputs.size() && op_.inputs[position].kind != Operand::Kind::none;
}

const Shape& OpView::input_shape(std::size_t position) const {
  if (!has_input(position)) return no_shape;
  const Operand& input = op_.inputs[position];
  return input.is_tensor() ? graph_.tensors[input.index].shape : graph_.parameters[input.index].shape;
}

const Shape& OpView::output_shape(std::size_t position) const {
  return position < op_.outputs.size() ? graph_.tensors[op_.outputs[position].index()].shape : no_shape;
}

double OpView::input_elements(std::size_t position) const {
  return has_input(position) ? known_or_zero(*this, input_shape(position).elements()) : 0;
}

double OpView::output_elements(std::size_t position) const {
  return position < op_.outputs.size() ? known_or_zero(*this, output_shape(position).elements()) : 0;
}

Bytes OpView::input_bytes(std::size_t position) const {
  if (!has_input(position)) return 0;
  const Operand& input = op_.inputs[position];
  const auto bytes = input.is_tensor() ? graph_.tensors[input.index].bytes() : graph_.parameters[input.index].bytes();
  if (!bytes) set_incomplete();
  return bytes.value_or(0);
}

Bytes OpView::output_bytes(std::size_t position) const {
  if (position >= op_.outputs.size()) return 0;
  const auto bytes = graph_.tensors[op_.outputs[position].index()].bytes();
  if (!bytes) set_incomplete();
  return bytes.value_or(0);
}

double OpView::product_from(const Shape& shape, std::size_t first) const {
  if (!shape.is_static()) {
    set_incomplete();
    return 0;
  }
  double product = 1;
  for (std::size_t i = first; i < shape.dims.size(); ++i) product *= static_cast<double>(shape.dims[i]);
  return product;
}

std::int64_t OpView::whole(const char* attribute, std::int64_t fallback) const {
  const auto found = op_.attributes.find(attribute);
  if (found == op_.attributes.end()) return fallback;
  const auto* value = std::get_if<std::int64_t>(&found->second);
  return value != nullptr ? *value : fallback;
}

const std::vector<std::int64_t>* OpView::wholes(const char* attribute) const {
  const auto found = op_.attributes.find(attribute);
  return found == op_.attributes.end() ? nullptr : std::get_if<std::vector<std::int64_t>>(&found->second);
}

double no_flops(const OpView&, double) { return 0; }
double per_output(const OpView& op, double factor) { return factor * op.output_elements(0); }
double per_input(const OpView& op, double factor) { return factor * op.input_elements(0); }

double per_gradient(const OpView& op, double factor) { return factor * op.input_elements(1); }

double per_operand(const OpView& op, double factor) {
  const double operands = static_cast<double>(op.op().inputs.size());
  return factor * op.output_elements(0) * std::max(0.0, operands - 1);
}

double matmul_flops(const OpView& op, double) {
  const Shape& a = op.input_shape(0);
  if (!a.is_static()) {
    op.set_incomplete();
    return 0;
  }
  if (a.dims.empty()) return 0;
  const std::size_t rank = a.dims.size();
  const bool transposed = op.whole("transA", 0) != 0 && rank >= 2;
  return 2 * op.output_elements(0) * static_cast<double>(a.dims[transposed ? rank - 2 : rank - 1]);
}

// Operands of more than two dimensions count as flattened: all of A's dimensions but the output's rows are contracted.
double gemm_flops(const OpView& op, double) {
  const Shape& y = op.output_shape(0);
  if (!y.is_static()) {
    op.set_incomplete();
    return 0;
  }
  const double rows = y.dims.empty() ? 1 : static_cast<double>(y.dims[0]);
  if (rows == 0) return 0;
  const double bias = op.has_input(2) ? op.output_elements(0) : 0;
  return 2 * op.output_elements(0) * (op.input_elements(0) / rows) + bias;
}

double conv_flops(const OpView& op, double) {
  const double outputs = op.output_elements(0);
  return 2 * outputs * op.product_from(op.input_shape(1), 1) + (op.has_input(2) ? outputs : 0);
}

double conv_scatter_flops(const OpView& op, double) {
  return 2 * op.input_elements(0) * op.product_from(op.input_shape(1), 1);
}

double conv_grad_weight_flops(const OpView& op, double) {
  return 2 * op.input_elements(0) * op.product_from(op.output_shape(0), 1);
}

double einsum_flops(const OpView& op, double) {
  const auto found = op.op().attributes.find("equation");
  const auto* equation = found == op.op().attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  const auto sizes = equation == nullptr ? std::nullopt : einsum_sizes(op, *equation);
  if (!sizes) {
    op.set_incomplete();
    return 0;
  }
  double product = static_cast<double>(std::max<std::size_t>(1, op.op().inputs.size()));
  for (const auto& [index, size] : *sizes) product *= static_cast<double>(size);
  return product;
}

double attention_flops(const OpView& op, double factor) {
  const Shape &query = op.input_shape(0), &key = op.input_shape(1);
  if (query.dims.size() < 2 || key.dims.size() < 2 || query.dims.back() <= 0 || op.input_shape(2).dims.empty()) {
    op.set_incomplete();
    return 0;
  }
  const double keys = static_cast<double>(std::max<std::int64_t>(0, key.dims[key.dims.size() - 2]));
  if (keys == 0) op.set_incomplete();
  const double heads = query.dims.size() == 3 ? static_cast<double>(op.whole("q_num_heads", 1)) : 1;
  const double queries = op.input_elements(0) / static_cast<double>(query.dims.back()) * heads;
  return 2 * op.input_elements(0) * keys + factor * queries * keys + 2 * op.output_elements(0) * keys;
}

// ONNX LSTM, GRU, RNN: X is time x batch x input; W and R hold the weights of all directions and gates, so each of
// their elements is used once for every time step and sample.
double recurrent_flops(const OpView& op, double factor) {
  const Shape& x = op.input_shape(0);
  const Shape& recurrence = op.input_shape(2);
  if (!x.is_static() || !recurrence.is_static() || x.dims.size() != 3 || recurrence.dims.size() != 3) {
    op.set_incomplete();
    return 0;
  }
  const double samples = static_cast<double>(x.dims[0]) * static_cast<double>(x.dims[1]);
  const double gates = static_cast<double>(recurrence.dims[0]) * static_cast<double>(recurrence.dims[1]);
  return samples * (2 * (op.input_elements(1) + op.input_elements(2)) + factor * gates);
}

double recurrent_launches(const OpView& op) {
  const Shape& x = op.input_shape(0);
  const Shape& recurrence = op.input_shape(2);
  const std::size_t time = op.whole("layout", 0) == 1 ? 1 : 0;  // X is time x batch x input, or batch x time x input
  if (!x.ranked || x.dims.size() != 3 || !recurrence.ranked || recurrence.dims.size() != 3) return 1;
  if (x.dims[time] < 1 || recurrence.dims[0] < 1) return 1;
  return static_cast<double>(x.dims[time]) * static_cast<double>(recurrence.dims[0]);
}

namespace {

// The two matrices of each layer and direction: gates x input and gates x hidden.
struct StackWeights {
  double elements = 0, rows = 0, count = 0;
};

StackWeights stack_weights(const OpView& op) {
  StackWeights sum;
  for (std::size_t i = 1; i < op.op().inputs.size(); ++i) {
    const Shape& shape = op.input_shape(i);
    if (!shape.is_static() || shape.dims.size() != 2) continue;
    sum.elements += op.input_elements(i);
    sum.rows += static_cast<double>(shape.dims[0]);
    ++sum.count;
  }
  return sum;
}

}  // namespace

double recurrent_stack_flops(const OpView& op, double factor) {
  const Shape& x = op.input_shape(0);
  const StackWeights weights = stack_weights(op);
  if (!x.is_static() || x.dims.size() != 3 || weights.count == 0) {
    op.set_incomplete();
    return 0;
  }
  const double samples = static_cast<double>(x.dims[0]) * static_cast<double>(x.dims[1]);
  return samples * (2 * weights.elements + factor * weights.rows / 2);
}

double recurrent_stack_launches(const OpView& op) {
  const Shape& x = op.input_shape(0);
  const std::size_t time = op.whole("batch_first", 0) != 0 ? 1 : 0;
  const double layers = stack_weights(op).count / 2;
  if (!x.ranked || x.dims.size() != 3 || x.dims[time] < 1 || layers < 1) return 1;
  return static_cast<double>(x.dims[time]) * layers;
}

namespace {
double pool_window(const OpView& op) {
  const auto* kernel = op.wholes("kernel_shape");
  double window = 1;
  if (kernel != nullptr)
    for (const std::int64_t size : *kernel) window *= static_cast<double>(size);
  return window;
}
}  // namespace

double pool_flops(const OpView& op, double factor) { return factor * pool_window(op) * op.output_elements(0); }

double pool_flops_of_gradient(const OpView& op, double factor) {
  return factor * pool_window(op) * op.input_elements(0);
}

// With fixed statistics, normalisation is one scale and one shift. With the statistics of the batch, each element takes
// 8 FLOPs: a mean (1), a variance (3), and 4 to normalise, scale and shift.
double batch_norm_flops(const OpView& op, double factor) {
  return (op.whole("training_mode", 0) != 0 ? 8 : factor) * op.output_elements(0);
}

double twice_forward(const OpView& op, double factor) {
  const OpId forward = op.op().forward_of;
  if (forward.is_none()) {
    op.set_incomplete();
    return 0;
  }
  const OpCost cost = cost_of(op.graph(), forward);
  if (!cost.known_shapes) op.set_incomplete();
  return factor * cost.flops;
}

double stated_flops(const OpView& op, double) {
  const auto found = op.op().attributes.find("flops");
  const double* flops = found == op.op().attributes.end() ? nullptr : std::get_if<double>(&found->second);
  if (flops == nullptr || op.whole("incomplete", 0) != 0) op.set_incomplete();
  return flops == nullptr ? 0 : *flops;
}

MemoryTraffic all_operands(const OpView& op) {
  MemoryTraffic traffic;
  const auto& inputs = op.op().inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    // An operand at two positions (x * x) is read once; only the 8 positions before are searched.
    const std::size_t first = i > 8 ? i - 8 : 0;
    const auto begin = inputs.begin() + static_cast<std::ptrdiff_t>(first);
    const auto here = inputs.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(begin, here, inputs[i]) == here) traffic.read = add_bytes(traffic.read, op.input_bytes(i));
  }
  for (std::size_t i = 0; i < op.op().outputs.size(); ++i)
    traffic.written = add_bytes(traffic.written, op.output_bytes(i));
  return traffic;
}

MemoryTraffic no_traffic(const OpView&) { return {}; }

MemoryTraffic filled(const OpView& op) { return {0, op.output_bytes(0)}; }

MemoryTraffic gathered(const OpView& op) {
  const Bytes rows = op.output_bytes(0);
  return {add_bytes(rows, op.input_bytes(1)), rows};
}

MemoryTraffic stated_traffic(const OpView& op) {
  const auto bytes = [&](const char* attribute) { return std::clamp<Bytes>(op.whole(attribute, 0), 0, total_limit); };
  return {bytes("bytes_read"), bytes("bytes_written")};
}

MemoryTraffic sliced(const OpView& op) {
  Bytes bytes = 0;
  for (std::size_t i = 0; i < op.op().outputs.size(); ++i) bytes = add_bytes(bytes, op.output_bytes(i));
  return {bytes, bytes};
}

namespace {
// The update reads gradient, parameter and states, and writes parameter and states; all have the gradient's size.
MemoryTraffic update(const OpView& op, int states) {
  const Bytes gradient = op.input_bytes(1);
  MemoryTraffic traffic{add_bytes(gradient, op.input_bytes(2)), 0};
  for (int i = 0; i <= states; ++i) {
    traffic.read = add_bytes(traffic.read, gradient);
    traffic.written = add_bytes(traffic.written, gradient);
  }
  return traffic;
}
}  // namespace

MemoryTraffic update_stateless(const OpView& op) { return update(op, 0); }
MemoryTraffic update_one_state(const OpView& op) { return update(op, 1); }
MemoryTraffic update_two_states(const OpView& op) { return update(op, 2); }

}  // namespace emplace
