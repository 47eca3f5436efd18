// place, simulate, bound and inspect for serving problems (src/serving): clusters and layouts in place of problems and
// placements.
#pragma once

#include <optional>
#include <string>

#include "emplace/base/config.hpp"
#include "emplace/base/error.hpp"

namespace emplace::app {

struct ServingPlace {
  std::string method, file, start, output;
  ConfigTable options;
  std::uint64_t seed = 0;
  std::optional<std::uint64_t> evaluations;
  std::optional<double> seconds;
  bool json = false;
};
ExitCode place_on_cluster(const ServingPlace& arguments);
ExitCode simulate_layout(const std::string& file, const std::string& layout, bool json);
ExitCode bound_throughput(const std::string& file, double seconds, bool json);
void inspect_cluster(const std::string& file, bool json);

// InputError: the option is for problems with ops, and `file` is a cluster. An empty or null `option` is none.
void refuse_for_cluster(const std::string& file, const char* option);

}  // namespace emplace::app
