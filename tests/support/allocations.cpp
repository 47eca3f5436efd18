#include "tests/support/allocations.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> count{0}, bytes{0}, peak{0};

void* counted(std::size_t size, std::size_t alignment = alignof(std::max_align_t)) noexcept {
  ++count;
  void* const memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  const std::size_t now = bytes += ::malloc_usable_size(memory);
  for (std::size_t most = peak; now > most && !peak.compare_exchange_weak(most, now);) {
  }
  return memory;
}
// Not inlined, because g++ 12 warns of a mismatch if it sees std::free in operator delete.
[[gnu::noinline]] void release(void* memory) noexcept {
  bytes -= ::malloc_usable_size(memory);
  std::free(memory);
}
void* must(void* memory) {
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

// All forms of new and delete are replaced, so that none frees memory of another implementation.
void* operator new(std::size_t size) { return must(counted(size)); }
void* operator new[](std::size_t size) { return must(counted(size)); }
void* operator new(std::size_t size, std::align_val_t a) { return must(counted(size, static_cast<std::size_t>(a))); }
void* operator new[](std::size_t size, std::align_val_t a) { return must(counted(size, static_cast<std::size_t>(a))); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { release(memory); }

namespace emplace::test {

std::size_t allocations() { return count; }
std::size_t allocated_bytes() { return bytes; }
std::size_t peak_bytes() { return peak; }
void reset_peak() { peak = bytes.load(); }

}  // namespace emplace::test
