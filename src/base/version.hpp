// The version of this program, which checkpoints and `emplace --version` show.
#pragma once

#include <string>

namespace emplace {

std::string version();          // "0.1.0"
std::string instruction_set();  // value of -march it was built for; the bits of results may depend on it

}  // namespace emplace
