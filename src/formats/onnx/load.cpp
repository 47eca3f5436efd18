// A first pass over protobuf's wire format copies the fields that are needed and skips the weights; libprotobuf then
// parses the copy. The wire format: https://protobuf.dev/programming-guides/encoding; field numbers: onnx.proto.
#include "formats/onnx/load.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <array>
#include <limits>
#include <span>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/input_file.hpp"
#include "formats/utf8.hpp"

namespace emplace::formats {

namespace {

using google::protobuf::io::CodedInputStream;

constexpr std::size_t largest_kept_tensor = std::size_t{16} << 10;
constexpr std::size_t largest_model_memory = std::size_t{1} << 30;
constexpr std::size_t largest_text = std::size_t{64} << 10;
constexpr int deepest_subgraph =
    60;  // a sub-graph takes three levels and its tensors two; protobuf itself stops at 100

// The kind of a field's content. `data` is a tensor's content. Messages are named after onnx.proto.
enum class Part : std::uint8_t {
  number,
  name,
  bytes,
  data,
  model,
  opset,
  function,
  graph,
  node,
  attribute,
  tensor,
  sparse_tensor,
  value_info,
  type,
  tensor_type,
  container_type,
  shape,
  dimension,
  string_entry,
};

struct Field {
  std::uint32_t number;
  Part part;
};

// The fields that are kept of a message; all others are dropped.
std::span<const Field> fields_of(Part message) {
  using enum Part;
  static constexpr Field model_fields[] = {{1, number}, {7, graph}, {8, opset}, {25, function}};
  static constexpr Field opset_fields[] = {{1, name}, {2, number}};
  static constexpr Field function_fields[] = {{1, name}, {4, name},  {5, name}, {6, name},
                                              {7, node}, {9, opset}, {10, name}};
  static constexpr Field graph_fields[] = {{1, node},        {2, name},        {5, tensor},        {11, value_info},
                                           {12, value_info}, {13, value_info}, {15, sparse_tensor}};
  static constexpr Field node_fields[] = {{1, name}, {2, name}, {3, name}, {4, name}, {5, attribute}, {7, name}};
  static constexpr Field attribute_fields[] = {
      {1, name},   {2, number},  {3, number}, {4, bytes},          {5, tensor},        {6, graph},
      {7, number}, {8, number},  {9, bytes},  {10, tensor},        {11, graph},        {14, type},
      {15, type},  {20, number}, {21, name},  {22, sparse_tensor}, {23, sparse_tensor}};
  static constexpr Field tensor_fields[] = {{1, number}, {2, number}, {4, data},          {5, data},
                                            {6, data},   {7, data},   {8, name},          {9, data},
                                            {10, data},  {11, data},  {13, string_entry}, {14, number}};
  static constexpr Field string_entry_fields[] = {{1, name}, {2, name}};
  static constexpr Field sparse_tensor_fields[] = {{1, tensor}, {2, tensor}, {3, number}};
  static constexpr Field value_info_fields[] = {{1, name}, {2, type}};
  static constexpr Field type_fields[] = {
      {1, tensor_type}, {4, container_type}, {5, container_type}, {8, tensor_type}, {9, container_type}};
  static constexpr Field tensor_type_fields[] = {{1, number}, {2, shape}};
  // Sequence and optional have elem_type = 1; a map has key_type = 1 and value_type = 2.
  static constexpr Field container_type_fields[] = {{1, type}, {2, type}};
  static constexpr Field shape_fields[] = {{1, dimension}};
  static constexpr Field dimension_fields[] = {{1, number}, {2, name}};
  switch (message) {
    case model: return model_fields;
    case opset: return opset_fields;
    case function: return function_fields;
    case graph: return graph_fields;
    case node: return node_fields;
    case attribute: return attribute_fields;
    case tensor: return tensor_fields;
    case sparse_tensor: return sparse_tensor_fields;
    case value_info: return value_info_fields;
    case type: return type_fields;
    case tensor_type: return tensor_type_fields;
    case container_type: return container_type_fields;
    case shape: return shape_fields;
    case dimension: return dimension_fields;
    case string_entry: return string_entry_fields;
    default: return {};
  }
}

// Roughly the bytes that libprotobuf will allocate for an empty message.
std::size_t memory_of(Part message) {
  switch (message) {
    case Part::graph: return sizeof(onnx::GraphProto);
    case Part::node: return sizeof(onnx::NodeProto);
    case Part::attribute: return sizeof(onnx::AttributeProto);
    case Part::tensor: return sizeof(onnx::TensorProto);
    default: return 80;
  }
}

class Stripper {
 public:
  Stripper(CodedInputStream& in, const std::string& file) : in_(in), file_(file) {}

