#include "emplace/base/config.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <limits>

#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "tests/support/allocations.hpp"

namespace emplace::config_test {
namespace {

using ::testing::HasSubstr;

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Config, SaysFileAndLineOfAWrongType) {
  const auto table = ConfigTable::parse_toml("a = 1\nname = 7\n", "file.toml");
  EXPECT_THAT(
      message_of([&] { (void)table.text("name"); }),
      ::testing::AllOf(HasSubstr("file.toml:2"), HasSubstr("'name' must be a text"), HasSubstr("a whole number")));
}

TEST(Config, NamesTheNearestKeyForAnUnreadOne) {
  const auto table = ConfigTable::parse_toml("updats = 5\n", "r.toml");
  EXPECT_THAT(message_of([&] {
                table.refuse_unread({"updates", "seed"});
              }),
              ::testing::AllOf(HasSubstr("r.toml:1"), HasSubstr("unknown key 'updats'"), HasSubstr("'updates'")));
}

TEST(Config, ListsTheKnownKeysWhereNothingIsNear) {
  const auto table = ConfigTable::parse_toml("zzzzzzzz = 5\n", "r.toml");
  EXPECT_THAT(message_of([&] { table.refuse_unread({"updates", "seed"}); }), HasSubstr("known keys: seed, updates"));
}

TEST(Config, TakesNoMemoryForAKeyThatIsReadAgain) {
  const ConfigTable table = ConfigTable::parse_toml("learning_rate_decay_every = 3\n", "t.toml");
  const auto read = [&] { return table.whole("learning_rate_decay_every", 1) + table.whole("not_there", 1); };
  read();
  const std::size_t before = emplace::test::allocations();
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(read(), 4);
  EXPECT_EQ(emplace::test::allocations(), before);
}

TEST(Config, RefusesBrokenTomlWithLineAndColumn) {
  EXPECT_THAT(message_of([] { (void)ConfigTable::parse_toml("a = [1, 2\nb = 3", "broken.toml"); }),
              ::testing::AllOf(HasSubstr("broken.toml:"), HasSubstr("not valid TOML")));
}

TEST(Config, RefusesDatesTimesAndNumbersThatAreNotFinite) {
  const auto message = [](const std::string& value) {
    return message_of([&] { (void)ConfigTable::parse_toml("a = 1\nb = " + value + "\n", "r.toml").number("b"); });
  };
  for (const char* time : {"1979-05-27", "07:32:00", "1979-05-27T07:32:00", "1979-05-27T07:32:00Z"})
    EXPECT_THAT(message(time), ::testing::AllOf(HasSubstr("r.toml:2"), HasSubstr("dates and times"))) << time;
  for (const char* number : {"inf", "-inf", "nan"})
    EXPECT_THAT(message(number), ::testing::AllOf(HasSubstr("r.toml:2"), HasSubstr("finite"))) << number;
}

TEST(Config, RefusesNestingThatWouldExhaustTheStack) {
  const std::string deep = "a = " + std::string(100000, '[') + std::string(100000, ']');
  EXPECT_THAT(message_of([&] { (void)ConfigTable::parse_toml(deep, "deep.toml"); }), HasSubstr("deep.toml"));
}

TEST(Config, ReadsOverridesAsTomlAndAsTextWhereThatFails) {
  EXPECT_EQ(std::get<std::int64_t>(ConfigTable::parse_value("12", "cli").data), 12);
  EXPECT_EQ(std::get<double>(ConfigTable::parse_value("0.5", "cli").data), 0.5);
  EXPECT_EQ(std::get<bool>(ConfigTable::parse_value("true", "cli").data), true);
  EXPECT_EQ(std::get<std::string>(ConfigTable::parse_value("zoo:nmt?layers=2", "cli").data), "zoo:nmt?layers=2");
  EXPECT_EQ(as_texts(ConfigTable::parse_value("[\"a\", \"b\"]", "cli"), "k"), (std::vector<std::string>{"a", "b"}));
}

TEST(Config, AnOverrideOfTwoLinesIsAText) {
  EXPECT_EQ(std::get<std::string>(ConfigTable::parse_value("1\nb = 2", "cli").data), "1\nb = 2");
}

TEST(Config, SetsAKeyInsideATableByItsDottedName) {
  auto table = ConfigTable::parse_toml("[post]\nk = 20\n", "r.toml");
  table.set_path("post.elite_fraction", ConfigTable::parse_value("0.2", "cli"));
  table.set_path("ppo.epochs", ConfigTable::parse_value("3", "cli"));
  EXPECT_EQ(table.table("post").number("elite_fraction"), 0.2);
  EXPECT_EQ(table.table("post").whole("k", 0), 20);
  EXPECT_EQ(table.table("ppo").whole("epochs", 0), 3);
}

TEST(Config, WritesTomlThatReadsBackToTheSameValues) {
  const std::string text =
      "name = \"a \\\"quoted\\\" \\u0009 text\"\nnumber = 0.1\nwhole = 3\nflag = true\nlist = [\"x\", \"y\"]\nbig = "
      "1e300\nfloat = 2.0\n"
      "\n[post]\nclip_ratio = 0.30000000000000004\n";
  const auto once = ConfigTable::parse_toml(text, "a").to_toml();
  EXPECT_EQ(ConfigTable::parse_toml(once, "b").to_toml(), once);
  EXPECT_EQ(ConfigTable::parse_toml(once, "b").table("post").number("clip_ratio"), 0.1 + 0.2);
  EXPECT_EQ(ConfigTable::parse_toml(once, "b").find("float")->data.index(), 2U)
      << "2.0 must stay a number with a point";
}

struct Sample {
  double ratio = 0.2;
  int epochs = 4;
  std::string kind = "kl";
};
void describe(Sample& o, OptionVisitor& visit) {
  visit("ratio", o.ratio, {.min = 0, .max = 1, .help = "A ratio."});
  visit("epochs", o.epochs, {.min = 1, .help = "Passes."});
  visit("kind", o.kind, {.choices = {"kl", "clip"}, .help = "A form."});
}

TEST(Options, OneDescriptionReadsListsAndEchoes) {
  const auto read = read_options<Sample>(ConfigTable::parse_toml("ratio = 0.5\nkind = \"clip\"", "o.toml"));
  EXPECT_EQ(read.ratio, 0.5);
  EXPECT_EQ(read.epochs, 4);
  const auto infos = list_options<Sample>();
  ASSERT_EQ(infos.size(), 3U);
  EXPECT_EQ(infos[1].name, "epochs");
  EXPECT_EQ(infos[1].default_value, "4");
  EXPECT_EQ(echo_options(read).to_toml(), "ratio = 0.5\nepochs = 4\nkind = \"clip\"\n");
}

struct Budget {
  int groups = 0;  // 0: none
  double seconds = 0;
};
void describe(Budget& o, OptionVisitor& visit) {
  visit("groups", o.groups, {.min = 1, .help = "Groups."});
  visit("seconds", o.seconds, {.min = 0, .above_min = true, .help = "Seconds."});
}

TEST(Options, ADefaultThatStandsForNoneIsNotEchoed) {
  EXPECT_EQ(echo_options(Budget{}).to_toml(), "");
  EXPECT_EQ(echo_options(Budget{.groups = 3, .seconds = 0.5}).to_toml(), "groups = 3\nseconds = 0.5\n");
}

TEST(Options, SayWhatWasWantedAndWhatWasFound) {
  const auto read = [](const char* text) {
    return message_of([&] { (void)read_options<Sample>(ConfigTable::parse_toml(text, "o.toml")); });
  };
  EXPECT_THAT(read("ratio = 1.5"),
              ::testing::AllOf(HasSubstr("o.toml:1"), HasSubstr("at least 0 and at most 1"), HasSubstr("1.5")));
  EXPECT_THAT(read("epochs = 0"), HasSubstr("at least 1"));
  EXPECT_THAT(read("epochs = 2.5"), HasSubstr("a whole number"));
  EXPECT_THAT(read("ratio = nan"), HasSubstr("finite"));
  EXPECT_THAT(read("kind = \"clap\""),
              ::testing::AllOf(HasSubstr("one of kl, clip"), HasSubstr("did you mean 'clip'")));
  EXPECT_THAT(read("epoch = 2"), HasSubstr("did you mean 'epochs'"));
}

}  // namespace
}  // namespace emplace::config_test
