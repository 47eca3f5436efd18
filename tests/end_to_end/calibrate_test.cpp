// `cost --profile` and `calibrate` from the command line.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/end_to_end/refusal.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/small_models.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::calibrate_test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

const std::string models = outside_file("models/onnx-graph-only/");
const std::string profiles = outside_file("profiles/");

class Calibrate : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    write_file(folder_ / name, text);
    return folder_ / name;
  }
  // The CPU's part of the output of `cost`, given the times of single ops and those of a fused run.
  Json cpu_cost(const std::string& model, const std::string& machine, const std::string& ops, const std::string& run,
                const std::vector<std::string>& more) {
    std::vector<std::string> command = {"cost", model, machine};
    for (const std::string& profile : {ops, run})
      command.insert(command.end(), {"--profile", profile, "--profile-device", "cpu:0"});
    command.insert(command.end(), {"--json", "-o", folder_ / "p.json"});
    command.insert(command.end(), more.begin(), more.end());
    const auto done = emplace_run(command);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return Json::parse(done.out)["devices"][0];
  }
  TemporaryFolder folder_;
  const std::string resnet = "zoo:resnet-50?batch=1";
};

// A profile that agrees with the estimate: some ops of the model with the estimated times of the laptop's CPU.
TEST_F(Calibrate, AProfileReplacesEstimatesAndTheReportSaysHowMuch) {
  const std::string problem = folder_ / "p.json";
  ASSERT_EQ(emplace_run({"cost", resnet, "laptop", "-o", problem}).exit_code, 0);
  const Json before = Json::parse(read_file(problem));
  const std::string first = before["ops"][0]["name"], second = before["ops"][1]["name"];
  const std::string table =
      file("t.csv", "op,cpu:0 (ms),gpu\n" + first + ",7,0.25\n" + second + ",,0.5\nghost,1,0.1\n");
  const auto done = emplace_run({"cost", resnet, "laptop", "--profile", table, "-o", problem, "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("2 of 5 times are of no op of the graph: 'ghost'"));
  const Json report = Json::parse(done.out);
  EXPECT_EQ(report["devices"][0]["measured_ops"], 1);
  EXPECT_EQ(report["devices"][0]["measured_seconds"], 0.007);
  EXPECT_EQ(report["devices"][1]["measured_ops"], 2);
  EXPECT_EQ(report["devices"][1]["measured_seconds"], 0.75);
  EXPECT_EQ(report["profiles"][0]["used"], 3);
  EXPECT_EQ(report["profiles"][0]["unmatched"], Json({"ghost"}));
  const Json after = Json::parse(read_file(problem));
  EXPECT_EQ(after["ops"][0]["seconds"], Json({0.007, 0.25}));
  EXPECT_EQ(after["ops"][2]["seconds"], before["ops"][2]["seconds"]);
}

TEST_F(Calibrate, WritesAMachineThatCostsReadsTheSameBytesEachTime) {
  const std::string problem = folder_ / "p.json";
  ASSERT_EQ(emplace_run({"cost", resnet, "k40x2", "-o", problem}).exit_code, 0);
  // Every op at 3 us and twice the time that the estimate gives for the GPU.
  std::string table = "node\top\tmin_us\n";
  const Json costed = Json::parse(read_file(problem));
  for (const Json& op : costed["ops"])
    table += op["name"].get<std::string>() + "\t\t" + std::to_string(3 + 2e6 * op["seconds"][1].get<double>()) + "\n";
  const std::string profile = file("times.tsv", table), machine = folder_ / "mine.toml";
  const std::vector<std::string> command = {"calibrate", "k40x2", "--device", "gpu:1", resnet + "=" + profile,
                                            "-o",        machine};
  const auto done = emplace_run(command);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("convolution"));
  EXPECT_THAT(done.out, HasSubstr("the error on unseen models cannot be estimated"));
  const std::string text = read_file(machine);
  EXPECT_THAT(text, HasSubstr("#     emplace calibrate k40x2 --device gpu:1 " + resnet + "=" + profile));
  ASSERT_EQ(emplace_run(command).exit_code, 0);
  EXPECT_EQ(read_file(machine), text);

  const auto cost =
      emplace_run({"cost", resnet, machine, "--profile", profile, "--profile-device", "cpu", "-o", problem, "--json"});
  ASSERT_EQ(cost.exit_code, 0) << cost.err;
  const Json devices = Json::parse(cost.out)["devices"];
  // gpu:0 is of the same [[device]]; the profile is now that of the CPU, so that the output has both.
  const double measured = devices[0]["seconds"], fitted = devices[1]["seconds"];
  EXPECT_NEAR(fitted / measured, 1, 0.1);
  EXPECT_EQ(devices[2]["seconds"], fitted);
}

// The laptop is fitted to the times that the estimate gives for another machine's CPU.
TEST_F(Calibrate, PredictsTwoModelsFromEachOther) {
  const std::string problem = folder_ / "p.json", inception = "zoo:inception-v3?batch=1";
  std::vector<std::string> command = {"calibrate", "laptop", "--device", "cpu:0"};
  for (const std::string& model : {resnet, inception}) {
    ASSERT_EQ(emplace_run({"cost", model, "k40x2", "-o", problem}).exit_code, 0);
    std::string table = "node\top\tmin_us\n";
    const Json costed = Json::parse(read_file(problem));
    for (const Json& op : costed["ops"])
      table += op["name"].get<std::string>() + "\t\t" + std::to_string(1e6 * op["seconds"][0].get<double>()) + "\n";
    command.push_back(model + "=" + file(model == resnet ? "r.tsv" : "i.tsv", table));
  }
  command.insert(command.end(), {"-o", folder_ / "m.toml", "--json"});
  const auto done = emplace_run(command);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const Json json = Json::parse(done.out);
  EXPECT_LT(json["left_out_error"].get<double>(), 0.1);
  ASSERT_EQ(json["left_out"].size(), 2U);
  for (const Json& model : json["left_out"]) EXPECT_GT(model["spearman"].get<double>(), 0.95) << model;
  for (const Json& entry : json["classes"]) EXPECT_GT(entry["ops"].get<int>(), 0);
}

TEST_F(Calibrate, PredictsTheModelsOfSharedFromEachOther) {
  REQUIRE_OUTSIDE_FILE(profiles + "README.md");
  const auto pair = [](const std::string& model) {
    return models + model + ".onnx=" + profiles + model + "_opt0_t1.tsv";
  };
  const auto done = emplace_run({"calibrate", "laptop", "--device", "cpu:0", pair("resnet50_tv"),
                                 pair("inception_v3_tv"), "-o", folder_ / "m.toml", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const Json json = Json::parse(done.out);
  EXPECT_LT(json["left_out_error"].get<double>(), 0.1);
  for (const Json& model : json["left_out"]) EXPECT_GT(model["spearman"].get<double>(), 0.95) << model;
  for (const Json& entry : json["classes"]) EXPECT_GT(entry["ops"].get<int>(), 0);
}

TEST_F(Calibrate, SetsOpsOneByOneAndFusedRunsBesideWhatWasMeasured) {
  const std::string model = file("network.onnx", small_network()), machine = folder_ / "m.toml";
  ASSERT_EQ(emplace_run({"cost", model, "laptop", "-o", folder_ / "p.json"}).exit_code, 0);
  const Json costed = Json::parse(read_file(folder_ / "p.json"));
  ASSERT_EQ(costed["ops"].size(), SmallNetwork::ops);
  // Each op takes 100 us, each kernel 90 us: one kernel for each op, but a convolution and its activation share one.
  std::string op_rows = "node\top\tmin_us\n", kernel_rows = op_rows;
  for (const Json& op : costed["ops"]) {
    const auto name = op["name"].get<std::string>();
    op_rows += name + "\t\t100\n";
    if (op["type"] != "Conv") kernel_rows += name + ":0\t\t90\n";
  }
  const std::string ops = file("ops.tsv", op_rows + "dropout\t\t7\nghost\t\t5\n");
  const std::string run = file("run.tsv", kernel_rows + "reorder\t\t3\n");
  const auto fitted = emplace_run(
      {"calibrate", "laptop", "--device", "cpu:0", model + "=" + ops, "--fused", model + "=" + run, "-o", machine});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  EXPECT_THAT(fitted.out, HasSubstr("fused_speedup: convolution "));
  EXPECT_THAT(read_file(machine), HasSubstr("# a fused run of " + model + ": 1.173 ms measured, "));

  const auto cost = [&](const std::vector<std::string>& more) { return cpu_cost(model, machine, ops, run, more); };
  // 21 ops, a Dropout that is folded away, and a row that matches no op; 13 kernels and a row that matches none.
  for (const Json& cpu : {cost({}), cost({"--fuse"})}) {
    EXPECT_NEAR(cpu["unfused_measured_seconds"].get<double>(), 2112e-6, 1e-9);
    EXPECT_NEAR(cpu["fused_measured_seconds"].get<double>(), 1173e-6, 1e-9);
    EXPECT_NEAR(cpu["unfused_seconds"].get<double>(), 2100e-6, 1e-9);
    EXPECT_NEAR(cpu["fused_seconds"].get<double>(), 1170e-6, 1e-9);
  }
  EXPECT_EQ(cost({})["measured_seconds"], cost({})["unfused_seconds"]);
  EXPECT_EQ(cost({"--fuse"})["measured_seconds"], cost({"--fuse"})["fused_seconds"]);
}

TEST_F(Calibrate, SetsARealModelsOpsAndFusedRunBesideWhatWasMeasured) {
  REQUIRE_OUTSIDE_FILE(profiles + "README.md");
  const std::string model = models + "resnet50_tv.onnx", machine = folder_ / "m.toml";
  const std::string ops = profiles + "resnet50_tv_opt0_t1.tsv", run = profiles + "resnet50_tv_opt99_t1.tsv";
  const auto fitted = emplace_run(
      {"calibrate", "laptop", "--device", "cpu:0", model + "=" + ops, "--fused", model + "=" + run, "-o", machine});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  EXPECT_THAT(fitted.out, HasSubstr("fused_speedup: convolution 1."));
  EXPECT_THAT(read_file(machine), HasSubstr("# a fused run of " + model + ": 32.57 ms measured, "));

  const auto cost = [&](const std::vector<std::string>& more) { return cpu_cost(model, machine, ops, run, more); };
  // The rows of the two files sum to 40.913 and 32.572 ms; 0.1 ms of the ops are folded away, 4 us are of no op.
  for (const Json& cpu : {cost({}), cost({"--fuse"})}) {
    EXPECT_NEAR(cpu["unfused_measured_seconds"].get<double>(), 40.913e-3, 1e-9);
    EXPECT_NEAR(cpu["fused_measured_seconds"].get<double>(), 32.572e-3, 1e-9);
    EXPECT_NEAR(cpu["unfused_seconds"].get<double>(), 40.82e-3, 0.01e-3);
    EXPECT_NEAR(cpu["fused_seconds"].get<double>(), 32.568e-3, 0.01e-3);
  }
  EXPECT_EQ(cost({})["measured_seconds"], cost({})["unfused_seconds"]);
  EXPECT_EQ(cost({"--fuse"})["measured_seconds"], cost({"--fuse"})["fused_seconds"]);
}

TEST_F(Calibrate, BadArgumentsAreRefused) {
  const std::string out = folder_ / "m.toml", times = file("t.tsv", "node\top\tmin_us\nconv\tConv\t1\n");
  expect_refused({"calibrate", "laptop", "--device", "cpu:0", resnet, "-o", out},
                 HasSubstr("'zoo:resnet-50?batch=1' is read as GRAPH=PROFILE, and there is no profile '1'"));
  expect_refused({"calibrate", "laptop", "--device", "cpu:0", "model.onnx", "-o", out}, HasSubstr("GRAPH=PROFILE"));
  expect_refused({"calibrate", "laptop", "--device", "npu", resnet + "=" + times, "-o", out},
                 HasSubstr("--device: machine 'laptop' has no device 'npu' (did you mean 'cpu'?)"));
  expect_refused({"calibrate", "laptop", "--device", "cpu", resnet + "=" + times, "-o", out},
                 HasSubstr("none of its 1 times"));
  expect_refused({"calibrate", "laptop", resnet + "=" + times, "-o", out}, HasSubstr("--device is required"));
  expect_refused({"cost", resnet, "laptop", "--profile", folder_ / "none.tsv", "-o", out}, HasSubstr("none.tsv"));
  expect_refused(
      {"cost", resnet, "laptop", "--profile", times, "--profile-device", "cpu", "--profile-device", "gpu", "-o", out},
      HasSubstr("2 devices for 1 profiles"));
  expect_refused({"cost", resnet, "laptop", "--profile-device", "cpu", "-o", out}, HasSubstr("there is no --profile"));
  expect_refused({"cost", resnet, "laptop", "--profile", file("cut.json", "[{\"cat\":\"Node\","), "-o", out},
                 HasSubstr("cut.json"));
  expect_refused({"calibrate", "laptop", "--device", "cpu", resnet + "=" + times, "--fuse", "-o", out},
                 HasSubstr("--fuse"));
  EXPECT_FALSE(file_exists(out));
}

}  // namespace
}  // namespace emplace::test::calibrate_test
