// Files from outside the repository, which some tests read as further evidence: docs/outside-files.md.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace emplace::test {

// The default of docs/outside-files.md, beside the clone: tests run in its root.
inline constexpr const char* default_outside_folder = "../shared";

// The path of an outside file. If $EMPLACE_SHARED_FOLDER names a folder that does not exist, the tests run as in a
// clone of the repository alone (docs/outside-files.md).
inline std::string outside_file(const std::string& path) {
  const char* folder = std::getenv("EMPLACE_SHARED_FOLDER");
  return std::string(folder == nullptr ? default_outside_folder : folder) + "/" + path;
}

}  // namespace emplace::test

// Skips the test where this file or folder is absent. scripts/test counts skipped tests by the words of this message.
#define REQUIRE_OUTSIDE_FILE(path)                                                                     \
  do {                                                                                                 \
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "left out: needs the outside file " << (path); \
  } while (false)
