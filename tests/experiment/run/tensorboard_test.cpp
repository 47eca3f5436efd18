// Event files as TensorBoard reads them, parsed here by the rules of the format.
#include "experiment/run/tensorboard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::tensorboard_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// CRC-32C bit by bit: reflected, polynomial 0x82F63B78.
std::uint32_t crc32c(std::string_view data) {
  std::uint32_t crc = ~0U;
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0x82F63B78U & (0U - (crc & 1)));
  }
  return ~crc;
}
std::uint32_t masked(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xA282EAD8U; }

template <class T>
T take(std::string_view& data) {
  T value;
  EXPECT_GE(data.size(), sizeof value);
  std::memcpy(&value, data.data(), sizeof value);
  data.remove_prefix(sizeof value);
  return value;
}

std::vector<std::string> records_of(const std::string& file) {
  const std::string text = read_file(file);
  std::string_view data = text;
  std::vector<std::string> records;
  while (!data.empty()) {
    const std::string_view length = data.substr(0, 8);
    const auto size = take<std::uint64_t>(data);
    EXPECT_EQ(take<std::uint32_t>(data), masked(crc32c(length)));
    records.emplace_back(data.substr(0, size));
    data.remove_prefix(size);
    EXPECT_EQ(take<std::uint32_t>(data), masked(crc32c(records.back())));
  }
  return records;
}

std::uint64_t take_varint(std::string_view& data) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(data.front());
    data.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return value;
  }
}

// Fields of a message by number; those of fixed or variable width as their bits.
struct Field {
  std::uint64_t bits = 0;
  std::string text = {};
};
std::multimap<std::uint64_t, Field> fields_of(std::string_view data) {
  std::multimap<std::uint64_t, Field> fields;
  while (!data.empty()) {
    const std::uint64_t key = take_varint(data);
    Field field;
    switch (key & 7) {
      case 0: field.bits = take_varint(data); break;
      case 1: field.bits = take<std::uint64_t>(data); break;
      case 5: field.bits = take<std::uint32_t>(data); break;
      case 2: {
        const std::uint64_t size = take_varint(data);
        field.text = data.substr(0, size);
        data.remove_prefix(size);
        break;
      }
      default: ADD_FAILURE() << "wire type " << (key & 7); return fields;
    }
    fields.emplace(key >> 3, field);
  }
  return fields;
}

std::map<std::string, float> scalars_of(const std::string& summary) {
  std::map<std::string, float> scalars;
  for (const auto& [position, value] : fields_of(summary)) {
    EXPECT_EQ(position, 1u);
    const auto parts = fields_of(value.text);
    scalars[parts.find(1)->second.text] = std::bit_cast<float>(static_cast<std::uint32_t>(parts.find(2)->second.bits));
  }
  return scalars;
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

TEST(TensorboardFile, HasAVersionAndAScalarAColumnAtEachUpdate) {
  const test::TemporaryFolder folder;
  {
    TensorboardFile file(folder / "tensorboard", 0);
    file.add(1, {{"update", 1}, {"entropy", 0.5}, {"best_step_time", std::nan("")}});
    file.add(300, {{"update", 300}, {"entropy", -1.25}, {"best_step_time", 0.125}});
  }
  const auto files = files_in(folder / "tensorboard");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_THAT(files[0], ::testing::HasSubstr("events.out.tfevents."));
  const auto records = records_of(files[0]);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(fields_of(records[0]).find(3)->second.text, "brain.Event:2");
  EXPECT_GT(std::bit_cast<double>(fields_of(records[0]).find(1)->second.bits), 1.7e9) << "seconds since 1970";
  EXPECT_EQ(fields_of(records[1]).find(2)->second.bits, 1u);
  EXPECT_THAT(scalars_of(fields_of(records[1]).find(5)->second.text), ElementsAre(Pair("entropy", 0.5f)))
      << "what is no number is left out";
  EXPECT_EQ(fields_of(records[2]).find(2)->second.bits, 300u) << "two bytes of a varint";
  EXPECT_THAT(scalars_of(fields_of(records[2]).find(5)->second.text),
              ElementsAre(Pair("best_step_time", 0.125f), Pair("entropy", -1.25f)));
}

TEST(TensorboardFile, OfAResumedRunVoidsWhatEarlierFilesHaveBehindItsCheckpoint) {
  const test::TemporaryFolder folder;
  { TensorboardFile file(folder.path(), 0); }
  { TensorboardFile file(folder.path(), 40); }
  const auto files = files_in(folder.path());
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(records_of(files[0]).size(), 1u);
  const auto records = records_of(files[1]);
  ASSERT_EQ(records.size(), 2u);
  const auto start = fields_of(records[1]);
  EXPECT_EQ(start.find(2)->second.bits, 41u);
  EXPECT_EQ(fields_of(start.find(7)->second.text).find(1)->second.bits, 1u) << "SessionLog.START";
}

TEST(TensorboardFile, ThatCannotBeMadeIsAnError) {
  const test::TemporaryFolder folder;
  write_file(folder / "file", "");
  EXPECT_THROW(TensorboardFile(folder / "file", 0), InputError) << "there is a file where the folder should be";
}

TEST(TensorboardFile, OnAFullDiskSaysSo) {
  const test::TemporaryFolder folder;
  make_folder(folder / "events");
  TensorboardFile file(folder / "events", 0);
  const auto written = files_in(folder / "events");
  // The file that it has open is replaced by a device that is always full.
  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry, gone) != written.front()) continue;
    ASSERT_GE(::dup2(full, std::stoi(entry.path().filename().string())), 0);
  }
  ::close(full);
  const auto fill = [&] {
    for (std::uint64_t update = 1; update < 10'000; ++update) file.add(update, {{"entropy", 0.5}});
  };
  EXPECT_THROW(fill(), EnvironmentError);
}

TEST(Crc32c, IsThatOfTheStandardsExample) { EXPECT_EQ(crc32c("123456789"), 0xE3069283U); }

}  // namespace
}  // namespace emplace::experiment::tensorboard_test
