// emplace doctor, as its users call it.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::doctor_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

json check_of(const json& result, const std::string& name) {
  for (const json& check : result["checks"])
    if (check["name"] == name) return check;
  return {};
}

TEST(Doctor, FindsWhatIsNeededHere) {
  const Finished done = emplace_run({"doctor", "--json"});
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_EQ(done.err, "");
  const json result = json::parse(done.out);
  EXPECT_EQ(result["works"], true);
  for (const char* name : {"program", "clock", "checkpoints", "MPI alone", "mpirun", "HDF5"})
    EXPECT_EQ(check_of(result, name).value("status", ""), "ok") << name << done.out;
  const Finished text = emplace_run({"doctor"});
  EXPECT_THAT(text.out, AllOf(HasSubstr("checkpoints"), HasSubstr("all that is needed works")));
}

TEST(Doctor, SaysOfWhatIsMissingWhetherItIsNeeded) {
  const Finished done = run({"env", "PATH=/nowhere", EMPLACE_PROGRAM, "doctor", "--json"});
  const json result = json::parse(done.out), batch = check_of(result, "batch system");
  EXPECT_EQ(batch["status"], "ok");
  EXPECT_EQ(batch["says"], "none found, and none is needed: launch/slurm and launch/pbs are for machines with one");
  const json mpirun = check_of(result, "mpirun");
  EXPECT_EQ(mpirun["status"], "warning");
  EXPECT_EQ(mpirun["says"], "not found: install it (Debian: openmpi-bin) to use more than one process");
}

// TMPDIR is below a file, because Open MPI would make a folder that is only missing.
TEST(Doctor, EndsWithOneWhereNothingCanBeWritten) {
  const Finished done = run({"env", "TMPDIR=/dev/null/none", EMPLACE_PROGRAM, "doctor", "--json"});
  EXPECT_EQ(done.exit_code, 1) << done.out << done.err;
  const json result = json::parse(done.out);
  EXPECT_EQ(result["works"], false);
  EXPECT_EQ(check_of(result, "temporary files")["status"], "failure");
  EXPECT_EQ(check_of(result, "temporary files")["says"],
            "/dev/null/none, where temporary files are written, is no folder: choose another TMPDIR");
}

// Ends with exit code 1, not by SIGXFSZ.
TEST(Doctor, EndsWithOneWhereFilesMayNotBeLarge) {
  const Finished done = run({"sh", "-c", "ulimit -f 10; exec \"$0\" doctor --json", EMPLACE_PROGRAM});
  ASSERT_EQ(done.exit_code, 1) << done.out << done.err;
  const json checkpoints = check_of(json::parse(done.out), "checkpoints");
  EXPECT_EQ(checkpoints["status"], "failure");
  EXPECT_THAT(checkpoints["says"].get<std::string>(), HasSubstr("File too large"));
}

class DoctorUnderMpirun : public ::testing::TestWithParam<int> {};

TEST_P(DoctorUnderMpirun, MeasuresMessagesToEachRank) {
  const int ranks = GetParam();
  const Finished done = emplace_run(ranks, {"doctor", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.out << done.err;
  const json result = json::parse(done.out);
  ASSERT_EQ(result["ranks"].size(), static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const json& report = result["ranks"][static_cast<std::size_t>(rank)];
    EXPECT_EQ(report["rank"], rank);
    EXPECT_EQ(report["host"], result["ranks"][0]["host"]);
    EXPECT_FALSE(report["cores"].empty());
    if (rank == 0) continue;
    EXPECT_GT(report["round_trip_s"].get<double>(), 0);
    EXPECT_LT(report["round_trip_s"].get<double>(), 60) << "in seconds";
    EXPECT_GT(report["bytes_per_s"].get<double>(), 0);
  }
  const json host = check_of(result, "host " + result["ranks"][0]["host"].get<std::string>());
  std::set<int> cores;
  for (const json& report : result["ranks"]) cores.insert(report["cores"].begin(), report["cores"].end());
  const bool too_many = static_cast<std::size_t>(ranks) > cores.size() + 1;
  EXPECT_EQ(host.value("status", ""), too_many ? "warning" : "ok") << done.out;
}

INSTANTIATE_TEST_SUITE_P(Ranks, DoctorUnderMpirun, ::testing::Values(1, 2, 3, 4));

TEST(Doctor, NamesInputsOfARecipeThatChangeNothing) {
  const Finished done = emplace_run({"doctor", "configs/recipes/quickstart.toml", "graph=" + small_training,
                                     "post.samples_per_update=5", "groups=8", "--updates", "2", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.out << done.err;
  const json result = json::parse(done.out);
  EXPECT_EQ(result["repeatable"], true);
  std::map<std::string, std::string> effect;
  for (const json& key : result["keys"]) effect[key["key"]] = key["effect"];
  EXPECT_EQ(effect["post.clip_ratio"], "changes nothing");
  EXPECT_EQ(effect["seed"], "changes the outcome");
  EXPECT_EQ(effect["threads"], "changes nothing, as it should");
  EXPECT_EQ(effect["policy"], "not tried");
  for (const char* seconds : {"nan", "inf", "0"})
    EXPECT_EQ(emplace_run({"doctor", "--seconds", seconds}).exit_code, 2) << seconds;
  const Finished unknown = emplace_run({"doctor", "configs/recipes/quickstart.toml", "post.clip_ration=1"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("clip_ratio"));
}

TEST(Doctor, SaysWhatItHadNoTimeForInWholeSentences) {
  const Finished done = emplace_run(
      {"doctor", "configs/recipes/quickstart.toml", "graph=" + small_training, "--updates", "1", "--seconds", "0.001"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const std::string devices = "op seconds x 2: was not tried for cpu:0, gpu:0, gpu:1: half of the 0.001 s were over\n";
  EXPECT_THAT(done.out, AllOf(HasSubstr(devices), HasSubstr(": the 0.001 s were over\n")));
}

TEST(Doctor, EndsEarlyOnRequest) {
  const Finished done = run({"timeout", "--preserve-status", "-s", "INT", "4", EMPLACE_PROGRAM, "doctor",
                             "configs/recipes/gdp-published.toml", "problem=" + small_training + "@k40x2", "--updates",
                             "100000", "--seconds", "100000", "--json"});
  EXPECT_EQ(done.exit_code, 75) << done.err;
  EXPECT_TRUE(json::parse(done.out)["keys"].empty());
}

}  // namespace
}  // namespace emplace::test::doctor_test
