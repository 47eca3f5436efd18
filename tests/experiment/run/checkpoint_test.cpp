#include "experiment/run/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/files.hpp"
#include "tests/experiment/run/checkpoint_samples.hpp"

namespace emplace::experiment::checkpoint_test {
namespace {

using ::testing::HasSubstr;

std::string message_of(const auto& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

TEST(Checkpoint, ComesBackBitForBitInEveryTypeAndShape) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), sample_checkpoint());
  EXPECT_TRUE(same_bits(load_checkpoint(folder / "checkpoint.h5"), sample_checkpoint()));
}

TEST(Checkpoint, MayBeEmpty) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), {});
  const Checkpoint back = load_checkpoint(folder / "checkpoint.h5");
  EXPECT_TRUE(back.arrays.empty());
  EXPECT_TRUE(back.attributes.empty());
}

// 300,000 floats need three chunks of 2^17 elements; HDF5 stores attributes over 64 KiB differently from the others.
TEST(Checkpoint, HoldsArraysOfManyChunksAndAttributesOver64KiB) {
  const TemporaryFolder folder;
  Checkpoint large = sample_checkpoint();
  put(large.arrays, "policy/long", counting<float>(300'000, 1));
  put(large.arrays, "policy/wide", counting<double>(2 * 200'000, 1), {2, 200'000});
  put(large.arrays, "policy/tall", counting<std::uint64_t>(200'000 * 2, 1), {200'000, 2});
  large.attributes["config"] = std::string(1'000'000, 'x');
  save_checkpoint(folder.path(), large);
  EXPECT_TRUE(same_bits(load_checkpoint(folder / "checkpoint.h5"), large));
}

TEST(Checkpoint, ComesBackWhateverItHolds) {
  const TemporaryFolder folder;
  EXPECT_TRUE(rc::check("save and load are inverse", [&](const std::vector<std::vector<std::int64_t>>& lists,
                                                         const std::map<std::string, std::uint16_t>& words) {
    Checkpoint c;
    for (std::size_t i = 0; i < lists.size(); ++i) put(c.arrays, "learner/list" + std::to_string(i), lists[i]);
    for (const auto& [text, number] : words) {
      std::string clean;
      for (const char letter : text)
        if (letter != '\0') clean += letter;
      c.attributes["word" + std::to_string(number)] = clean;
    }
    save_checkpoint(folder.path(), c);
    RC_ASSERT(same_bits(load_checkpoint(folder / "checkpoint.h5"), c));
  }));
}

TEST(Checkpoint, GivesTheSameBytesForTheSameContent) {
  const TemporaryFolder a;
  const TemporaryFolder b;
  save_checkpoint(a.path(), sample_checkpoint());
  save_checkpoint(b.path(), sample_checkpoint());
  EXPECT_EQ(read_file(a / "checkpoint.h5"), read_file(b / "checkpoint.h5"));
}

TEST(Checkpoint, KeepsTheOneBefore) {
  const TemporaryFolder folder;
  for (const std::uint64_t update : {1, 2, 3}) save_checkpoint(folder.path(), sample_checkpoint(update));
  EXPECT_EQ(load_checkpoint(folder / "checkpoint.h5").attributes.at("update"), "3");
  EXPECT_EQ(load_checkpoint(folder / "checkpoint.previous.h5").attributes.at("update"), "2");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
}

TEST(Checkpoint, IsNeverMissingWhileTheNextOneIsSaved) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), sample_checkpoint());
  std::atomic<bool> done = false;
  std::size_t missing = 0;
  std::thread watcher([&] {
    while (!done) missing += file_exists(folder / "checkpoint.h5") ? 0 : 1;
  });
  for (std::uint64_t update = 1; update <= 30; ++update) save_checkpoint(folder.path(), sample_checkpoint(update));
  done = true;
  watcher.join();
  EXPECT_EQ(missing, 0);
}

TEST(Checkpoint, OpensInH5dump) {
  if (std::system("h5dump --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "h5dump is not installed";
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), sample_checkpoint());
  const std::string command = "h5dump '" + (folder / "checkpoint.h5") + "' > '" + (folder / "dump.txt") + "' 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::string dump = read_file(folder / "dump.txt");
  for (const char* wanted : {"DATASET \"logits\"", "H5T_IEEE_F32LE", "( 3, 2 )", "(2,0): 3, 4", "ATTRIBUTE \"seed\"",
                             "\"42\"", "GROUP \"layer\"", "checkpoint/1"})
    EXPECT_THAT(dump, HasSubstr(wanted));
}

TEST(Checkpoint, RefusesAParameterThatIsNotANumberAndKeepsTheFileThatIsThere) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), sample_checkpoint(1));
  Checkpoint diverged = sample_checkpoint(2);
  std::get<std::vector<float>>(diverged.arrays["policy/layer/bias"].data)[3] = std::nanf("");
  EXPECT_THAT(message_of([&] { save_checkpoint(folder.path(), diverged); }),
              HasSubstr("policy/layer/bias[3] is not a number"));
  EXPECT_EQ(load_newest_checkpoint(folder.path()).attributes.at("update"), "1");
}

TEST(Checkpoint, RefusesAFileThatIsNotHdf5) {
  const TemporaryFolder folder;
  write_file(folder / "checkpoint.h5", "these are not the bytes of an HDF5 file");
  const std::string message = message_of([&] { load_checkpoint(folder / "checkpoint.h5"); });
  EXPECT_THAT(message, HasSubstr(folder / "checkpoint.h5"));
  EXPECT_THAT(message, HasSubstr("is not an HDF5 file"));
  EXPECT_THAT(message_of([&] { load_checkpoint(folder / "absent.h5"); }), HasSubstr("absent.h5: cannot be read"));
}

TEST(Checkpoint, RefusesNamesAndShapesThatDoNotFit) {
  const TemporaryFolder folder;
  for (const std::string name : {"", "/policy", "policy/", "a//b", "a/../b"}) {
    Checkpoint c;
    put_scalar(c.arrays, name, 1.0);
    EXPECT_THROW(save_checkpoint(folder.path(), c), BugError) << name;
  }
  Checkpoint c;
  put(c.arrays, "policy/x", std::vector<float>{1, 2, 3}, {2, 2});
  EXPECT_THROW(save_checkpoint(folder.path(), c), BugError);
  EXPECT_FALSE(file_exists(folder / "checkpoint.h5"));
}

TEST(Checkpoint, FailsWithTheEnvironmentsReasonWhereItCannotWrite) {
  EXPECT_THROW(save_checkpoint("/proc/no-such-folder", sample_checkpoint()), EnvironmentError);
}

}  // namespace
}  // namespace emplace::experiment::checkpoint_test
