// Placements side by side.
#include "report/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "emplace/base/error.hpp"
#include "tests/report/ops.hpp"

namespace emplace::report::comparison_test {
namespace {

using nlohmann::json;
using test::op;
using ::testing::HasSubstr;

// a (10 ms on cpu:0, 1 ms on gpu:0) sends 4096 bytes to b (10 ms, cpu:0 only): 10 us + 4096 / 12 GB/s = 10.341333 us.
Problem chain() {
  ProblemBuilder builder("chain");
  builder.add_device({"cpu:0", "cpu", 4096});
  builder.add_device({"gpu:0", "gpu", no_memory_limit});
  builder.add_route(DeviceId{0U}, DeviceId{1U}, {builder.add_channel({"h2d", 1e-5, 1.2e10})});
  builder.add_route(DeviceId{1U}, DeviceId{0U}, {builder.add_channel({"d2h", 1e-5, 1.2e10})});
  const OpId a = builder.add_op(op("a", {0.010, 0.001}));
  OpSpec last = op("b", {0.010, std::nan("")});
  last.scratch = 1;
  const OpId b = builder.add_op(last);
  builder.add_tensor(a, 4096, {b});
  return builder.build();
}

const std::vector<NamedPlacement> three = {{"runs/one/best.json", {{0, 0}, {}}, Schedule::fifo},
                                           {"runs/two/best.json", {{1, 0}, {0, 1}}, Schedule::in_order},
                                           {"bad.json", {{1, 1}, {}}, Schedule::fifo}};

TEST(Comparison, ReadsWell) {
  // Times 20 ms and 11.01 ms; b's scratch byte overflows cpu:0 both times, so the first is not feasible either. Of two
  // infeasible ones with equal overflow the faster is the best.
  const Problem problem = chain();
  EXPECT_EQ(comparison_text(problem, compare(problem, three)),
            R"text(chain: 3 placements; differences count from the first

                        one/best.json  two/best.json  bad.json
step time                       20 ms       11.01 ms         -
over the best                 1.816 x           best         -
feasible                           NO             NO        NO
schedule                         fifo       in-order      fifo
moved between devices             0 B       4.00 KiB         -
transfers                           0              1         -
ops placed differently              -              1         2
cpu:0: ops                          2              1         0
cpu:0: busy                   100.0 %         90.8 %         -
cpu:0: peak memory           4.00 KiB       4.00 KiB         -
gpu:0: ops                          0              1         2
gpu:0: busy                     0.0 %          9.1 %         -
gpu:0: peak memory                0 B       4.00 KiB         -

one/best.json is not feasible: device 'cpu:0' needs 4.00 KiB, 1 B more than it has
two/best.json is not feasible: device 'cpu:0' needs 4.00 KiB, 1 B more than it has
bad.json is not feasible: op 'b' cannot run on device 'gpu:0'
)text");
}

TEST(Comparison, OfLoadsReadsWell) {
  // cpu:0 is the host and pays nothing: 10 + 10 ms, or b's 10 ms. gpu:0 runs a in 1 ms and sends its tensor
  // in 10.341333 us; memory is the sum of resident bytes, none here.
  const Problem problem = chain();
  EXPECT_EQ(comparison_text(problem, compare(problem, three, simulate::PipelineOptions{})),
            R"text(chain: 3 placements; differences count from the first

                        one/best.json  two/best.json  bad.json
load of the busiest             20 ms          10 ms         -
over the best                 2.000 x           best         -
feasible                          yes            yes        NO
ops placed differently              -              1         2
cpu:0: ops                          2              1         0
cpu:0: load                     20 ms          10 ms         -
cpu:0: peak memory                0 B            0 B         -
gpu:0: ops                          0              1         2
gpu:0: load                       0 s        1.01 ms         -
gpu:0: peak memory                0 B            0 B         -

bad.json is not feasible: op 'b' cannot run on device 'gpu:0'
)text");
  const json parsed = json::parse(comparison_json(problem, compare(problem, three, simulate::PipelineOptions{})));
  EXPECT_EQ(parsed["placements"][1]["load_s"], 0.01);
  EXPECT_EQ(parsed["placements"][1]["devices"][1]["load_s"], 0.001010341333);
  EXPECT_FALSE(parsed["placements"][1].contains("makespan_ps"));
  EXPECT_TRUE(parsed["placements"][2]["load_s"].is_null());
}

TEST(Comparison, KeysForProgramsHoldTheSameFigures) {
  const Problem problem = chain();
  const json parsed = json::parse(comparison_json(problem, compare(problem, three)));
  EXPECT_EQ(parsed["best"], "runs/two/best.json");
  EXPECT_EQ(parsed["placements"].size(), 3U);
  const json& second = parsed["placements"][1];
  EXPECT_EQ(second["makespan_ps"], 11010341333);
  EXPECT_EQ(second["ratio_to_best"], 1.0);
  EXPECT_EQ(second["feasible"], false);
  EXPECT_EQ(second["schedule"], "in-order");
  EXPECT_EQ(second["moved_bytes"], 4096);
  EXPECT_EQ(second["transfers"], 1);
  EXPECT_EQ(second["ops_placed_differently"], 1);
  EXPECT_EQ(second["devices"][0]["overflow_bytes"], 1);
  EXPECT_EQ(second["devices"][1]["busy_s"], 0.001);
  const json& third = parsed["placements"][2];
  EXPECT_TRUE(third["makespan_ps"].is_null());
  EXPECT_TRUE(third["ratio_to_best"].is_null());
  EXPECT_TRUE(third["devices"][0]["busy_s"].is_null());
  EXPECT_EQ(third["ops_placed_differently"], 2);
  EXPECT_THAT(third["reason"].get<std::string>(), HasSubstr("'b'"));
}

TEST(Comparison, NumbersAFileThatIsGivenTwiceAndBreaksWideTables) {
  const Problem problem = chain();
  const std::vector<NamedPlacement> many(8, {"a.json", {{0, 0}, {}}, Schedule::fifo});
  const std::string text = comparison_text(problem, compare(problem, many));
  EXPECT_THAT(text, HasSubstr("a.json (2)"));
  EXPECT_THAT(text, HasSubstr("a.json (7)  a.json (8)\n"));
}

TEST(Comparison, RefusesAScheduleThatNeedsAnOrderWithoutOne) {
  const Problem problem = chain();
  const std::vector<NamedPlacement> unordered(1, {"a.json", {{0, 0}, {}}, Schedule::priority});
  EXPECT_THROW(compare(problem, unordered), InputError);
}

}  // namespace
}  // namespace emplace::report::comparison_test
