// Lines for the eye, and names fit for a table's cell: headers of src/report itself.
#include "report/over_time.hpp"

#include <gtest/gtest.h>

#include "report/names.hpp"

namespace emplace::report::over_time_test {
namespace {

TEST(Bars, ShowZeroAsADotAndSmallValuesAsTheLowestBar) {
  EXPECT_EQ(bars({0, 0.001, 0.125, 0.126, 0.5, 0.99, 1, 1.5}), ".▁▁▂▄███");
}

TEST(OverTime, CutsOpsAndLevelsAtTheEdgesOfStretches) {
  // Of [0, 8) in four stretches of 2: op0 runs 1-4 on device 0, op1 7-8; op2 is on another device.
  const Placement placement{{0, 0, 1}, {}};
  const simulate::Timeline timeline{{1, 7, 0}, {4, 8, 8}, {}};
  EXPECT_EQ(busy_over_time(placement, timeline, DeviceId{0U}, 8, 4), (std::vector<double>{0.5, 1, 0, 0.5}));
  // 4 bytes 0-3, 1 byte 3-7, then none: the highest of each stretch over the peak.
  const simulate::DeviceMemory memory{{{0, 4}, {3, 1}, {7, 0}}, 4, 0};
  EXPECT_EQ(memory_over_time(memory, 8, 4), (std::vector<double>{1, 1, 0.25, 0.25}));
  EXPECT_EQ(memory_over_time({{{0, 0}}, 0, 0}, 8, 2), (std::vector<double>{0, 0}));
}

TEST(CellName, LeavesOutTheMiddleOfLongNamesAndNeverTearsACharacter) {
  EXPECT_EQ(cell_name("short"), "short");
  EXPECT_EQ(cell_name("abcdefghijklmnop", 10), "ab...lmnop");
  // Two bytes each: 16 bytes become at most 10.
  EXPECT_EQ(cell_name("ääääääää", 10), "ä...ää");
  EXPECT_EQ(cell_name("a\nb\x7f"), "a\\x0ab\\x7f");
}

TEST(Percent, NeverShowsSomethingAsNothing) {
  EXPECT_EQ(percent(0), "0.0 %");
  EXPECT_EQ(percent(0.0001), "<0.1 %");
  EXPECT_EQ(percent(0.5), "50.0 %");
}

}  // namespace
}  // namespace emplace::report::over_time_test
