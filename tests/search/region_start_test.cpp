// The policy that learns where ruined regions begin.
#include "search/local/region_start.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace emplace::search::region_start_test {
namespace {

// 40 ops, of which every fourth waited for a transfer.
std::vector<CriticalOp> path_with_transfers() {
  std::vector<CriticalOp> path;
  for (std::size_t i = 0; i < 40; ++i) path.push_back({.duration = 100, .queued = 0, .sent = i % 4 == 0 ? 50 : 0});
  return path;
}

// How many of 1000 regions begin at an op that waited for a transfer, after 5000 of which only such ones helped, and of
// these every tenth.
int begin_behind_transfers(double rate) {
  const std::vector<CriticalOp> path = path_with_transfers();
  RegionStart start(rate);
  start.set_path(path);
  Stream random({.seed = 1});
  int found = 0;
  for (int draw = 0; draw < 6000; ++draw) {
    const bool is_sent = path[start.draw(random)].sent > 0;
    start.report(is_sent && random.below(10) == 0);
    found += draw >= 5000 && is_sent ? 1 : 0;
  }
  return found;
}

TEST(RegionStart, LearnsWhichOpsOfThePathHelp) { EXPECT_GT(begin_behind_transfers(0.02), 700); }

TEST(RegionStart, DrawsAllOpsOfThePathEquallyOftenWithoutARate) { EXPECT_NEAR(begin_behind_transfers(0), 250, 50); }

TEST(RegionStart, KeepsWhatItLearnedOnAnotherPathOfAnyTimes) {
  RegionStart start(0.02);
  Stream random({.seed = 2});
  for (const auto& path : {path_with_transfers(),
                           {{.duration = 0, .queued = 0, .sent = 0}},
                           {{.duration = std::numeric_limits<Ticks>::max() / 4, .queued = 1, .sent = 0},
                            {.duration = 1, .queued = 0, .sent = std::numeric_limits<Ticks>::max() / 4}}}) {
    start.set_path(path);
    for (int draw = 0; draw < 3000; ++draw) {
      ASSERT_LT(start.draw(random), path.size());
      start.report(draw % 3 == 0);
    }
  }
}

}  // namespace
}  // namespace emplace::search::region_start_test
