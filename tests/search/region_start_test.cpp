// The policy that learns where ruined regions begin.
#include "search/local/region_start.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace emplace::search::region_start_test {
namespace {

// Ops of which every `every`-th waited for a transfer.
std::vector<CriticalOp> path_with_transfers(std::size_t count = 40, std::size_t every = 4, Ticks unit = 50) {
  std::vector<CriticalOp> path;
  for (std::size_t i = 0; i < count; ++i)
    path.push_back({.duration = 2 * unit, .queued = 0, .sent = i % every == every - 1 ? unit : 0});
  return path;
}

// How many of so many regions begin at an op that waited for a transfer. Only such ones help, and of these every tenth.
int learn(RegionStart& start, const std::vector<CriticalOp>& path, int regions, Stream& random) {
  start.set_path(path);
  int found = 0;
  for (int draw = 0; draw < regions; ++draw) {
    const bool is_sent = path[start.draw(random)].sent > 0;
    start.report(is_sent && random.below(10) == 0);
    found += is_sent ? 1 : 0;
  }
  return found;
}

// The same without learning.
int begin_behind_transfers(RegionStart& start, const std::vector<CriticalOp>& path, int regions, Stream& random) {
  start.set_path(path);
  int found = 0;
  for (int draw = 0; draw < regions; ++draw) found += path[start.draw(random)].sent > 0 ? 1 : 0;
  return found;
}

TEST(RegionStart, LearnsWhichOpsOfThePathHelp) {
  RegionStart start(0.02);
  Stream random({.seed = 1});
  learn(start, path_with_transfers(), 5000, random);
  EXPECT_GT(learn(start, path_with_transfers(), 1000, random), 700);
}

TEST(RegionStart, DrawsAllOpsOfThePathEquallyOftenWithoutARate) {
  RegionStart start(0);
  Stream random({.seed = 1});
  learn(start, path_with_transfers(), 5000, random);
  EXPECT_NEAR(learn(start, path_with_transfers(), 1000, random), 250, 50);
}

TEST(RegionStart, KeepsWhatItLearnedOnAnotherPath) {
  // 10 of 100 ops, whose times are a thousand times those of the path on which it learned.
  const std::vector<CriticalOp> other = path_with_transfers(100, 10, 50'000);
  RegionStart start(0.02);
  Stream random({.seed = 1});
  EXPECT_NEAR(begin_behind_transfers(start, other, 1000, random), 100, 40) << "before it learned";
  learn(start, path_with_transfers(), 5000, random);
  EXPECT_GT(begin_behind_transfers(start, other, 1000, random), 700);
}

TEST(RegionStart, DrawsOpsOfPathsOfAnyTimes) {
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
