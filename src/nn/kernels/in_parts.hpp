// Work on rows or columns, divided among the threads in use.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace emplace::nn {

// Costs are in multiply-adds of a product. Smaller parts than this are not given to another thread, which takes some
// microseconds.
inline constexpr std::size_t least_part = 400'000;
// The cost of reading an element of a matrix, applying a simple function and writing it.
inline constexpr std::size_t element_cost = 16;

using Part = void (*)(void* work, std::size_t begin, std::size_t count);
void in_parts(std::size_t count, std::size_t cost, std::size_t grain, Part part, void* work);

// Calls work(begin, n) for ranges that cover 0 ... count - 1 exactly once, in parallel if there are threads and enough
// work. `cost` is that of one element. Ranges begin at multiples of `grain`. Inside work() everything is serial. If a
// call throws, all other calls end before the exception is passed on.
template <class Work>
void in_parts(std::size_t count, std::size_t cost, std::size_t grain, Work&& work) {
  using Bare = std::remove_reference_t<Work>;
  in_parts(
      count, cost, grain, [](void* of, std::size_t begin, std::size_t n) { (*static_cast<Bare*>(of))(begin, n); },
      const_cast<void*>(static_cast<const void*>(std::addressof(work))));
}

}  // namespace emplace::nn
