// The entries of the TensorFlow readers; listed in builtin.cpp.
#pragma once

#include "emplace/formats/reader.hpp"

namespace emplace::formats {

ReaderEntry graphdef_reader();
ReaderEntry saved_model_reader();
ReaderEntry cost_graph_reader();
ReaderEntry tfjs_reader();

}  // namespace emplace::formats
