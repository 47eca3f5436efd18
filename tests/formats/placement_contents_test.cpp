// What is read of a placement without its problem, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "emplace/base/error.hpp"
#include "formats/json/json_peek.hpp"
#include "formats/json/placement_devices.hpp"

namespace emplace::formats::placement_contents_test {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    placement_contents(text, "p.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(PlacementContents, CountTheOpsOfEachDevice) {
  const PlacementContents contents =
      placement_contents(R"({"emplace": "placement/1", "problem": "m", "schedule": "priority", "order": ["a", "b", "c"],
          "ops": {"a": "cpu:0", "b": "gpu:0", "c": "gpu:0"}})",
                         "p.json");
  EXPECT_EQ(contents.problem, "m");
  EXPECT_EQ(contents.schedule, Schedule::priority);
  EXPECT_EQ(contents.ops, 3U);
  EXPECT_EQ(contents.ordered, 3U);
  EXPECT_EQ(contents.ops_by_device, (std::map<std::string, std::size_t>{{"cpu:0", 1}, {"gpu:0", 2}}));
}

TEST(PlacementContents, AreRefusedLikeThePlacementItself) {
  EXPECT_THAT(refusal(R"({"emplace": "placement/9", "ops": {}})"),
              HasSubstr("p.json: emplace: has format 'placement/9', this program reads 'placement/1'"));
  EXPECT_THAT(refusal(R"({"emplace": "placement/1", "ops": {"a": "cpu", "a": "gpu"}})"),
              HasSubstr("the key 'a' is given twice"));
  EXPECT_THAT(refusal(R"({"emplace": "placement/1", "ops": {}, "ops": {}})"),
              HasSubstr("the key 'ops' is given twice"));
  EXPECT_THAT(refusal(R"({"emplace": "placement/1", "ops": {"a": 1}})"), HasSubstr("ops.a"));
  EXPECT_THAT(refusal(R"({"emplace": "placement/1", "ops": {}, "devices": {}})"), HasSubstr("'devices'"));
  EXPECT_THAT(refusal(R"({"emplace": "placement/1", "ops": {}, "order": ["a"]})"), HasSubstr("'schedule'"));
  EXPECT_THAT(refusal(R"({"emplace": "placement/1", "ops": )" + std::string(1'000'000, '[')),
              HasSubstr("nested deeper than 64 levels"));
}

TEST(TopKeys, SayWhatAFileHoldsWithoutReadingItAll) {
  EXPECT_EQ(json::top_keys(R"({"emplace": "placement/1", "ops": )").format, "placement/1");
  EXPECT_EQ(json::top_keys(R"({"a": [{"emplace": "no"}], "emplace": "problem/2"})").format, "problem/2");
  EXPECT_TRUE(json::top_keys(R"({"format": "graph-model", "modelTopology": {)").model_topology);
  EXPECT_FALSE(json::top_keys(R"({"a": {"modelTopology": 1}})").model_topology);
  for (const std::string& nothing : {std::string(), std::string("["), std::string("7"), std::string("{\"emplace\": 7}"),
                                     std::string("{\"emplace\": [\"placement/1\"]}"), std::string("no JSON"),
                                     "{\"a\":" + std::string(1'000'000, '[')})
    EXPECT_EQ(json::top_keys(nothing).format, "");
}

}  // namespace
}  // namespace emplace::formats::placement_contents_test
