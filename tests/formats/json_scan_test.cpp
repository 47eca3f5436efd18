// The quick parser against the one that explains errors: the same trees, and no tree for a text that the other refuses.
#include "formats/json/json_scan.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "emplace/base/error.hpp"
#include "emplace/base/random.hpp"
#include "formats/json/document_builder.hpp"

namespace emplace::formats::json_scan_test {
namespace {

using namespace json;

// Every node, doubles by their bits, and every text.
std::string dump(const Document& document) {
  std::string text;
  for (std::size_t i = 0; i < document.nodes.size(); ++i) {
    const Node& node = document.nodes[i];
    text += std::to_string(static_cast<int>(node.kind)) + " " + std::to_string(node.count) + " " +
            std::to_string(node.kind == Kind::real ? std::bit_cast<std::uint64_t>(node.real) : node.at) + "\n";
  }
  return text + document.texts;
}

// "" if the text is refused.
std::string by_reference(const std::string& text) {
  try {
    return dump(explain_json(text, "file"));
  } catch (const InputError&) {
    return {};
  }
}

std::string by_scanner(const std::string& text) {
  const std::optional<Document> document = scan_json(text);
  return document ? dump(*document) : std::string();
}

std::string random_digits(Stream& random) {
  std::string digits;
  for (std::uint32_t i = 0, count = 1 + random.below(random.below(4) == 0 ? 25 : 5); i < count; ++i)
    digits += static_cast<char>('0' + random.below(random.below(2) == 0 ? 1 : 10));
  return digits;
}

std::string random_number(Stream& random) {
  std::string text = random.below(4) == 0 ? "-" : "";
  const std::string whole = random_digits(random);
  text += whole.size() > 1 && whole.front() == '0' && random.below(8) > 0 ? "0" : whole;
  if (random.below(2) == 0) text += "." + random_digits(random);
  if (random.below(2) == 0)
    text += std::vector<std::string>{"e", "E-", "e+"}[random.below(3)] +
            std::to_string(random.below(random.below(4) == 0 ? 400 : 30));
  return text;
}

TEST(JsonScan, NumbersAreThoseOfTheReferenceToTheLastBit) {
  Stream random({.seed = 1, .purpose = Purpose::test});
  std::size_t accepted = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::string text = random_number(random);
    const std::string scanned = by_scanner(text);
    ASSERT_EQ(scanned, by_reference(text)) << text;
    accepted += scanned.empty() ? 0 : 1;
  }
  EXPECT_GT(accepted, 150'000u);
}

TEST(JsonScan, NumbersAtTheLimitsAreThoseOfTheReference) {
  for (const std::string text : {"0",
                                 "-0",
                                 "0.0",
                                 "-0.0e5",
                                 "9007199254740992",
                                 "9007199254740993",
                                 "9007199254740993.0",
                                 "0.9007199254740993",
                                 "999999999999999999",
                                 "1000000000000000000",
                                 "9223372036854775807",
                                 "9223372036854775808",
                                 "-9223372036854775808",
                                 "-9223372036854775809",
                                 "18446744073709551615",
                                 "18446744073709551616",
                                 "1e18",
                                 "1e19",
                                 "123e16",
                                 "0.1e19",
                                 "9223372036854775807.0",
                                 "922337203685477580.7e1",
                                 "1e22",
                                 "1e23",
                                 "1e-22",
                                 "1e-23",
                                 "5e-324",
                                 "2.2250738585072014e-308",
                                 "1.7976931348623157e308",
                                 "1e-400",
                                 "-3e-324",
                                 "1e309",
                                 "1e99999999999999999999",
                                 "0e99999999999999999999",
                                 "01",
                                 "1.",
                                 ".5",
                                 "1e",
                                 "+1",
                                 "-",
                                 "--1",
                                 "1e+-1"})
    EXPECT_EQ(by_scanner(text), by_reference(text)) << text;
}

TEST(JsonScan, TextsThatAreSpoiledAtRandomAreReadAsTheReferenceReadsThem) {
  const std::string valid =
      R"( {"a": [1, 2.5e-3, -7, null, true, false, "x"], "b\u00e9\n": {"é": {}, "": []}, "c": "\ud83d\ude00",
  "d": [[[]], [{}], [{"p": 1, "q": [3e-06, 3e-06]}]], "emplace": "problem/1"} )";
  ASSERT_NE(by_scanner(valid), "");
  ASSERT_EQ(by_scanner(valid), by_reference(valid));
  const std::string bytes = std::string("{}[]\",:\\ud8eE+-.019ntf \n\t\x01\x7f\x80\xc3\xa9\xff", 34) + '\0';
  Stream random({.seed = 2, .purpose = Purpose::test});
  std::size_t accepted = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string text = valid;
    for (std::uint32_t edit = 0, edits = 1 + random.below(3); edit < edits; ++edit) {
      const std::uint32_t at = random.below(static_cast<std::uint32_t>(text.size()));
      const char byte = bytes[random.below(static_cast<std::uint32_t>(bytes.size()))];
      switch (random.below(4)) {
        case 0: text[at] = byte; break;
        case 1: text.insert(at, 1, byte); break;
        case 2: text.erase(at, 1); break;
        default: text.insert(at, text.substr(random.below(static_cast<std::uint32_t>(text.size())), 12));
      }
    }
    const std::string scanned = by_scanner(text), expected = by_reference(text);
    accepted += scanned.empty() ? 0 : 1;
    // A byte of 0 after the value is the end of the text for the reference.
    if (scanned.empty() && text.find('\0') != std::string::npos) continue;
    ASSERT_EQ(scanned, expected) << text;
  }
  EXPECT_GT(accepted, 5'000u);
}

// 10 MB of numbers, each of which would take milliseconds if its exponent were counted down.
TEST(JsonScan, ZerosWithLargeExponentsAreReadAtOnce) {
  constexpr int count = 1'000'000;
  std::string text = "[";
  for (int i = 0; i < count; ++i) text += i % 2 == 0 ? "0e1000000," : "0e-999999,";
  text.back() = ']';
  const std::optional<Document> document = scan_json(text);
  ASSERT_TRUE(document);
  EXPECT_EQ(document->nodes.size(), 1u + count);
}

TEST(JsonScan, KeysAreComparedInObjectsOfAnySize) {
  for (const int count : {2, 16, 17, 300}) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += "\"k" + std::to_string(i) + "\": 0, ";
    EXPECT_NE(by_scanner(text + "\"k\": 0}"), "");
    EXPECT_EQ(by_scanner(text + "\"k" + std::to_string(count / 2) + "\": 0}"), "") << count;
  }
}

TEST(JsonScan, NestingEndsAtTheSameDepth) {
  for (const std::size_t depth : {deepest_json, deepest_json + 1}) {
    const std::string text = std::string(depth, '[') + std::string(depth, ']');
    EXPECT_EQ(by_scanner(text), by_reference(text));
    EXPECT_EQ(by_scanner(text).empty(), depth > deepest_json);
  }
}

TEST(JsonScan, ALongListIsReadAcrossPiecesOfNodes) {
  std::string text = "[";
  for (int i = 0; i < 20'000; ++i) text += "[" + std::to_string(i) + "],";
  text.back() = ']';
  EXPECT_EQ(by_scanner(text), by_reference(text));
}

}  // namespace
}  // namespace emplace::formats::json_scan_test
