// The ONNX reader's entry; listed in builtin.cpp.
#pragma once

#include "emplace/formats/reader.hpp"

namespace emplace::formats {

ReaderEntry onnx_reader();

}  // namespace emplace::formats
