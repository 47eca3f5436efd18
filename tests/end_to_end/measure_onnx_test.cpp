// emplace-measure-onnx: placements run with ONNX Runtime, if its library is installed ($ONNXRUNTIME_LIBRARY).
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/end_to_end/small_onnx.hpp"
#include "tests/support/small_models.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::measure_onnx_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string program = std::string(EMPLACE_PROGRAM) + "-measure-onnx";

class MeasureOnnx : public ::testing::Test {
 protected:
  static void need_library() {
    if (std::getenv("ONNXRUNTIME_LIBRARY") == nullptr) GTEST_SKIP() << "needs $ONNXRUNTIME_LIBRARY";
  }
  std::string network(std::int64_t batch = 1) {
    write_file(folder_ / "network.onnx", small_network(batch));
    return folder_ / "network.onnx";
  }
  // A small model in a separate folder.
  std::string small_model() {
    make_folder(folder_ / "model");
    write_file(folder_ / "model/m.onnx", small_onnx());
    return folder_ / "model/m.onnx";
  }
  // The same with its weights in a second file.
  std::string model_in_two_files() {
    const std::string model = small_model();
    write_file(model, small_onnx("w.bin"));
    write_file(folder_ / "model/w.bin", std::string(16, 'w'));
    return model;
  }
  [[nodiscard]] std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
      names.insert(std::filesystem::relative(entry.path(), folder_.path()).string());
    return names;
  }
  TemporaryFolder folder_;
};

