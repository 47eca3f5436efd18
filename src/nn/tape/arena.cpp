#include "nn/tape/arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

#include "emplace/base/error.hpp"

namespace emplace::nn {

namespace {

constexpr std::size_t block_alignment = 64;
constexpr std::size_t smallest_block = std::size_t{1} << 16;

// Gigabytes of small pages take most of a second to be freed, for which a stopped training would make its user wait.
void ask_for_huge_pages(std::byte* memory, std::size_t size) {
  constexpr std::size_t huge_page = std::size_t{1} << 21, least = 8 * huge_page;
  if (size < least) return;
  const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(memory) % huge_page) % huge_page;
  // Where the system has none, the memory stays as it is.
  static_cast<void>(::madvise(memory + before, (size - before) / huge_page * huge_page, MADV_HUGEPAGE));
}

}  // namespace

void Arena::Free::operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{block_alignment}); }

Arena::Block Arena::allocate(std::size_t size) {
  auto* const memory = static_cast<std::byte*>(::operator new (size, std::align_val_t{block_alignment}));
  ask_for_huge_pages(memory, size);
  return {std::unique_ptr<std::byte, Free>(memory), size, 0};
}

void* Arena::bytes(std::size_t count, std::size_t alignment) {
  EMPLACE_CHECK(alignment > 0 && alignment <= block_alignment && (alignment & (alignment - 1)) == 0);
  EMPLACE_CHECK(count <= PTRDIFF_MAX);
  for (; current_ < blocks_.size(); ++current_) {
    Block& block = blocks_[current_];
    const std::size_t begin = (block.used + alignment - 1) & ~(alignment - 1);
    if (begin <= block.size && count <= block.size - begin) {
      block.used = begin + count;
      return block.memory.get() + begin;
    }
  }
  // Doubles the memory, so that a growing step allocates from the system only a logarithmic number of times.
  std::size_t total = smallest_block;
  for (const Block& block : blocks_) total += block.size;
  blocks_.push_back(allocate(std::max(total, (count + block_alignment - 1) & ~(block_alignment - 1))));
  blocks_.back().used = count;
  return blocks_.back().memory.get();
}

Arena::Mark Arena::mark() const { return {current_, current_ < blocks_.size() ? blocks_[current_].used : 0}; }

void Arena::release(const Mark& mark) {
  for (std::size_t b = mark.block; b < blocks_.size(); ++b) blocks_[b].used = b == mark.block ? mark.used : 0;
  current_ = mark.block;
}

void Arena::clear() {
  if (blocks_.size() > 1) {
    std::size_t total = 0;
    for (const Block& block : blocks_) total += block.size;
    blocks_.clear();  // freed first, so that old and new blocks never exist at the same time
    blocks_.push_back(allocate(total));
  }
  release({});
}

std::size_t Arena::used() const {
  std::size_t used = 0;
  for (const Block& block : blocks_) used += block.used;
  return used;
}

}  // namespace emplace::nn
