// One node of a TensorFlow graph without its weights; the same for all file formats (GraphDef binary or text, tfjs).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emplace/graph/graph.hpp"
#include "formats/proto/cursor.hpp"

namespace emplace::formats {

// The fields of an AttrValue (attr_value.proto) that are kept. Element types are numbers of types.proto.
struct TfValue {
  enum class Kind : std::uint8_t {
    other,
    text,
    whole,
    real,
    boolean,
    type,
    shape,
    tensor,
    list,
    function
  } kind = Kind::other;
  std::string text;        // "" if it is long or not valid UTF-8; of a function its name
  std::int64_t whole = 0;  // boolean: 0 or 1
  double real = 0;
  std::int64_t type = 0;  // also of a tensor
  Shape shape;            // also of a tensor
  // A list of one of these kinds; of a tensor `wholes`, if shapes may follow from it (keep_small_wholes). only lists of
  // shapes are complete if they have more than 4096 elements.
  std::vector<std::string> texts;
  std::vector<std::int64_t> wholes, types;
  std::vector<Shape> shapes;
};

struct TfNode {
  std::string name, op, device;
  std::vector<std::string> inputs;  // "name", "name:k" (output k), "^name" (control)
  std::vector<std::pair<std::string, TfValue>> attributes;

  [[nodiscard]] const TfValue* find(std::string_view attribute) const;  // nullptr if absent
};

// Completes `wholes` of a small constant of whole numbers from its bytes, or from one number that stands for all;
// clears it for any other tensor.
void keep_small_wholes(TfValue& tensor, std::string_view content);

// Reads a NodeDef (node_def.proto) from the cursor, which must be at the start of that message.
TfNode read_node_def(ProtoCursor& in);
// Reads a TensorShapeProto (tensor_shape.proto).
Shape read_tensor_shape(ProtoCursor& in);

// The names of types.proto.
std::span<const ProtoEnumerator> tensorflow_types();
// The number of a type's name: "DT_FLOAT" is 1; -1 for an unknown name.
std::int64_t tensorflow_type_number(std::string_view name);
// Handles (DT_RESOURCE, DT_VARIANT) and types narrower than a byte give DType::unknown. InputError for a number that is
// not in types.proto; `place` names file and node.
DType dtype_of_tensorflow(std::int64_t type, const std::string& place);

}  // namespace emplace::formats
