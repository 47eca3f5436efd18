#include "experiment/sweep/record.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::record_test {
namespace {

using test::TemporaryFolder;
using ::testing::HasSubstr;

const SweepEvent began{.work = {3, 1}, .values = {{"policy", "post"}, {"ppo.form", "a \"quoted\",\nname \xff"}}};
const SweepEvent ended{.kind = SweepEvent::Kind::end,
                       .work = {3, 1},
                       .result = {.objective = 0.1 + 0.2, .seconds = 1.5, .updates = 7, .evaluations = 700}};
const SweepEvent failed{.kind = SweepEvent::Kind::end, .work = {4, 0}, .result = {.error = "no memory: {}"}};

// A record of these three events.
std::string filled(const TemporaryFolder& folder) {
  SweepRecord record(folder / "record.jsonl");
  for (const SweepEvent& event : {began, ended, failed}) record.add(event);
  return record.path();
}

// Without the flushes of write_file, which would be one per byte.
void write_quickly(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

std::string refusal(const std::string& path) {
  try {
    const SweepRecord record(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin + 1));
    begin = end + 1;
  }
  return lines;
}

TEST(SweepRecord, GivesBackToTheBitWhatWasAdded) {
  const TemporaryFolder folder;
  const SweepRecord again(filled(folder));
  ASSERT_EQ(again.events().size(), 3U);
  EXPECT_EQ(again.events()[0].work, began.work);
  EXPECT_EQ(again.events()[0].values.at("policy"), "post");
  EXPECT_THAT(again.events()[0].values.at("ppo.form"), HasSubstr("a \"quoted\",\nname \xEF\xBF\xBD")) << "not UTF-8";
  EXPECT_EQ(again.events()[1].result.objective, ended.result.objective);
  EXPECT_EQ(again.events()[1].result.seconds, 1.5);
  EXPECT_EQ(again.events()[1].result.updates, 7U);
  EXPECT_EQ(again.events()[1].result.evaluations, 700U);
  EXPECT_EQ(again.events()[2].result.objective, std::nullopt);
  EXPECT_EQ(again.events()[2].result.error, "no memory: {}");
}

TEST(SweepRecord, GoesOnWhereItEnded) {
  const TemporaryFolder folder;
  const std::string path = filled(folder);
  SweepRecord(path).add(began);
  EXPECT_EQ(SweepRecord(path).events().size(), 4U);
}

TEST(SweepRecord, DropsALastLineThatIsTornAtAnyByte) {
  const TemporaryFolder folder;
  const std::string text = read_file(filled(folder));
  const std::vector<std::string> lines = lines_of(text);
  ASSERT_EQ(lines.size(), 4U);
  const std::size_t whole = text.size() - lines.back().size();
  for (std::size_t bytes = whole; bytes < text.size(); ++bytes) {
    write_quickly(folder / "torn", text.substr(0, bytes));
    EXPECT_EQ(read_record(folder / "torn").events.size(), 2U);
    if (bytes % 10 != 0) continue;
    SweepRecord record(folder / "torn");
    EXPECT_EQ(record.events().size(), 2U);
    record.add(failed);
    EXPECT_EQ(read_file(folder / "torn"), text) << "the torn line is gone and the new one stands in its place";
  }
}

TEST(SweepRecord, BeginsAnewWhereEvenItsFirstLineIsTorn) {
  const TemporaryFolder folder;
  const std::string first = lines_of(read_file(filled(folder))).front();
  write_file(folder / "torn", first.substr(0, first.size() - 1));
  { const SweepRecord record(folder / "torn"); }
  EXPECT_EQ(read_file(folder / "torn"), first);
}

TEST(SweepRecord, DropsALastLineWithPagesThatNeverCameToTheDisk) {
  const TemporaryFolder folder;
  std::string text = read_file(filled(folder));
  for (std::size_t i = text.size() - 40; i < text.size() - 20; ++i) text[i] = '\0';
  write_file(folder / "torn", text);
  EXPECT_EQ(SweepRecord(folder / "torn").events().size(), 2U);
}

TEST(SweepRecord, RefusesEveryChangedByteWithItsLine) {
  const TemporaryFolder folder;
  const std::string text = read_file(filled(folder));
  const std::vector<std::string> lines = lines_of(text);
  std::size_t at = 0;
  for (std::size_t line = 0; line < lines.size(); ++line)
    for (std::size_t i = 0; i + 1 < lines[line].size(); ++i, ++at) {
      std::string damaged = text;
      damaged[at + line] = damaged[at + line] == 'x' ? 'y' : 'x';
      write_quickly(folder / "damaged", damaged);
      EXPECT_THAT(refusal(folder / "damaged"), HasSubstr(fmt::format("damaged:{}: is damaged", line + 1)));
    }
}

TEST(SweepRecord, RefusesLinesThatAreMissingRepeatedOrMoved) {
  const TemporaryFolder folder;
  const std::vector<std::string> lines = lines_of(read_file(filled(folder)));
  write_file(folder / "missing", lines[0] + lines[2] + lines[3]);
  EXPECT_THAT(refusal(folder / "missing"), HasSubstr("missing:2: is damaged"));
  write_file(folder / "repeated", lines[0] + lines[1] + lines[1]);
  EXPECT_THAT(refusal(folder / "repeated"), HasSubstr("repeated:3: is damaged"));
  write_file(folder / "moved", lines[0] + lines[2] + lines[1]);
  EXPECT_THAT(refusal(folder / "moved"), HasSubstr("moved:2: is damaged"));
}

TEST(SweepRecord, RefusesAFileThatIsNone) {
  const TemporaryFolder folder;
  write_file(folder / "other", "trial,status\n0,finished\n");
  EXPECT_THAT(refusal(folder / "other"), HasSubstr("other:1: is damaged"));
}

}  // namespace
}  // namespace emplace::experiment::record_test
