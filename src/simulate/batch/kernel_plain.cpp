// The batch kernel compiled for one instruction set: the portable one. The flags are in cmake/folders.cmake.
#include "simulate/batch/kernel.hpp"

namespace emplace::simulate::batch {

void run_plain(const View& view) { run(view); }

}  // namespace emplace::simulate::batch
