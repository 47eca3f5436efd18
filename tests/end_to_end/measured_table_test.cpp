// scripts/measured-table: from models to predicted and measured times, if ONNX Runtime's library is installed.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/end_to_end/small_onnx.hpp"
#include "tests/support/small_models.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::measured_table_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class MeasuredTable : public ::testing::Test {
 protected:
  Finished table(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"env", std::string("EMPLACE=") + EMPLACE_PROGRAM,
                                         std::string(EMPLACE_SOURCE) + "/scripts/measured-table"});
    return run(arguments);
  }
  TemporaryFolder folder_;
  std::string out_ = folder_ / "table";
};

TEST_F(MeasuredTable, HasEveryPlacementOfWhatRunsAndNamesTheRest) {
  if (std::getenv("ONNXRUNTIME_LIBRARY") == nullptr) GTEST_SKIP() << "needs $ONNXRUNTIME_LIBRARY";
  write_file(folder_ / "network.onnx", small_network());
  write_file(folder_ / "bad.onnx", "no model");
  const std::vector<std::string> command = {"onnxruntime",
                                            out_,
                                            folder_ / "network.onnx",
                                            folder_ / "bad.onnx",
                                            "--runs",
                                            "3",
                                            "--rounds",
                                            "2",
                                            "--best-seconds",
                                            "1",
                                            "--evaluations",
                                            "200"};
  const auto done = table(command);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out,
              AllOf(HasSubstr("| network | "), HasSubstr("| median error, % | "), HasSubstr("not run: bad: ")));
  const std::string csv = read_file(out_ + "/measured.csv");
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 6) << csv;
  for (const char* method : {"one-core", "best", "learned", "heft", "contiguous", "random"})
    EXPECT_THAT(
        csv, ::testing::ContainsRegex(std::string("network,") + method + ",[0-9][0-9.e-]*,[0-9.e-]+,[0-9]+,[0-9.]+\n"));
  const auto again = table(command);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read_file(out_ + "/measured.csv"), csv) << "nothing was missing";
}

// The real programs, except that one model does not run with any placement.
TEST_F(MeasuredTable, GoesOnWithTheOthersWhereOneFailsAndTriesItAgain) {
  if (std::getenv("ONNXRUNTIME_LIBRARY") == nullptr) GTEST_SKIP() << "needs $ONNXRUNTIME_LIBRARY";
  for (const char* name : {"large", "small"}) write_file(folder_ / name + ".onnx", small_onnx());
  std::filesystem::create_symlink(EMPLACE_PROGRAM, folder_ / "emplace");
  const std::string measure = folder_ / "emplace-measure-onnx";
  write_file(measure,
             "#!/bin/sh\ncase \"$*\" in run*/large/*) echo 'a note' >&2; echo 'error: too large' >&2; exit 1 ;; "
             "esac\nexec '" EMPLACE_PROGRAM "-measure-onnx' \"$@\"\n");
  std::filesystem::permissions(measure, std::filesystem::perms::owner_all);
  const auto made = [&](const std::string& program) {
    return run({"env", "EMPLACE=" + program, std::string(EMPLACE_SOURCE) + "/scripts/measured-table", "onnxruntime",
                out_, folder_ / "large.onnx", folder_ / "small.onnx", "--runs", "1", "--rounds", "1", "--best-seconds",
                "0.1", "--evaluations", "50"});
  };
  const auto done = made(folder_ / "emplace");
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("\nnot run: large: too large\n"));
  const std::string csv = read_file(out_ + "/measured.csv");
  for (const char* row : {"small,one-core,", "small,best,", "small,learned,"}) EXPECT_THAT(csv, HasSubstr(row));
  EXPECT_THAT(csv, Not(HasSubstr("large,")));
  const auto again = made(EMPLACE_PROGRAM);
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, Not(HasSubstr("not run")));
  EXPECT_THAT(read_file(out_ + "/measured.csv"), AllOf(::testing::StartsWith(csv), HasSubstr("large,learned,")));
}

TEST_F(MeasuredTable, RefusesWhatItCannotDo) {
  EXPECT_THAT(table({"onnxruntime", out_}).err, HasSubstr("usage"));
  EXPECT_EQ(table({"onnxruntime", out_}).exit_code, 2);
  const auto refused = table({"openvino", out_, "m.xml", "--recipe", "none"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("there is no configs/recipes/none.toml"));
}

}  // namespace
}  // namespace emplace::test::measured_table_test
