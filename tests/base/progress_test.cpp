// What a progress line prints off a terminal.
#include "base/progress.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace emplace::progress_test {
namespace {

TEST(Progress, OffATerminalShowsNewPartsOfLongWorkAtOnceAndNothingOfShortWork) {
  ::testing::internal::CaptureStderr();
  {
    Progress progress(true);
    progress.begin_part(0, "the first");
    progress.update(0.1, "more of the first");
    std::this_thread::sleep_for(std::chrono::milliseconds(2050));
    progress.begin_part(0.25, "the second");
    progress.update(0.3, "more of the second");  // ten seconds have not passed
    progress.begin_part(0.5, "the third");
    Progress quiet(false);
    quiet.begin_part(0.5, "of a quiet program");
  }
  const std::string printed = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(printed.find("first"), std::string::npos) << printed;
  EXPECT_EQ(printed.find("more"), std::string::npos) << printed;
  EXPECT_EQ(printed.find("quiet"), std::string::npos) << printed;
  EXPECT_EQ(printed.find(" 25 %  the second"), 0U) << printed;
  EXPECT_NE(printed.find("\n 50 %  the third"), std::string::npos) << printed;
}

}  // namespace
}  // namespace emplace::progress_test
