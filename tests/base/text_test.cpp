#include "base/text.hpp"

#include <gtest/gtest.h>

namespace emplace::text_test {
namespace {

TEST(Text, FindsTheNearestNameOnlyWhereItIsALikelySlip) {
  const std::vector<std::string> names = {"round-robin", "random", "greedy"};
  EXPECT_EQ(nearest_name("ranodm", names), "random");
  EXPECT_EQ(nearest_name("greddy", names), "greedy");
  EXPECT_EQ(nearest_name("round", names), "round-robin") << "a beginning of a name is near";
  EXPECT_EQ(nearest_name("transformer", names), "");
  EXPECT_EQ(nearest_name(std::string(100000, 'x'), names), "");
}

TEST(Text, QuotesNamesOfHostileFilesOnOneLine) {
  EXPECT_EQ(quote("a\nb\x1b[31m"), "'a\\x0ab\\x1b[31m'");
  EXPECT_EQ(quote(std::string(200, 'n')), "'" + std::string(80, 'n') + "... (200 characters)'");
}

TEST(Text, PrintsNoControlCharactersAndOnlyUtf8) {
  EXPECT_EQ(printable("a\tb\r\x7f"), "a\\x09b\\x0d\\x7f");
  EXPECT_EQ(printable("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82"), "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82");
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("\xc3"), "\\xc3") << "cut off";
  EXPECT_EQ(printable("\xc3("), "\\xc3(");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "longer than necessary";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last character";
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m")
      << "a control character of terminals";
}

TEST(Text, DurationsHaveUnitsFromTheLargestToTheSmallest) {
  EXPECT_EQ(parse_duration("90"), 90);
  EXPECT_EQ(parse_duration("90s"), 90);
  EXPECT_EQ(parse_duration("10m"), 600);
  EXPECT_EQ(parse_duration("3h30m"), 12600);
  EXPECT_EQ(parse_duration("1d2h3m4s"), 93784);
  EXPECT_EQ(parse_duration("1d5s"), 86405);
  for (const char* text :
       {"", "0", "0h", "h", "3h30", "30m3h", "1h1h", "5 m", "-5s", "1.5h", "1e3", "99999999999", "4000000000d", "3H"})
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
}

TEST(Text, SaysSizesAndTimesAsPeopleDo) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1536), "1.50 KiB");
  EXPECT_EQ(human_bytes(Bytes{12} << 30), "12.00 GiB");
  EXPECT_EQ(human_seconds(0), "0 s");
  EXPECT_EQ(human_seconds(0.0123), "12.3 ms");
  EXPECT_EQ(human_seconds(4e-12), "4 ps");
  EXPECT_EQ(human_seconds(4e-9), "4 ns");
  EXPECT_EQ(human_seconds(245), "4 min 05 s");
  EXPECT_EQ(human_count(23834568), "23.83 M");
}

TEST(Text, AlignsColumnsWithoutTrailingBlanks) {
  TextTable table({"device", "busy"});
  table.add({"cpu:0", "1 s"});
  table.add({"µ", ""});
  EXPECT_EQ(table.str(), "device  busy\ncpu:0    1 s\nµ\n");
}

TEST(Text, ParsesWholeNumbersWithoutLeftovers) {
  std::int64_t value = 0;
  EXPECT_TRUE(parse_number("-12", value));
  EXPECT_EQ(value, -12);
  EXPECT_FALSE(parse_number("12a", value));
  EXPECT_FALSE(parse_number("", value));
  EXPECT_FALSE(parse_number("99999999999999999999", value));
  double number = 0;
  EXPECT_FALSE(parse_number("inf", number));
}

TEST(Text, FindsWholeTextsInAList) {
  const std::vector<std::string> names = {"post", "gdp"};
  EXPECT_TRUE(has_text(names, "gdp"));
  EXPECT_FALSE(has_text(names, "gd"));
  EXPECT_FALSE(has_text({}, "gdp"));
}

}  // namespace
}  // namespace emplace::text_test
