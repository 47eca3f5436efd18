// The picture of a timeline: what is drawn where, however many ops there are and whatever they are called.
#include "report/timeline_svg.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/colours.hpp"
#include "report/html_texts.hpp"
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
  EXPECT_THAT(svg, HasSubstr("M150.00 47h200.00v14")) << "a: from 0, 10 ms of 40";
  EXPECT_THAT(svg, HasSubstr("M550.00 69h400.00v14")) << "b: from 20 ms, in the second lane";
  EXPECT_THAT(svg, HasSubstr("M350.00 91h200.00v14")) << "the transfer";
  EXPECT_EQ(count(svg, "class=\"ink\" fill=\"#1b2026\" d="), 3u) << "all of it is critical: a line in each lane";
  EXPECT_THAT(svg, HasSubstr(">25 %</text>"));
  EXPECT_THAT(svg, HasSubstr(">critical path</text>"));
}

TEST(TimelineSvg, HasTheProblemsNameAndTheStepTimeAsTitle) {
  const Problem problem = tiny(plain_devices(1), {{"a", {10}}}, {}, 1);
  const std::string svg = picture(problem, {{0}, {}});
  EXPECT_THAT(svg, HasSubstr(">" + problem.name + "</text>"));
  EXPECT_THAT(svg, HasSubstr(">10 ms a step</text>"));
}

TEST(TimelineSvg, HasTheColoursOfTheReportInAnyLight) {
  const auto texts = html_texts();
  const std::string css(std::ranges::find(texts, "page.css", &HtmlText::name)->text);
  const std::string light = css.substr(0, css.find("@media screen and (prefers-color-scheme: dark)"));
  const std::string dark = css.substr(light.size());
  std::vector<Colour> colours(type_colours.begin(), type_colours.end());
  colours.insert(colours.end(), {other_types, transfers_colour, ink, back, grid});
  const std::string svg = picture(tiny(plain_devices(1), {{"a", {10}}}, {}, 1), {{0}, {}});
  EXPECT_THAT(svg, HasSubstr("@media (prefers-color-scheme: dark)"));
  for (const Colour& colour : colours) {
    EXPECT_THAT(light, HasSubstr(fmt::format("--{}: {};", colour.name, colour.light)));
    EXPECT_THAT(dark, HasSubstr(fmt::format("--{}: {};", colour.name, colour.dark)));
    EXPECT_THAT(svg, HasSubstr(fmt::format(".{}{{fill:{}}}", colour.name, colour.dark)));
  }
  EXPECT_THAT(svg, HasSubstr("class=\"c0\" fill=\"#0072b2\""));
}

TEST(TimelineSvg, DrawsNarrowOpsOfManyTypesWithoutStripes) {
  // 8000 ops of 1 ms in turn of two types: 0.1 px each. MatMul takes two thirds of the time.
  std::vector<TinyOp> ops;
  for (int i = 0; i < 8000; ++i) ops.push_back({"op" + std::to_string(i), {i % 2 == 0 ? 2.0 : 1.0}});
  Problem problem = tiny(plain_devices(1), ops, {}, 1);
  for (std::size_t op = 0; op < ops.size(); ++op) problem.op_types[op] = op % 2 == 0 ? "MatMul" : "Relu";
  const std::string svg = picture(problem, {std::vector<std::uint8_t>(ops.size(), 0), {}});
  EXPECT_EQ(count(svg, "v14"), 1U) << "one bar, in the colour of what takes most of the time";
  EXPECT_THAT(svg, HasSubstr("class=\"c0\" fill=\"#0072b2\" d=\"M150.00 47h800.00v14"));
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
