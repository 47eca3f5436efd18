// scripts/measured-table: from models to predicted and measured times, where ONNX Runtime's library is here.
#include <gmock/gmock.h>

#include <algorithm>

#include "emplace/base/files.hpp"
#include "program.hpp"
#include "support/temporary_folder.hpp"

namespace emplace::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class MeasuredTable : public testing::Test {
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
  const std::string model = "../shared/models/onnx-light/light_squeezenet.onnx";
  if (std::getenv("ONNXRUNTIME_LIBRARY") == nullptr) GTEST_SKIP() << "needs $ONNXRUNTIME_LIBRARY";
  if (!file_exists(model)) GTEST_SKIP() << "no model file here";
  write_file(folder_ / "bad.onnx", "no model");
  const std::vector<std::string> command = {
      out_, model, folder_ / "bad.onnx", "--runs", "3", "--best-seconds", "1", "--evaluations", "200"};
  const auto done = table(command);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("| light_squeezenet | "), HasSubstr("placements of `best`: "),
                              HasSubstr("not run: bad: ")));
  const std::string csv = read_file(out_ + "/measured.csv");
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 3) << csv;
  for (const char* method : {"one-core", "best", "learned"})
    EXPECT_THAT(csv,
                testing::ContainsRegex(std::string("light_squeezenet,") + method + ",0\\.[0-9]+,[0-9.e-]+,[0-9]+\n"));
  const auto again = table(command);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read_file(out_ + "/measured.csv"), csv) << "nothing was missing";
}

TEST_F(MeasuredTable, RefusesWhatItCannotDo) {
  EXPECT_THAT(table({out_}).err, HasSubstr("Usage"));
  EXPECT_EQ(table({out_}).exit_code, 2);
  const auto refused = run({"env", "-u", "ONNXRUNTIME_LIBRARY", std::string("EMPLACE=") + EMPLACE_PROGRAM,
                            std::string(EMPLACE_SOURCE) + "/scripts/measured-table", out_, "m.onnx"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("ONNXRUNTIME_LIBRARY"));
}

}  // namespace
}  // namespace emplace::test
