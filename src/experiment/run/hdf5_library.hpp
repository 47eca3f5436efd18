// The version of the HDF5 library that writes checkpoints.
#pragma once

#include "base/library.hpp"

namespace emplace::experiment {

Library hdf5_library();

}  // namespace emplace::experiment
