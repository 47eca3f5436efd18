// What a page says of any placement: the same as `explain`, whatever is left out.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "report/explanation.hpp"
#include "tests/report/found_placements.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::report::placement_laws_test {
namespace {

using nlohmann::json;
using test::found;
using test::page_of;
using test::quick_limits;

// A timeline as a page's scripts read it: the start of each item of a lane, by its position.
std::vector<std::pair<std::size_t, Ticks>> starts_of(const json& lane, const json& lasts) {
  std::vector<std::pair<std::size_t, Ticks>> starts;
  Ticks last = 0;
  for (std::size_t i = 0; i < lane["items"].size(); ++i) {
    const std::size_t item = lane["items"][i];
    starts.emplace_back(item, last + lane["gaps"][i].get<Ticks>());
    last = starts.back().second + lasts[item].get<Ticks>();
  }
  return starts;
}

// Every op and transfer begins on the page when it does in the explanation, and the path is the same chain.
TEST(PlacementJson, EqualsTheExplanationOfAnyProblem) {
  EXPECT_TRUE(rc::check("explanation", [](const test::RandomProblem& random, const test::RandomPlacement& genes) {
    const Problem problem = test::problem_of(random);
    const FoundPlacement placement = found(problem, test::placement_of(problem, genes));
    const Explanation e = explain(problem, placement.placement, Schedule::fifo);
    PlacementLimits limits = quick_limits();
    limits.channels = 1000;
    const json page = page_of(placement, limits);
    RC_ASSERT(page["feasible"] == e.outcome.feasible());
    RC_ASSERT(page["timeline"].is_null() != e.outcome.timed());
    if (!e.outcome.timed()) return;
    const json& timeline = page["timeline"];
    std::size_t ops = 0, transfers = 0;
    for (const json& lane : timeline["lanes"]) {
      const bool device = lane["kind"] == "device";
      RC_ASSERT(lane["busy"] == (device ? e.usage.device_busy : e.usage.channel_busy)[lane["id"].get<std::size_t>()]);
      for (const auto& [item, start] : starts_of(lane, (device ? page["ops"] : timeline["transfers"])["lasts"]))
        RC_ASSERT(start == (device ? e.timeline.op_start[item] : e.timeline.transfers[item].start));
      (device ? ops : transfers) += lane["items"].size();
    }
    RC_ASSERT(ops == problem.op_count());
    RC_ASSERT(transfers >= e.timeline.transfers.size());
    RC_ASSERT(timeline["path"]["steps"].size() == e.path.size());
    for (std::size_t i = 0; i < e.path.size(); ++i)
      RC_ASSERT(timeline["path"]["steps"][i] == (e.path[i].is_op()
                                                     ? static_cast<std::int64_t>(e.path[i].op.value)
                                                     : -1 - static_cast<std::int64_t>(e.path[i].transfer)));
    for (std::size_t d = 0; d < problem.device_count(); ++d)
      RC_ASSERT(page["memory"][d]["peak"] == e.usage.device_peak[d]);
    std::size_t members = 0;
    for (const json& node : page["groups"]["nodes"]) members += node["ops"].get<std::size_t>();
    RC_ASSERT(members == problem.op_count());
  }));
}

// With next to nothing allowed the page keeps the critical path, the longest, and producers of the transfers it has.
TEST(PlacementJson, KeepsTheCriticalPathOfWhatIsTooLarge) {
  EXPECT_TRUE(rc::check("limits", [](const test::RandomProblem& random, const test::RandomPlacement& genes) {
    const Problem problem = test::problem_of(random);
    const FoundPlacement placement = found(problem, test::placement_of(problem, genes));
    const Explanation e = explain(problem, placement.placement, Schedule::fifo);
    if (!e.outcome.timed()) return;
    PlacementLimits limits = quick_limits();
    limits.ops = 2, limits.transfers = 1, limits.channels = 1, limits.groups = 3, limits.ops_of_group = 2;
    const json page = page_of(placement, limits);
    const json& names = page["ops"]["names"];
    RC_ASSERT(page["ops"]["total"] == problem.op_count());
    RC_ASSERT(names.size() <= 2 + 2 * e.path.size() + 1);
    for (std::size_t i = 0; i < e.path.size(); ++i) {
      const std::int64_t step = page["timeline"]["path"]["steps"][i];
      if (e.path[i].is_op())
        RC_ASSERT(names[static_cast<std::size_t>(step)] == problem.op_names[e.path[i].op.index()]);
      else
        RC_ASSERT(page["timeline"]["transfers"]["lasts"][static_cast<std::size_t>(-1 - step)] == e.path[i].duration());
    }
    for (const json& op : page["timeline"]["transfers"]["ops"]) RC_ASSERT(op.get<std::size_t>() < names.size());
    for (const json& lane : page["timeline"]["lanes"])
      if (lane["kind"] == "device")
        for (const auto& [item, start] : starts_of(lane, page["ops"]["lasts"])) {
          const auto op =
              std::ranges::find(problem.op_names, names[item].get<std::string>()) - problem.op_names.begin();
          RC_ASSERT(start == e.timeline.op_start[static_cast<std::size_t>(op)]);
        }
    for (const json& node : page["groups"]["nodes"]) RC_ASSERT(node["members"].size() <= 2U);
  }));
}

}  // namespace
}  // namespace emplace::report::placement_laws_test
