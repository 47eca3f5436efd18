// Applies the sizes of graph inputs that the user gives with --shape and --batch.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "emplace/formats/reader.hpp"
#include "formats/onnx/reshape_targets.hpp"

namespace emplace::formats {

// Writes the sizes into the graph's inputs. Dimensions that share a symbol ("N") get the same size everywhere. If a
// fixed size is replaced by another, the shapes stored inside the graph are dropped, since they belong to the old size.
// InputError for an unknown input, a wrong rank, sizes below 1, two sizes for one symbol, and for stored shapes with
// negative sizes. Returns the fixed sizes that were replaced, each pair once.
std::vector<ReplacedSize> fix_input_shapes(onnx::GraphProto& graph, const ReadOptions& options,
                                           const std::string& file);

}  // namespace emplace::formats
