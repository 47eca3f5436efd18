#include "experiment/run/hdf5_library.hpp"

#include <fmt/core.h>

#include "experiment/run/checkpoint_hdf5.hpp"

namespace emplace::experiment {

Library hdf5_library() {
  unsigned major = 0, minor = 0, release = 0;
  if (H5get_libversion(&major, &minor, &release) < 0) throw EnvironmentError("HDF5 cannot return its version");
  return {"HDF5", fmt::format("{}.{}.{}", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE),
          fmt::format("{}.{}.{}", major, minor, release)};
}

}  // namespace emplace::experiment
