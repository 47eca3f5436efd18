#include <fmt/core.h>

#include "checkpoint_hdf5.hpp"
#include "emplace/run/version.hpp"

namespace emplace {

Library hdf5_library() {
  unsigned major = 0, minor = 0, release = 0;
  if (H5get_libversion(&major, &minor, &release) < 0) throw EnvironmentError("HDF5 does not say its version");
  return {"HDF5", fmt::format("{}.{}.{}", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE),
          fmt::format("{}.{}.{}", major, minor, release)};
}

}  // namespace emplace