  void copy_message(Part message, int depth, std::string& out) {
    if (depth > deepest_subgraph) fail("its sub-graphs are nested too deeply");
    use_memory(memory_of(message) + sizeof(void*));
    std::string data;
    bool data_dropped = false;
    while (in_.BytesUntilLimit() > 0) {
      const std::uint32_t tag = in_.ReadTag();
      const Field* field = nullptr;
      for (const Field& candidate : fields_of(message))
        if (candidate.number == tag >> 3) field = &candidate;
      if (field != nullptr && field->part == Part::data) {
        const std::size_t before = data.size();
        if (!copy_field(tag, field, depth, data, largest_kept_tensor)) data_dropped = true;
        use_memory(8 * (data.size() - before));
        if (data.size() > largest_kept_tensor) data_dropped = true;
        if (data_dropped) data.clear();
      } else {
        copy_field(tag, field, depth, out, largest_text);
      }
    }
    out += data;
    // data_location = EXTERNAL
    if (data_dropped) out += "\x70\x01";
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw InputError(file_, "is not an ONNX model, or is truncated or damaged: at byte {}: {}", in_.CurrentPosition(),
                     why);
  }

 private:
  // Copies one field. Skips it if `field` is nullptr (not needed) or if it is a text or data of more than `longest`
  // bytes; returns false then.
  bool copy_field(std::uint32_t tag, const Field* field, int depth, std::string& out, std::size_t longest) {
    std::uint64_t value = 0;
    bool read = false;
    switch (tag & 7) {
      case 0: read = in_.ReadVarint64(&value); break;
      case 1: read = in_.ReadLittleEndian64(&value); break;
      case 2: read = in_.ReadVarint64(&value); break;
      case 5: {
        std::uint32_t word = 0;
        read = in_.ReadLittleEndian32(&word);
        value = word;
        break;
      }
      default: break;
    }
    if (tag >> 3 == 0 || !read) fail("this is no field of a protobuf message");
    if ((tag & 7) == 2) return copy_delimited(tag, value, field, depth, out, longest);
    if (field == nullptr) return true;
    use_memory(8);
    put_varint(out, tag);
    if ((tag & 7) == 0)
      put_varint(out, value);
    else
      out.append(reinterpret_cast<const char*>(&value), (tag & 7) == 1 ? 8 : 4);  // x86 and ARM are little-endian
    return true;
  }

  bool copy_delimited(std::uint32_t tag, std::uint64_t length, const Field* field, int depth, std::string& out,
                      std::size_t longest) {
    const auto left = static_cast<std::uint64_t>(in_.BytesUntilLimit());
    if (length > left) fail(fmt::format("a field of {} bytes does not fit in the {} that are left", length, left));
    const int size = static_cast<int>(length);
    const bool is_message = field != nullptr && field->part >= Part::model;
    if (field == nullptr || (!is_message && field->part != Part::name && length > longest)) {
      if (!in_.Skip(size)) fail("the file ends here");
      return field == nullptr;
    }
    std::string content;
    if (is_message) {
      const CodedInputStream::Limit outer = in_.PushLimit(size);
      copy_message(field->part, depth + 1, content);
      in_.PopLimit(outer);
    } else {
      use_memory(sizeof(std::string) + sizeof(void*) + length * (field->part == Part::number ? 8 : 1));
      if (!in_.ReadString(&content, size)) fail("the file ends here");
      if (field->part == Part::name && !is_utf8(content)) fail("this name is not valid UTF-8");
    }
    put_varint(out, tag);
    put_varint(out, content.size());
    out += content;
    return true;
  }

  static void put_varint(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
  }

  void use_memory(std::size_t bytes) {
    memory_ += bytes;
    if (memory_ > largest_model_memory)
      throw InputError(file_, "is too large: without its weights the model still needs more than {}",
                       human_bytes(static_cast<Bytes>(largest_model_memory)));
  }

  CodedInputStream& in_;
  const std::string& file_;
  std::size_t memory_ = 0;
};

}  // namespace

onnx::ModelProto& load_onnx_without_weights(const std::string& path, google::protobuf::Arena& memory) {
  const InputFile file(path);
  if (file.size() == 0) throw InputError(path, "is empty");
  if (file.size() > std::numeric_limits<int>::max())
    throw InputError(path, "has {} bytes; an ONNX file has less than 2 GiB and keeps larger weights in files beside it",
                     file.size());

  google::protobuf::io::FileInputStream stream(file.descriptor(), 64 << 10);
  CodedInputStream in(&stream);
  in.PushLimit(static_cast<int>(file.size()));
  Stripper stripper(in, path);
  std::string stripped;
  stripper.copy_message(Part::model, 0, stripped);
  auto& model = *google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&memory);
  if (!model.ParseFromString(stripped)) stripper.fail("protobuf cannot parse it");
  if (!model.has_graph()) throw InputError(path, "is not an ONNX model: it holds no graph");
  return model;
}

}  // namespace emplace::formats
