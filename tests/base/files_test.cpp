#include "base/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>

#include "emplace/base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::files_test {
namespace {

class Files : public ::testing::Test {
 protected:
  test::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

TEST_F(Files, ReadBackWhatWasWritten) {
  const std::string content("a\0b\n", 4);
  write_file(folder_ + "/f", content);
  EXPECT_EQ(read_file(folder_ + "/f"), content);
  write_file(folder_ + "/f", "");
  EXPECT_EQ(read_file(folder_ + "/f"), "");
  EXPECT_FALSE(file_exists(folder_ + "/f.writing")) << "no temporary file stays";
}

// In a shared folder another user can guess the temporary name.
TEST_F(Files, AreNotWrittenThroughALinkAtTheTemporaryName) {
  write_file(folder_ + "/precious", "kept");
  for (const char* target : {"precious", "made-through-the-link"}) {
    ASSERT_EQ(::symlink((folder_ + "/" + target).c_str(), (folder_ + "/f.writing").c_str()), 0);
    write_file(folder_ + "/f", "new");
    EXPECT_EQ(read_file(folder_ + "/f"), "new");
    EXPECT_FALSE(std::filesystem::is_symlink(folder_ + "/f"));
  }
  EXPECT_EQ(read_file(folder_ + "/precious"), "kept");
  EXPECT_FALSE(file_exists(folder_ + "/made-through-the-link"));
}

TEST_F(Files, ThatTwoWriteAtOnceAreNotMixed) {
  FileWriter first(folder_ + "/f");
  first.write("first");
  write_file(folder_ + "/f", "second");
  EXPECT_THROW(first.finish(), EnvironmentError);
  EXPECT_EQ(read_file(folder_ + "/f"), "second");
}

TEST_F(Files, RefuseWhatIsNotARegularFile) {
  EXPECT_THROW(read_file(folder_), InputError);
  EXPECT_THROW(read_file(folder_ + "/absent"), InputError);
  ASSERT_EQ(::mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  EXPECT_THROW(read_file(folder_ + "/pipe"), InputError) << "a pipe without a writer must not block";
}

TEST_F(Files, ThatAreMissingAreRefusedWithTheNearestName) {
  write_file(folder_ + "/model.onnx", "");
  const auto refusal = [](const std::string& path) -> std::string {
    try {
      read_file(path);
    } catch (const InputError& error) {
      return error.what();
    }
    return "read";
  };
  EXPECT_EQ(refusal(folder_ + "/modle.onnx"),
            folder_ + "/modle.onnx: cannot be read: No such file or directory (did you mean 'model.onnx'?)");
  EXPECT_EQ(refusal(folder_ + "/far-away"), folder_ + "/far-away: cannot be read: No such file or directory");
  EXPECT_EQ(refusal(folder_ + "/none/f"), folder_ + "/none/f: cannot be read: No such file or directory");
}

TEST_F(Files, RefuseMoreThanTheLimit) {
  write_file(folder_ + "/f", "12345");
  EXPECT_THROW(read_file(folder_ + "/f", 4), InputError);
}

TEST_F(Files, WritingIntoAMissingFolderNamesTheFile) {
  try {
    write_file(folder_ + "/no/such/f", "x");
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("/no/such/f"), std::string::npos);
  }
}

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const EnvironmentError& error) {
    return error.what();
  }
  return "";
}

