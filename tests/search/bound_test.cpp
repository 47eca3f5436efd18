#include "emplace/search/bound.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "emplace/base/random.hpp"
#include "emplace/simulate/engine.hpp"
#include "problem/tiny.hpp"

namespace emplace {
namespace {

using namespace testing;

TEST(LowerBound, IsTheFastestPathOrTheFastestLoad) {
  // chain-5: fastest times 4 3 2 3 4 in a row.
  EXPECT_EQ(lower_bound(chain_5(2)).ticks, 16 * ms);
  // Two chains on two devices: path 40, load 80 / 2.
  EXPECT_EQ(lower_bound(two_chains(1)).ticks, 40 * ms);
  // Three independent ops of 5 on two devices: path 5, load 15 / 2 rounded up.
  const Problem p = tiny(plain_devices(2), {{"a", {5, 5}}, {"b", {5, 5}}, {"c", {5, 5}}}, {});
  EXPECT_EQ(lower_bound(p).ticks, 7'500'000'000);
}

TEST(LowerBound, IsNeverAboveASimulatedStep) {
  EXPECT_TRUE(rc::check("bound <= makespan", [] {
    Stream random{{.seed = *rc::gen::arbitrary<std::uint64_t>()}};
    const std::size_t devices = 1 + random.below(3);
    const std::size_t count = 1 + random.below(12);
    std::vector<TinyOp> ops;
    std::vector<TinyEdge> edges;
    Placement placement;
    for (std::size_t op = 0; op < count; ++op) {
      TinyOp next{"op" + std::to_string(op), {}};
      for (std::size_t d = 0; d < devices; ++d) next.milliseconds.push_back(random.below(6));
      ops.push_back(next);
      if (op > 0 && random.below(3) > 0) edges.push_back({random.below(static_cast<std::uint32_t>(op)), op});
      placement.device.push_back(static_cast<std::uint8_t>(random.below(static_cast<std::uint32_t>(devices))));
    }
    const Problem p = tiny(plain_devices(devices), ops, edges, random.below(3));
    RC_ASSERT(lower_bound(p).ticks <= make_reference_engine(p, Schedule::fifo)->evaluate(placement).makespan);
  }));
}

}  // namespace
}  // namespace emplace
