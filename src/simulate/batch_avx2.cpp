// The batch kernel compiled for one instruction set: AVX2. The flags are in CMakeLists.txt.
#include "batch_kernel.hpp"

namespace emplace::batch {

void run_avx2(const View& view) { run(view); }

}  // namespace emplace::batch