TEST_F(Files, WritingWhereALinkPointsKeepsTheLink) {
  namespace fs = std::filesystem;
  make_folder(folder_ + "/deep");
  write_file(folder_ + "/deep/target", "old");
  fs::create_symlink("deep/target", folder_ + "/link");
  fs::create_symlink("link", folder_ + "/link to link");
  write_file(folder_ + "/link to link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ + "/link"));
  EXPECT_TRUE(fs::is_symlink(folder_ + "/link to link"));
  EXPECT_EQ(read_file(folder_ + "/deep/target"), "new");

  fs::create_symlink("deep/not yet", folder_ + "/dangling");
  write_file(folder_ + "/dangling", "made");
  EXPECT_TRUE(fs::is_symlink(folder_ + "/dangling"));
  EXPECT_EQ(read_file(folder_ + "/deep/not yet"), "made");

  fs::create_symlink("circle", folder_ + "/circle");
  EXPECT_NE(error_of([&] { write_file(folder_ + "/circle", "x"); }), "");
  EXPECT_TRUE(fs::is_symlink(folder_ + "/circle"));
}

TEST_F(Files, WritingReplacesTheWholeFileAtOnceAndKeepsItsPermissions) {
  const std::string file = folder_ + "/f";
  write_file(file, "old");
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  const int before = ::open(file.c_str(), O_RDONLY);
  ASSERT_GE(before, 0);
  write_file(file, "new");
  char old[3];
  EXPECT_EQ(::read(before, old, 3), 3);
  EXPECT_EQ(std::string(old, 3), "old") << "who has the old file open keeps it";
  ::close(before);
  struct stat info {};
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(Files, ASecondNameOutlivesTheFirst) {
  write_file(folder_ + "/first", "a");
  write_file(folder_ + "/second", "b");
  for (int twice = 0; twice < 2; ++twice) ASSERT_TRUE(add_name(folder_ + "/first", folder_ + "/second"));
  write_file(folder_ + "/first", "c");
  EXPECT_EQ(read_file(folder_ + "/second"), "a");
  EXPECT_FALSE(file_exists(folder_ + "/second.new"));
}

TEST_F(Files, WritingIntoAPipeLeavesAPipe) {
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  write_file(pipe, "through");
  char text[16];
  EXPECT_EQ(::read(reader, text, sizeof text), 7);
  EXPECT_EQ(std::string(text, 7), "through");
  ::close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_FALSE(file_exists(pipe + ".writing"));

  std::filesystem::create_symlink("pipe", folder_ + "/link");
  const int again = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  write_file(folder_ + "/link", "x");
  EXPECT_EQ(::read(again, text, sizeof text), 1);
  ::close(again);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST_F(Files, WritingIntoAPipeWhoseReaderHasClosedItFails) {
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  FileWriter file(pipe);
  ::close(reader);
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  EXPECT_NE(error_of([&] { file.write("x"); }).find("/pipe: cannot be written: Broken pipe"), std::string::npos);
  ::signal(SIGPIPE, before);
}

TEST_F(Files, WritingBeyondWhatThereIsRoomForFailsAndKeepsTheOldFile) {
  const std::string file = folder_ + "/f";
  write_file(file, "old");
  rlimit all{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &all), 0);
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit few{4096, all.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &few), 0);
  const std::string error = error_of([&] { write_file(file, std::string(5000, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &all);
  ::signal(SIGXFSZ, before);
  EXPECT_NE(error.find("/f: cannot be written: File too large"), std::string::npos) << error;
  EXPECT_EQ(read_file(file), "old");
  EXPECT_FALSE(file_exists(file + ".writing"));
}

TEST_F(Files, WritingToOurOwnOutputGoesThere) {
  // As `--trace /dev/stdout > FILE`: what was printed before and after stays.
  const std::string file = folder_ + "/output";
  const int saved = ::dup(STDOUT_FILENO);
  std::fflush(stdout);
  const int output = ::open(file.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(::dup2(output, STDOUT_FILENO), STDOUT_FILENO);
  EXPECT_EQ(::write(STDOUT_FILENO, "a", 1), 1);
  const std::string error = error_of([&] { write_file(file, "b"); });
  EXPECT_EQ(::write(STDOUT_FILENO, "c", 1), 1);
  ::dup2(saved, STDOUT_FILENO);
  ::close(saved);
  ::close(output);
  EXPECT_EQ(error, "");
  EXPECT_EQ(read_file(file), "abc");
}

TEST_F(Files, NothingStaysWhereWritingFails) {
  const std::string there = folder_ + "/there";
  make_folder(there);
  EXPECT_NE(error_of([&] { write_file(there, "x"); }).find("/there: cannot be written"), std::string::npos);
  EXPECT_FALSE(file_exists(there + ".writing"));

  // A folder at the temporary name is what the message names.
  make_folder(folder_ + "/out.writing");
  EXPECT_NE(error_of([&] {
              write_file(folder_ + "/out", "x");
            }).find("/out: cannot be written, because " + folder_ + "/out.writing is there"),
            std::string::npos);
  EXPECT_TRUE(file_exists(folder_ + "/out.writing"));
  EXPECT_FALSE(file_exists(folder_ + "/out"));

  // A folder that takes the place while the file is being written: the rename fails.
  FileWriter late(folder_ + "/late");
  late.write("x");
  make_folder(folder_ + "/late");
  EXPECT_NE(error_of([&] { late.finish(); }).find("/late: cannot be replaced"), std::string::npos);
  EXPECT_FALSE(file_exists(folder_ + "/late.writing"));

  write_file(folder_ + "/kept", "old");
  {
    FileWriter given_up(folder_ + "/kept");
    given_up.write("half of the n");
  }
  EXPECT_EQ(read_file(folder_ + "/kept"), "old");
  EXPECT_FALSE(file_exists(folder_ + "/kept.writing"));
}

}  // namespace
}  // namespace emplace::files_test
