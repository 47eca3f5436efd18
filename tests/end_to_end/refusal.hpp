// Checks how the program refuses bad input: exit code 2, one sentence on standard error, nothing on standard output.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/end_to_end/program.hpp"

namespace emplace::test {

inline void expect_refused(const std::vector<std::string>& arguments, const ::testing::Matcher<std::string>& message) {
  const auto done = emplace_run(arguments);
  EXPECT_EQ(done.exit_code, 2) << done.err;
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << "one sentence: " << done.err;
  EXPECT_THAT(done.err, ::testing::AllOf(::testing::StartsWith("error: "), message));
}

// The same for a message in which all of these parts occur.
inline void expect_refused_naming(const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
  std::vector<::testing::Matcher<std::string>> matchers;
  for (const std::string& part : parts) matchers.push_back(::testing::HasSubstr(part));
  expect_refused(arguments, ::testing::AllOfArray(matchers));
}

}  // namespace emplace::test
