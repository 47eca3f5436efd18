#include "base/version.hpp"

namespace emplace {

std::string version() { return EMPLACE_VERSION; }
std::string instruction_set() { return EMPLACE_INSTRUCTION_SET; }

}  // namespace emplace
