#include "emplace/base/error.hpp"

namespace emplace {

void fail_check(const char* condition, const char* file, int line, const std::string& detail) {
  throw BugError(
      fmt::format("internal check failed: {} ({}:{}){}{}", condition, file, line, detail.empty() ? "" : ": ", detail));
}

}  // namespace emplace
