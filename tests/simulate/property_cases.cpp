#include <cstdlib>

namespace emplace::simulate::property_cases {
namespace {

// All properties of this program are tried with 500 cases, unless RC_PARAMS is set (RC_PARAMS="max_success=30000
// max_size=150" takes half a minute for each property of equal_engines_test.cpp).
[[maybe_unused]] const int cases = setenv("RC_PARAMS", "max_success=500", 0);

}  // namespace
}  // namespace emplace::simulate::property_cases
