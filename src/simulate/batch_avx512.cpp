// The batch kernel compiled for one instruction set: AVX-512 (F, BW, DQ, VL). The flags are in CMakeLists.txt.
#include "batch_kernel.hpp"

namespace emplace::batch {

void run_avx512(const View& view) { run(view); }

}  // namespace emplace::batch
