// What this program is, for checkpoints and `emplace --version`.
#pragma once

#include <string>

#include "emplace/base/library.hpp"

namespace emplace {

std::string version();          // "0.1.0"
std::string instruction_set();  // value of -march that it was built for; results may differ in bits between them
Library hdf5_library();         // of checkpoints

}  // namespace emplace