TEST_F(MeasureOnnx, SaysWhichLibraryItCannotLoadAndWhatIsNoList) {
  const auto none = run({program, "run", "model.onnx", "--library", folder_ / "none.so"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, ::testing::AllOf(HasSubstr("none.so"), HasSubstr("--library")));
  const auto no_file = run({program, "run"});
  EXPECT_EQ(no_file.exit_code, 2);
  EXPECT_THAT(no_file.err, ::testing::AllOf(::testing::StartsWith("error: "), HasSubstr("file")));
  EXPECT_THAT(run({program, "--help"}).out, ::testing::AllOf(HasSubstr("profile"), HasSubstr("optimize")));
  EXPECT_EQ(run({program, "--version"}).out, emplace_run({"--version"}).out);
}

TEST_F(MeasureOnnx, ReplacesNoFileOfTheModel) {
  need_library();
  if (IsSkipped()) return;
  const std::string model = model_in_two_files(), link = folder_ / "link";
  std::filesystem::create_symlink(model, link);
  const auto before = files();
  for (const std::string command : {"optimize", "profile"})
    for (const std::string& output : {model, link, folder_ / "model/w.bin"}) {
      const auto refused = run({program, command, model, "-o", output});
      EXPECT_EQ(refused.exit_code, 2) << command << output;
      EXPECT_THAT(refused.err, AllOf(StartsWith("error: " + output), HasSubstr("would be lost"))) << command;
    }
  const auto elsewhere = run({program, "optimize", model, "-o", folder_ / "o.onnx"});
  EXPECT_EQ(elsewhere.exit_code, 2) << "it would name weights that are not there";
  EXPECT_THAT(elsewhere.err, HasSubstr("o.onnx: should be in the folder of"));
  EXPECT_EQ(run({program, "optimize", model, "-o", folder_ / "model/o.onnx"}).exit_code, 0);
  std::filesystem::remove(folder_ / "model/o.onnx");
  EXPECT_EQ(read_file(model), small_onnx("w.bin"));
  EXPECT_EQ(read_file(folder_ / "model/w.bin"), std::string(16, 'w'));
  EXPECT_EQ(files(), before);
}

TEST_F(MeasureOnnx, OutputsThatCannotBeWrittenAreNamedAndLeaveNothing) {
  need_library();
  if (IsSkipped()) return;
  const std::string model = small_model();
  make_folder(folder_ / "folder");
  const auto before = files();
  for (const std::string command : {"optimize", "profile"}) {
    for (const std::string& output : {folder_ / "folder", folder_ / "none/x", folder_ / "model/m.onnx/x"}) {
      const auto failed = run({program, command, model, "-o", output});
      EXPECT_EQ(failed.exit_code, 1) << command << failed.err;
      EXPECT_THAT(failed.err, StartsWith("error: " + output + ": cannot be written: ")) << command;
    }
    const auto limited =
        run({"sh", "-c", "ulimit -f 0; exec \"$@\"", "sh", program, command, model, "-o", folder_ / "x"});
    EXPECT_EQ(limited.exit_code, 1) << command;
    EXPECT_THAT(limited.err, AllOf(StartsWith("error: "), HasSubstr("cannot be written"))) << command;
    EXPECT_EQ(files(), before) << command;
  }
}

TEST_F(MeasureOnnx, OutputsFollowLinksAndGoToDevicesAndPipes) {
  need_library();
  if (IsSkipped()) return;
  const std::string model = small_model(), link = folder_ / "link", pipe = folder_ / "pipe", device = folder_ / "full";
  std::filesystem::create_symlink("behind", link);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const bool has_device =
      ::mknod(device.c_str(), S_IFCHR | 0600, ::makedev(1, 7)) == 0 && ::access(device.c_str(), W_OK) == 0;
  for (const std::string command : {"optimize", "profile"}) {
    const auto linked = run({program, command, model, "-o", link});
    EXPECT_EQ(linked.exit_code, 0) << linked.err;
    EXPECT_TRUE(std::filesystem::is_symlink(link)) << command;
    EXPECT_THAT(read_file(folder_ / "behind"), HasSubstr("add")) << command;
    const auto piped = run({"sh", "-c", "cat \"$0\" & \"$@\"; wait", pipe, program, command, model, "-o", pipe});
    EXPECT_THAT(piped.out, HasSubstr("add")) << command << piped.err;
    EXPECT_TRUE(std::filesystem::is_fifo(pipe)) << command;
    if (!has_device) continue;
    const auto full = run({program, command, model, "-o", device});
    EXPECT_EQ(full.exit_code, 1) << command;
    EXPECT_THAT(full.err, StartsWith("error: " + device + ": cannot be written: ")) << command;
    EXPECT_TRUE(std::filesystem::is_character_file(device)) << command;
  }
}

// ONNX Runtime 1.30 begins its telemetry when it is loaded.
TEST_F(MeasureOnnx, LeavesNothingOfONNXRuntimesTelemetry) {
  need_library();
  if (IsSkipped()) return;
  const std::string model = small_model(), home = folder_ / "home";
  make_folder(home);
  const auto done = run({"env", "-u", "XDG_CACHE_HOME", "HOME=" + home, "TMPDIR=" + home, "sh", "-c",
                         "echo $$; exec \"$@\" >&2", "sh", program, "run", model, "--runs", "1"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(std::filesystem::is_empty(home)) << ::testing::PrintToString(files());
  const std::string pid = done.out.substr(0, done.out.find('\n'));
  EXPECT_FALSE(file_exists("/tmp/mat-debug-" + pid + ".log"));
}

TEST_F(MeasureOnnx, ProfilesOpsThatCostReadsAndRunsAPlacementOnTwoCores) {
  need_library();
  if (IsSkipped()) return;
  const std::string model = folder_ / "model.onnx", profile = folder_ / "profile.json",
                    problem = folder_ / "problem.json";
  ASSERT_EQ(run({program, "optimize", network(), "-o", model}).exit_code, 0);
  const auto onto_itself = run({program, "optimize", model, "-o", model});
  EXPECT_EQ(onto_itself.exit_code, 2);
  EXPECT_THAT(onto_itself.err, HasSubstr("would be lost"));
  ASSERT_EQ(run({program, "profile", model, "-o", profile, "--runs", "5"}).exit_code, 0);
  const auto cost = emplace_run(
      {"cost", model, "cores-x2", "--profile", profile, "--profile-device", "cpu", "-o", problem, "--json"});
  ASSERT_EQ(cost.exit_code, 0) << cost.err;
  EXPECT_THAT(cost.err, Not(HasSubstr("unmatched")));
  ASSERT_EQ(emplace_run({"place", "round-robin", problem, "-o", folder_ / "p.json"}).exit_code, 0);
  const auto measured = run({"sh", "-c",
                             "EMPLACE='" EMPLACE_PROGRAM "' " EMPLACE_SOURCE "/launch/measure-onnx '" + model +
                                 "' --runs 3 < " + (folder_ / "p.json")});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  const json result = json::parse(measured.out);
  EXPECT_GT(result["seconds"], 0);
  EXPECT_LE(result["least"], result["seconds"]);
  EXPECT_EQ(result["runs"], 3);
  EXPECT_THAT(result["devices"], ElementsAre("cpu:0", "cpu:1"));
}

TEST_F(MeasureOnnx, SaysWhichOpenSizesItTookAsOne) {
  need_library();
  if (IsSkipped()) return;
  const std::string model = network(0);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{program, "run", model, "--runs", "1"},
        std::vector<std::string>{program, "profile", model, "--runs", "1", "-o", folder_ / "profile.json"}}) {
    const auto done = run(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr("sizes of the input 'x' that the model does not fix are taken as 1"));
  }
}

TEST_F(MeasureOnnx, RefusesMoreDevicesThanCoresAndSizesOfNoInput) {
  need_library();
  if (IsSkipped()) return;
  json list = {{"emplace", "segments/1"}, {"segments", json::array()}};
  for (int device = 0; device < 300; ++device)
    list["segments"].push_back(
        {{"file", "x.onnx"}, {"device", "cpu:" + std::to_string(device)}, {"inputs", {"x"}}, {"outputs", {"y"}}});
  write_file(folder_ / "many.json", list.dump());
  const auto many = run({program, "run", folder_ / "many.json"});
  EXPECT_EQ(many.exit_code, 2);
  EXPECT_THAT(many.err, HasSubstr("cores"));
  const auto missing = run({program, "run", folder_ / "none.onnx"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("none.onnx"));
  write_file(folder_ / "bad.onnx", "no model");
  const auto bad = run({program, "run", folder_ / "bad.onnx"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_EQ(std::count(bad.err.begin(), bad.err.end(), '\n'), 1) << bad.err;
  const auto size = run({program, "run", network(), "--shape", "nothing=1"});
  EXPECT_EQ(size.exit_code, 2);
  EXPECT_THAT(size.err, HasSubstr("'nothing'"));
}

}  // namespace
}  // namespace emplace::test::measure_onnx_test
