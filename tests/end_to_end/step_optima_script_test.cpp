// scripts/step-optima: published optimal steps against what best finds.
#include <gmock/gmock.h>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::step_optima_script_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(StepOptimaScript, TellsOptimaFromOthersAndRefutesWhatNoScheduleReaches) {
  // A chain of 3 and 4 takes 7 on any processors: 6, published for the second, is out of reach.
  const TemporaryFolder folder;
  const std::string file = folder / "graphs.json";
  std::string text;
  for (const auto& [name, optimal] : {std::pair{"right", 7}, std::pair{"below", 6}})
    text += std::string(text.empty() ? "[\n" : ",\n") + R"({"name":")" + name + R"(","processors":2,"optimal":)" +
            std::to_string(optimal) + R"(,"weights":[3,4],"edges":[[0,1,5]]})";
  write_file(file, text + "\n]\n");
  const auto table = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"env", std::string("EMPLACE=") + EMPLACE_PROGRAM,
                                          std::string(EMPLACE_SOURCE) + "/scripts/step-optima"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run(arguments);
  };
  const auto done = table({"--seconds", "0.5", file});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("#below: 7, and nothing below 7, where 6 was published\n"));
  EXPECT_THAT(done.out, HasSubstr(": of 1 instances 1 equal the optimum (100.0 %), 1 are within 1 %"));
  EXPECT_THAT(done.out,
              HasSubstr("1 published values are below a certified bound; 1 of these steps are proved optimal"));
  EXPECT_THAT(table({"--every", "2", file}).out, Not(HasSubstr("below:"))) << "every second from the first on";

  EXPECT_EQ(table({}).exit_code, 2);
  EXPECT_EQ(table({"--seconds", "x", file}).exit_code, 2);
  write_file(file, "[]\n");
  EXPECT_THAT(table({file}).err, HasSubstr("has no instances with an optimum"));
}

}  // namespace
}  // namespace emplace::test::step_optima_script_test
