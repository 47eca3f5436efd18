// Many bits of a stream at once, for each instruction set that the program was built for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emplace {

// `count` halves of Philox's words, of the blocks from the counter on; key of 2 words, counter of 4.
using FillBlocks = void(const std::uint32_t* key, const std::uint32_t* counter, std::uint16_t* out, std::size_t count);
FillBlocks fill_blocks_plain, fill_blocks_avx2, fill_blocks_avx512;

}  // namespace emplace
