#include "base/temporary_folder.hpp"

#include <cstdlib>
#include <filesystem>

#include "emplace/base/error.hpp"

namespace emplace {

TemporaryFolder::TemporaryFolder(const std::string& prefix) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) {
    const char* const given = std::getenv("TMPDIR");
    throw EnvironmentError("{}, where temporary files are written, is no folder: choose another TMPDIR",
                           given ? given : "/tmp");
  }
  path_ = (parent / (prefix + "-XXXXXX")).string();
  if (::mkdtemp(path_.data()) == nullptr)
    throw EnvironmentError("{} cannot be written to: choose another TMPDIR", parent.string());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace emplace
