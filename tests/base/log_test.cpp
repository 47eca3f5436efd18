#include "base/log.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::log_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LogFile : public ::testing::Test {
 protected:
  LogFile() { log::configure(log::Level::off, false); }
  ~LogFile() override {
    log::to_file("");
    log::configure(log::Level::info, false);
  }
  test::TemporaryFolder folder_;
};

TEST_F(LogFile, HasTheMessagesUntilItIsClosed) {
  log::to_file(folder_ / "log.txt");
  log_info("the first");
  log::to_file("");
  log_info("the second");
  EXPECT_THAT(read_file(folder_ / "log.txt"), HasSubstr("the first"));
  EXPECT_THAT(read_file(folder_ / "log.txt"), Not(HasSubstr("the second")));
}

TEST_F(LogFile, IsOpenedAndClosedWhileOtherThreadsWrite) {
  std::atomic<bool> ends = false;
  std::atomic<std::size_t> written = 0;
  std::vector<std::thread> writers;
  for (int i = 0; i < 3; ++i)
    writers.emplace_back([&] {
      for (; !ends; ++written) log_info("a message");
    });
  while (written == 0) std::this_thread::yield();
  for (int i = 0; i < 500; ++i) {
    log::to_file(folder_ / "log.txt");
    log::to_file("");
  }
  ends = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_GT(written, 0U);
}

TEST_F(LogFile, HasEachMessageThatStandardErrorGetsOnce) {
  ::testing::internal::CaptureStderr();
  log::configure(log::Level::info, false);
  for (const char* run : {"1.txt", "2.txt"}) {
    log::to_file(folder_ / run);
    log::write_once(log::Level::warning, "said of every run");
    EXPECT_THAT(read_file(folder_ / run), HasSubstr("said of every run"));
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "warning: said of every run\n");
}

}  // namespace
}  // namespace emplace::log_test
