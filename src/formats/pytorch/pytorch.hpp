// The reader of programs of torch.export.
#pragma once

#include "emplace/formats/reader.hpp"

namespace emplace::formats {

ReaderEntry pytorch_reader();

}  // namespace emplace::formats
