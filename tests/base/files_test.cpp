#include "emplace/base/files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "emplace/base/error.hpp"

namespace emplace {
namespace {

class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / ("emplace-files-" + std::to_string(::getpid()) + "-" +
                                                         testing::UnitTest::GetInstance()->current_test_info()->name()))
                  .string();
    make_folder(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(Files, ReadBackWhatWasWritten) {
  const std::string content("a\0b\n", 4);
  write_file(folder_ + "/f", content);
  EXPECT_EQ(read_file(folder_ + "/f"), content);
  write_file(folder_ + "/f", "");
  EXPECT_EQ(read_file(folder_ + "/f"), "");
  EXPECT_FALSE(file_exists(folder_ + "/f.writing")) << "no temporary file stays";
}

TEST_F(Files, RefuseWhatIsNotARegularFile) {
  EXPECT_THROW(read_file(folder_), InputError);
  EXPECT_THROW(read_file(folder_ + "/absent"), InputError);
  ASSERT_EQ(::mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  EXPECT_THROW(read_file(folder_ + "/pipe"), InputError) << "a pipe without a writer must not block";
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

}  // namespace
}  // namespace emplace
