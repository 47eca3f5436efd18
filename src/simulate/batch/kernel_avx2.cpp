// The batch kernel compiled for one instruction set: AVX2. The flags are in cmake/folders.cmake.
#include "simulate/batch/kernel.hpp"

namespace emplace::simulate::batch {

void run_avx2(const View& view) { run(view); }

}  // namespace emplace::simulate::batch
