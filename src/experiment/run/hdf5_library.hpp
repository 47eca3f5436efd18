// Which HDF5 writes checkpoints.
#pragma once

#include "base/library.hpp"

namespace emplace::experiment {

Library hdf5_library();

}  // namespace emplace::experiment
