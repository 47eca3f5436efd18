// Limits the memory of a graph that is made from an untrusted file: a small file can describe a graph that would fill
// the memory.
#pragma once

#include <cstddef>
#include <string>

namespace emplace::formats {

class MemoryBudget {
 public:
  // `file` must outlive the budget.
  explicit MemoryBudget(const std::string& file) : file_(file) {}

  // Throws InputError if more than 4 GiB are used in all.
  void use(std::size_t bytes);

 private:
  const std::string& file_;
  std::size_t used_ = 0;
};

}  // namespace emplace::formats
