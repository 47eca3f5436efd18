// The verdict at the head of what a page says of a placement.
#include "report/page_head.hpp"

#include <gmock/gmock.h>

#include "emplace/search/bound.hpp"
#include "tests/report/found_placements.hpp"

namespace emplace::report::page_head_test {
namespace {

using nlohmann::json;
using test::found;
using test::page_of;
using test::three_ops;
using test::tiny;

verdict::Subject of_run() {
  return {.method = "post",
          .outcome = {},
          .commands = {.search = "emplace place best three.json",
                       .start = "--start best.json",
                       .output = "-o better.json",
                       .resume = "emplace train --resume runs/three"}};
}

TEST(PageHead, BeginsWithTheVerdictOnThePlacement) {
  FoundPlacement placement = three_ops();
  placement.subject = of_run();
  const json head = page_of(placement)["head"];
  EXPECT_EQ(head["rows"][0], (json{"step time", 50 * test::ms}));
  EXPECT_EQ(head["rows"][1], (json{"one device (gpu:0)", 40 * test::ms}));
  EXPECT_EQ(head["rows"][2][1], 30 * test::ms) << "what the page's own placers found";
  EXPECT_EQ(head["rows"].back()[1], 30 * test::ms);
  EXPECT_EQ(head["sentences"][0], "worse than one device: everything on 'gpu:0' takes 40 ms");
  EXPECT_THAT(head["sentences"][1].get<std::string>(), ::testing::StartsWith("worse than the placement of "));
  EXPECT_EQ(head["next"], "emplace place best three.json --seconds 60 -o better.json")
      << "a better one is known: no --start";
}

TEST(PageHead, ProposesToGoOnWithATrainingThatWasStillFalling) {
  FoundPlacement placement = three_ops();
  placement.placement = {{0, 0, 0}, {}};
  placement.subject = of_run();
  placement.recipe.options.compare = {};
  PlacementLimits limits;
  limits.placed = 0;  // no placer that finds a better one
  const LearnedCurve curve{.evaluations = 100, .facts = verdict::CurveFacts{.still_falling = true}, .seconds = 5};
  const json head = page_of(placement, limits, curve)["head"];
  EXPECT_EQ(head["next"], "emplace train --resume runs/three seconds=10");
}

TEST(PageHead, UsesTheBoundThatAllMethodsProve) {
  // Three ops of 10 ms on two devices: the load proves 15 ms, but one device has to run two of them.
  const FoundPlacement placement =
      found(tiny(test::plain_devices(2), {{"a", {10, 10}}, {"b", {10, 10}}, {"c", {10, 10}}}, {}), {{0, 0, 1}, {}});
  PlacementLimits limits;
  limits.placed = 0;
  const json page = page_of(placement, limits);
  EXPECT_LT(search::lower_bound(placement.problem()).ticks, 20 * test::ms);
  EXPECT_EQ(page["bound"], 20 * test::ms);
  EXPECT_EQ(page["time"], 20 * test::ms);
  EXPECT_EQ(page["head"]["sentences"],
            (json{"1.50 times as fast as one device ('gpu:0')", "no placement is faster: this one is optimal"}));
}

}  // namespace
}  // namespace emplace::report::page_head_test
