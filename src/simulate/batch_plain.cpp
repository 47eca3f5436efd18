// The batch kernel compiled for one instruction set: the portable one. The flags are in CMakeLists.txt.
#include "batch_kernel.hpp"

namespace emplace::batch {

void run_plain(const View& view) { run(view); }

}  // namespace emplace::batch
