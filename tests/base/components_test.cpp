#include "base/components.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace emplace::components_test {
namespace {

TEST(StrongComponents, AreWhatReachesEachOtherBothWays) {
  EXPECT_TRUE(rc::check("same component = paths both ways", [] {
    const auto count = *rc::gen::inRange<std::size_t>(0, 9);
    std::vector<std::uint32_t> begin{0}, items;
    std::vector<std::vector<char>> reaches(count, std::vector<char>(count, 0));
    for (std::uint32_t v = 0; v < count; ++v) {
      reaches[v][v] = 1;
      for (std::uint32_t w = 0; w < count; ++w)
        if (*rc::gen::inRange(0, 5) == 0) {
          items.push_back(w);
          reaches[v][w] = 1;
        }
      begin.push_back(static_cast<std::uint32_t>(items.size()));
    }
    for (std::size_t by = 0; by < count; ++by)
      for (std::size_t v = 0; v < count; ++v)
        for (std::size_t w = 0; w < count; ++w) reaches[v][w] = reaches[v][w] || (reaches[v][by] && reaches[by][w]);
    const std::vector<std::uint32_t> component = strong_components(begin, items);
    RC_ASSERT(component.size() == count);
    for (std::size_t v = 0; v < count; ++v)
      for (std::size_t w = 0; w < count; ++w)
        RC_ASSERT((component[v] == component[w]) == (reaches[v][w] && reaches[w][v]));
  }));
}

}  // namespace
}  // namespace emplace::components_test
