#include <cstdlib>

namespace emplace::report::property_cases {
namespace {

// All properties of this program are tried with 200 cases, unless RC_PARAMS is set.
[[maybe_unused]] const int cases = setenv("RC_PARAMS", "max_success=200", 0);

}  // namespace
}  // namespace emplace::report::property_cases
