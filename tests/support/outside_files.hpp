// Files from outside the repository (models, workloads, profiles), which some tests read as further evidence.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace emplace::test {

// A path in ../shared, or in the folder that $EMPLACE_SHARED_FOLDER names: with a folder that does not exist, the tests
// run as in a clone of the repository alone.
inline std::string outside_file(const std::string& path) {
  const char* folder = std::getenv("EMPLACE_SHARED_FOLDER");
  return std::string(folder == nullptr ? "../shared" : folder) + "/" + path;
}

}  // namespace emplace::test

// Skips the test where this file or folder is absent. scripts/test counts skipped tests by the words of this message.
#define REQUIRE_OUTSIDE_FILE(path)                                                                     \
  do {                                                                                                 \
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "left out: needs the outside file " << (path); \
  } while (false)
