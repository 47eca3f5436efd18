// scripts/transfer-table: one command trains a recipe's policy without each family of models and places that family
// with it.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::transfer_table_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TransferTable : public ::testing::Test {
 protected:
  Finished table(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"env", std::string("EMPLACE=") + EMPLACE_PROGRAM,
                                         std::string(EMPLACE_SOURCE) + "/scripts/transfer-table", out_});
    return run(arguments);
  }
  TemporaryFolder folder_;
  std::string out_ = folder_ / "table";
  const std::vector<std::string> small_ = {
      "--updates",      "2",
      "--samples",      "2",
      "--best-seconds", "0.1",
      "--recipe",       "gdp-pretrain+gdp.hidden=8+gdp.heads=2+groups=20+problems_per_update=1",
      "--tuning",       "gdp-finetune+gdp.hidden=8+gdp.heads=2+groups=20+updates=1+ppo.samples_per_update=16",
      "--alone",        "gdp+gdp.hidden=8+gdp.heads=2+groups=20+evaluations=32",
      "transformer-xl"};
};

TEST_F(TransferTable, HoldsEveryWayToPlaceWhatWasLeftOutAndRunsOnlyWhatIsMissing) {
  const auto done = table(small_);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("beats the expert or is within 10 % of a training there on "),
                              HasSubstr(" of 2 problems, the likeliest alone on ")));
  const std::string csv = read_file(out_ + "/transfer.csv");
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 2 * 7) << csv;
  for (const char* problem :
       {"zoo:transformer-xl?layers=2&training=true@p100x2", "zoo:transformer-xl?layers=4&training=true@p100x4"})
    for (const char* method :
         {"likeliest,1,", "sampled,1,", "fine-tuned,1,", "alone,1,", "single,-,", "expert,-,", "best,-,"})
      EXPECT_THAT(csv, HasSubstr(std::string("\ntransformer-xl,") + problem + "," + method));
  // The training has no problem of the family that is left out.
  const std::string trained = read_file(out_ + "/runs/without-transformer-xl/1/config.toml");
  EXPECT_THAT(trained, AllOf(HasSubstr("zoo:wavenet"), ::testing::Not(HasSubstr("zoo:transformer-xl"))));
  EXPECT_THAT(read_file(out_ + "/transfer.md"),
              HasSubstr("| transformer-xl | zoo:transformer-xl?layers=2&training=true@p100x2 | "));

  const auto again = table(small_);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.err, "") << "nothing was missing";
  EXPECT_EQ(read_file(out_ + "/transfer.csv"), csv);
}

TEST_F(TransferTable, LeavesOutTheTrainingAloneWhereItIsTold) {
  std::vector<std::string> without = small_;
  *std::ranges::find(without, "gdp+gdp.hidden=8+gdp.heads=2+groups=20+evaluations=32") = "none";
  const auto done = table(without);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(read_file(out_ + "/transfer.csv"),
              AllOf(HasSubstr(",fine-tuned,1,"), ::testing::Not(HasSubstr(",alone,"))));
  EXPECT_THAT(done.out, AllOf(HasSubstr("beats the expert on "), ::testing::Not(HasSubstr("within"))));
  EXPECT_THAT(read_file(out_ + "/transfer.md"), ::testing::ContainsRegex("\\| (yes|no) \\|  \\|\n"));
}

TEST_F(TransferTable, RefusesWhatItCannotDo) {
  EXPECT_EQ(run({std::string(EMPLACE_SOURCE) + "/scripts/transfer-table"}).exit_code, 2);
  EXPECT_THAT(table({"--samples", "0"}).err, HasSubstr("--samples needs a whole number above zero, got '0'"));
  EXPECT_THAT(table({"--recipe", "unknown"}).err, HasSubstr("there is no configs/recipes/unknown.toml"));
  EXPECT_THAT(table({"--tuning", "unknown"}).err, HasSubstr("there is no configs/recipes/unknown.toml"));
  EXPECT_THAT(table({"--recipe", "gdp"}).err, HasSubstr("has no list of problems"));
  EXPECT_THAT(table({"vgg"}).err, AllOf(HasSubstr("is of the family 'vgg'"), HasSubstr("but of: rnnlm gnmt")));
  EXPECT_THAT(table({"--ssamples", "1"}).err, HasSubstr("Usage"));
}

}  // namespace
}  // namespace emplace::test::transfer_table_test
