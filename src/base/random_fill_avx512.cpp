// fill_blocks (random_fill_lanes.hpp) compiled for one instruction set; the compiler flags are in cmake/folders.cmake.
#include "base/random_fill_lanes.hpp"

namespace emplace {

void fill_blocks_avx512(const std::uint32_t* key, const std::uint32_t* counter, std::uint16_t* out, std::size_t count) {
  fill_blocks(key, counter, out, count);
}

}  // namespace emplace
