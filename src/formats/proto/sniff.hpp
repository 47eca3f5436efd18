// Recognises TensorFlow's protobuf files by their first message, since they have no magic number.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "formats/proto/cursor.hpp"

namespace emplace::formats {

enum class TensorflowFile : std::uint8_t { none, graph, cost_graph };

// `head`: the first 4 KiB. A GraphDef's nodes have an op; a CostGraphDef's nodes have numbers in place of input names.
TensorflowFile sniff_proto(std::string_view head);

// Whether the file is in protobuf's text format. InputError if it is missing or empty.
bool is_text_proto(const std::string& path);

// Opens a file in either form: text starts with the name of a field, binary with a field's tag.
std::unique_ptr<ProtoCursor> open_proto(const std::string& path);

}  // namespace emplace::formats
