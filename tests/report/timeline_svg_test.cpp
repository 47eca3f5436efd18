// The picture of a timeline: what is drawn where, however many ops there are and whatever they are called.
#include "report/timeline_svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulate/timeline/critical_path.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::report::timeline_svg_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;

std::string picture(const Problem& problem, const Placement& placement) {
  simulate::Timeline timeline;
  simulate::make_exact_engine(problem, Schedule::fifo)->evaluate(placement, {.timeline = &timeline});
  return timeline_svg(problem, placement, timeline,
                      simulate::critical_path(problem, placement, Schedule::fifo, timeline));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(TimelineSvg, HasALaneForEachDeviceAndChannelThatIsUsed) {
  // a on device 0 (10 ms), b on device 1 (20 ms) after a transfer of 10 ms: 40 ms, so 20 px a ms.
  std::vector<TinyOp> ops = {{"a", {10, 10, 10}}, {"b", {20, 20, 20}}};
  const Problem problem = tiny(plain_devices(3), ops, {{0, 1}}, 10);
  const std::string svg = picture(problem, {{0, 1}, {}});
  EXPECT_THAT(svg, HasSubstr(">" + problem.devices[0].name + "</text>"));
  EXPECT_THAT(svg, HasSubstr(">" + problem.devices[1].name + "</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">" + problem.devices[2].name + "</text>"))) << "nothing runs there";
  EXPECT_THAT(svg, HasSubstr("M150.00 17h200.00v14")) << "a: from 0, 10 ms of 40";
  EXPECT_THAT(svg, HasSubstr("M550.00 39h400.00v14")) << "b: from 20 ms, in the second lane";
  EXPECT_THAT(svg, HasSubstr("M350.00 61h200.00v14")) << "the transfer";
  EXPECT_EQ(count(svg, "fill=\"#000000\" d="), 3u) << "all of it is critical: a line in each lane";
  EXPECT_THAT(svg, HasSubstr(">25 %</text>"));
  EXPECT_THAT(svg, HasSubstr(">critical path</text>"));
}

TEST(TimelineSvg, StaysSmallHoweverManyOpsThereAre) {
  std::vector<TinyOp> ops;
  for (int i = 0; i < 50'000; ++i) ops.push_back({"op" + std::to_string(i), {i % 7 + 0.001, 1}});
  Problem problem = tiny(plain_devices(2), ops, {}, 1);
  for (std::size_t op = 0; op < ops.size(); ++op) problem.op_types[op] = op % 3 == 0 ? "MatMul" : "Relu";
  const std::string svg = picture(problem, {std::vector<std::uint8_t>(ops.size(), 0), {}});
  EXPECT_LT(svg.size(), 400'000u);
}

TEST(TimelineSvg, NamesDoNotBecomeMarkup) {
  std::vector<Device> devices = plain_devices(1);
  devices[0].name = "<a&\"\x01\xff>";
  Problem problem = tiny(devices, {{"op", {1}}}, {}, 1);
  problem.op_types[0] = "<script>";
  const std::string svg = picture(problem, {{0}, {}});
  EXPECT_THAT(svg, Not(HasSubstr("<a&")));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(svg, HasSubstr("&lt;a&amp;&quot;"));
  for (const char c : svg) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7F));
}

}  // namespace
}  // namespace emplace::report::timeline_svg_test
