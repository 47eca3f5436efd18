// Memory that is allocated piece by piece and released all at once. The memory that the largest step needed is kept.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace emplace::nn {

class Arena {
 public:
  struct Mark {
    std::size_t block = 0, used = 0;
  };

  // Not initialised; `alignment` is a power of two of at most 64.
  void* bytes(std::size_t count, std::size_t alignment);
  [[nodiscard]] Mark mark() const;
  // Releases everything allocated since the mark.
  void release(const Mark& mark);
  // Releases everything; several blocks are replaced by one of their total size.
  void clear();
  [[nodiscard]] std::size_t used() const;

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  struct Block {
    std::unique_ptr<std::byte, Free> memory;
    std::size_t size = 0, used = 0;
  };
  static Block allocate(std::size_t size);

  std::vector<Block> blocks_;
  std::size_t current_ = 0;
};

}  // namespace emplace::nn
