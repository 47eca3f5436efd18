// The batch kernel compiled for one instruction set: AVX-512 (F, BW, DQ, VL). The flags are in cmake/folders.cmake.
#include "simulate/batch/kernel.hpp"

namespace emplace::simulate::batch {

void run_avx512(const View& view) { run(view); }

}  // namespace emplace::simulate::batch
