// `emplace convert`: each kind of file, and every refusal.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/end_to_end/refusal.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/small_models.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::convert_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string model = "zoo:transformer-xl?layers=1&detail=layer&training=true";

class Convert : public ::testing::Test {
 protected:
  std::string placed(const std::string& source, const std::string& machine = "k40x2") {
    const auto done = emplace_run({"place", "round-robin", source + "@" + machine, "-o", folder_ / "placement.json"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return folder_ / "placement.json";
  }
  // `folded`: nodes of the file that are folded away before placing and so have no device.
  void expect_placed_and_otherwise_as_before(const std::string& onnx, std::size_t folded) {
    const std::string out = folder_ / "placed.onnx", placement = placed(onnx);
    const auto done = emplace_run({"convert", onnx, "--placement", placement, "-o", out});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(read_file(out), ::testing::AllOf(HasSubstr("emplace device: gpu:1"), HasSubstr("emplace.not_placed")));
    EXPECT_EQ(emplace_run({"inspect", out, "--json"}).out, emplace_run({"inspect", onnx, "--json"}).out);
    const std::string picture = folder_ / "g.dot";
    ASSERT_EQ(emplace_run({"convert", onnx, "--placement", placement, "--as-is", "-o", picture}).exit_code, 0);
    EXPECT_THAT(read_file(picture), ::testing::AllOf(HasSubstr("ConstantOfShape"),
                                                     HasSubstr("not placed: " + std::to_string(folded) + " ops")));
  }
  TemporaryFolder folder_;
};

TEST_F(Convert, DrawsAModelTheSameEachTimeAndColoursItByDevice) {
  const std::string plain = folder_ / "plain.dot", again = folder_ / "again.dot", colours = folder_ / "colours.dot";
  ASSERT_EQ(emplace_run({"convert", model, "-o", plain}).exit_code, 0);
  ASSERT_EQ(emplace_run({"convert", model, "-o", again}).exit_code, 0);
  EXPECT_EQ(read_file(plain), read_file(again));
  EXPECT_THAT(read_file(plain), ::testing::AllOf(StartsWith("digraph \"transformer-xl\" {"), HasSubstr("decoder/0")));
  ASSERT_EQ(emplace_run({"convert", model, "-o", colours, "--placement", placed(model)}).exit_code, 0);
  EXPECT_THAT(read_file(colours), ::testing::AllOf(HasSubstr(", on gpu:0"), HasSubstr("gpu:1: ")));
}

TEST_F(Convert, WritesTheProblemThatCostWrites) {
  ASSERT_EQ(emplace_run({"convert", model, "--machine", "k40x2", "-o", folder_ / "a.json"}).exit_code, 0);
  ASSERT_EQ(emplace_run({"cost", model, "k40x2", "-o", folder_ / "b.json"}).exit_code, 0);
  EXPECT_EQ(read_file(folder_ / "a.json"), read_file(folder_ / "b.json"));
}

TEST_F(Convert, WritesAPlacementIntoAnOnnxModelThatReadsAsBefore) {
  write_file(folder_ / "network.onnx", small_network());
  expect_placed_and_otherwise_as_before(folder_ / "network.onnx", SmallNetwork::folded);
}

TEST_F(Convert, WritesAPlacementIntoSqueezenet) {
  const std::string squeezenet = outside_file("models/onnx-light/light_squeezenet.onnx");
  REQUIRE_OUTSIDE_FILE(squeezenet);
  expect_placed_and_otherwise_as_before(squeezenet, 39 + 1);  // weights and a Dropout
}

TEST_F(Convert, RefusesEndingsAndOptionsThatDoNotGoTogether) {
  expect_refused_naming({"convert", model, "-o", folder_ / "a.svg"}, {"a.svg", ".dot, .onnx or .json", "'.svg'"});
  expect_refused_naming({"convert", model, "-o", folder_ / "a"}, {"should end in"});
  expect_refused_naming({"convert", model, "-o", folder_ / "a.json"}, {"a.json", "--machine"});
  expect_refused_naming({"convert", model, "-o", folder_ / "a.dot", "--machine", "k40x2"}, {"--machine"});
  expect_refused_naming({"convert", model, "-o", folder_ / "a.dot", "--clusters", "layers"},
                        {"--clusters", "'layers'", "'layer'"});
  expect_refused_naming({"convert", model, "-o", folder_ / "a.json", "--machine", "k40x2", "--as-is"},
                        {"--as-is", ".dot", "a.json"});
  expect_refused_naming({"convert", model, "-o", folder_ / "a.onnx", "--clusters", "layer"},
                        {"--clusters", ".dot", "a.onnx"});
  expect_refused_naming({"convert", model, "-o", folder_ / "a.onnx"}, {"a.onnx", "--placement"});
  expect_refused_naming({"convert", model, "-o", folder_ / "a.onnx", "--placement", placed(model)},
                        {"transformer-xl", "ONNX"});
  expect_refused_naming(
      {"convert", model, "-o", folder_ / "a.json", "--machine", "k40x2", "--placement", folder_ / "placement.json"},
      {"--placement"});
  for (const char* name : {"a.svg", "a.json", "a.dot", "a.onnx"}) EXPECT_FALSE(file_exists(folder_ / name)) << name;
}

TEST_F(Convert, RefusesPlacementsOfAnotherGraphAndDamagedOnes) {
  const std::string out = folder_ / "a.dot", bad = folder_ / "bad.json";
  expect_refused_naming({"convert", "zoo:resnet-50?detail=layer", "-o", out, "--placement", placed(model)},
                        {"placement.json", "no op"});
  const auto refused = [&](const std::string& text, const std::vector<std::string>& parts) {
    write_file(bad, text);
    expect_refused_naming({"convert", model, "-o", out, "--placement", bad}, parts);
  };
  refused("{", {"bad.json"});
  refused("[]", {"bad.json"});
  refused(R"({"emplace": "placement/1", "ops": 3})", {"bad.json: ops"});
  refused(R"({"emplace": "placement/1", "ops": {}})", {"bad.json: ops", "has no device"});
  std::string many = R"({"emplace": "placement/1", "ops": {)";
  for (int i = 0; i < 300; ++i) many += "\"o" + std::to_string(i) + "\": \"d" + std::to_string(i) + "\",";
  refused(many + "\"x\": \"d0\"}}", {"bad.json", "300 devices", "255"});
  expect_refused_naming({"convert", model, "-o", out, "--placement", folder_ / "missing.json"}, {"missing.json"});
  EXPECT_FALSE(file_exists(out));
}

TEST_F(Convert, ExplainsItself) {
  const auto done = emplace_run({"convert", "--help"});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_THAT(done.out,
              ::testing::AllOf(HasSubstr(".dot"), HasSubstr(".onnx"), HasSubstr(".json"), HasSubstr("Netron")));
}

}  // namespace
}  // namespace emplace::test::convert_test
