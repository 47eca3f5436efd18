// A folder in TMPDIR that the destructor removes, with all its files.
#pragma once

#include <string>

namespace emplace {

class TemporaryFolder {
 public:
  // EnvironmentError if TMPDIR cannot be written to.
  explicit TemporaryFolder(const std::string& prefix = "emplace");
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace emplace
