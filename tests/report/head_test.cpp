#include "report/head.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace emplace::report::head_test {
namespace {

using nlohmann::json;
constexpr Ticks milli = 1'000'000'000;

TEST(HeadOfAReport, HasALineForEachRowSentenceAndTheCommand) {
  const verdict::Verdict head{
      .rows = {{"step time", 30 * milli}, {"expert", std::nullopt}, {"bound (load)", 20 * milli}},
      .sentences = {"worse than one device"},
      .about_bound = {},
      .next = "emplace bound p.json"};
  EXPECT_EQ(head_text(head),
            "step time     30 ms\n"
            "expert        none\n"
            "bound (load)  20 ms\n"
            "worse than one device\n"
            "next: emplace bound p.json\n");
  const json parsed = json::parse(head_json(head).dump());
  EXPECT_EQ(parsed["rows"][0], (json{"step time", 30 * milli}));
  EXPECT_EQ(parsed["rows"][1], (json{"expert", nullptr}));
  EXPECT_EQ(parsed["sentences"], json::array({"worse than one device"}));
  EXPECT_EQ(parsed["next"], "emplace bound p.json");
}

TEST(HeadOfAReport, WithoutRowsIsEmptyTextAndNull) {
  EXPECT_EQ(head_text({}), "");
  EXPECT_TRUE(head_json({}).is_null());
}

TEST(HeadOfAReport, HasNoControlCharactersOfNames) {
  EXPECT_EQ(head_text({{{"one device (\x1b[31m)", milli}}, {"a\nb"}, ""}).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace emplace::report::head_test
