// Field numbers: function.proto and op_def.proto of TensorFlow.
#include "formats/tensorflow/function.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::formats {

namespace {

// An argument or result of a signature.
std::string read_argument(ProtoCursor& in, bool& is_list) {
  using enum ProtoKind;
  static constexpr ProtoField fields[] = {{1, "name", text}, {5, "number_attr", text}, {6, "type_list_attr", text}};
  std::string name;
  while (const std::uint32_t field = in.next(fields)) {
    std::string value = in.name();
    if (field == 1) name = std::move(value);
    is_list = is_list || (field != 1 && !value.empty());
  }
  return name;
}

void read_signature(ProtoCursor& in, TfFunction& function) {
  using enum ProtoKind;
  static constexpr ProtoField fields[] = {{1, "name", text}, {2, "input_arg", message}, {3, "output_arg", message}};
  while (const std::uint32_t field = in.next(fields)) {
    if (field == 1)
      function.name = in.name();
    else
      in.message(
          [&] { (field == 2 ? function.inputs : function.outputs).push_back(read_argument(in, function.has_lists)); });
  }
}

std::pair<std::string, std::string> read_entry(ProtoCursor& in) {
  using enum ProtoKind;
  static constexpr ProtoField fields[] = {{1, "key", text}, {2, "value", text}};
  std::pair<std::string, std::string> entry;
  while (const std::uint32_t field = in.next(fields)) (field == 1 ? entry.first : entry.second) = in.name();
  return entry;
}

TfFunction read_function(ProtoCursor& in, MemoryBudget& memory) {
  using enum ProtoKind;
  static constexpr ProtoField fields[] = {
      {1, "signature", message}, {3, "node_def", message}, {4, "ret", message}, {6, "control_ret", message}};
  TfFunction function;
  while (const std::uint32_t field = in.next(fields))
    in.message([&] {
      if (field == 1) read_signature(in, function);
      if (field == 3) {
        function.nodes.push_back(read_node_def(in));
        memory.use(memory_of(function.nodes.back()));
      }
      if (field == 4) function.results.push_back(read_entry(in));
      if (field == 6) function.waits.push_back(read_entry(in).second);
      memory.use(256);
    });
  return function;
}

// Ops with several named outputs, in their order. All others have one output or a list.
struct Outputs {
  std::string_view op;  // or the beginning of several ops' names, if it ends with *
  std::array<std::string_view, 7> names;
};
constexpr Outputs ops_with_outputs[] = {
    {"FusedBatchNormGrad*", {"x_backprop", "scale_backprop", "offset_backprop", "reserve_space_3", "reserve_space_4"}},
    {"FusedBatchNorm*", {"y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2", "reserve_space_3"}},
    {"TopK*", {"values", "indices"}},
    {"Switch", {"output_false", "output_true"}},
    {"RefSwitch", {"output_false", "output_true"}},
    {"Merge", {"output", "value_index"}},
    {"RefMerge", {"output", "value_index"}},
    {"Unique*", {"y", "idx", "count"}},
    {"ListDiff", {"out", "idx"}},
    {"SoftmaxCrossEntropyWithLogits", {"loss", "backprop"}},
    {"SparseSoftmaxCrossEntropyWithLogits", {"loss", "backprop"}},
    {"BroadcastGradientArgs", {"r0", "r1"}},
    {"TensorListPopBack", {"output_handle", "tensor"}},
    {"TensorArrayV3", {"handle", "flow"}},
    {"TensorArrayGradV3", {"grad_handle", "flow_out"}},
    {"StatelessRandomGetKeyCounter*", {"key", "counter", "alg"}},
    {"NonMaxSuppressionV4", {"selected_indices", "valid_outputs"}},
    {"NonMaxSuppressionV5", {"selected_indices", "selected_scores", "valid_outputs"}},
    {"CombinedNonMaxSuppression", {"nmsed_boxes", "nmsed_scores", "nmsed_classes", "valid_detections"}},
    {"MaxPoolWithArgmax", {"output", "argmax"}},
    {"LSTMBlockCell", {"i", "cs", "f", "o", "ci", "co", "h"}},
    {"BlockLSTM*", {"i", "cs", "f", "o", "ci", "co", "h"}},
    {"GRUBlockCell", {"r", "u", "c", "h"}},
    {"CudnnRNN*", {"output", "output_h", "output_c", "reserve_space", "host_reserved"}},
    {"Svd", {"s", "u", "v"}},
    {"Qr", {"q", "r"}},
    {"SelfAdjointEigV2", {"e", "v"}},
    {"LogMatrixDeterminant", {"sign", "log_abs_determinant"}},
    {"SampleDistortedBoundingBox*", {"begin", "size", "bboxes"}},
};

bool matches(std::string_view pattern, std::string_view op) {
  return pattern.ends_with('*') ? op.starts_with(pattern.substr(0, pattern.size() - 1)) : op == pattern;
}

}  // namespace

void TfLibrary::read(ProtoCursor& in) {
  using enum ProtoKind;
  static constexpr ProtoField fields[] = {{1, "function", message}};
  while (in.next(fields) != 0)
    in.message([&] {
      TfFunction function = read_function(in, memory_);
      if (function.name.empty()) throw InputError(file_, "a function of its library has no name");
      const std::string name = function.name;
      if (!functions_.emplace(name, std::move(function)).second)
        throw InputError(file_, "its library has two functions {}", quote(name));
    });
}

const TfFunction* TfLibrary::find(std::string_view name) const {
  const auto found = functions_.find(std::string(name));
  return found == functions_.end() ? nullptr : &found->second;
}

std::size_t memory_of(const TfNode& node) {
  std::size_t bytes = sizeof(TfNode) + node.name.size() + node.op.size() + node.device.size();
  for (const std::string& input : node.inputs) bytes += sizeof(std::string) + input.size();
  for (const auto& [name, value] : node.attributes) {
    bytes += sizeof(name) + sizeof(value) + name.size() + value.text.size() + 8 * value.wholes.size();
    for (const std::string& text : value.texts) bytes += sizeof(text) + text.size();
    for (const Shape& shape : value.shapes) bytes += sizeof(shape) + 8 * shape.dims.size();
  }
  return bytes;
}

std::optional<std::int64_t> output_place(std::string_view op, std::string_view output, std::int64_t position) {
  for (const Outputs& row : ops_with_outputs) {
    if (!matches(row.op, op)) continue;
    const auto found = std::ranges::find(row.names, output);
    if (found == row.names.end() || output.empty()) return std::nullopt;
    return found - row.names.begin() + (position < 1 << 20 ? position : 1 << 20);
  }
  return position;
}

}  // namespace emplace::formats
