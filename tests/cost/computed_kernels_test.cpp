// What a runtime's fusion does to the names of ops, and profiles of other models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cost/calibrate.hpp"
#include "cost/lower.hpp"
#include "emplace/base/error.hpp"
#include "tests/cost/small_graphs.hpp"

namespace emplace::cost::computed_kernels_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const RooflineOptions fused{.prune = false, .training = false, .optimizer = "sgd", .fuse = true};

// norm -> first -> second, which no pass fuses, on 100 x 200 numbers.
Graph chain() {
  Graph g;
  g.name = "chain";
  Operand last = Operand::of(g.add_input("x", DType::f32, {100, 200}));
  const auto add = [&](const char* name, const char* type, std::vector<Operand> inputs) {
    last = Operand::of(
        g.add_output(g.add_op(op(name, type, std::move(inputs))), std::string(name) + ":0", DType::f32, {100, 200}));
  };
  add("norm", "Softmax", {last});
  for (const char* name : {"first", "second"})
    add(name, "MatMul", {last, Operand::of(g.add_parameter(std::string(name) + ".w", DType::f32, {200, 200}))});
  return g;
}

// An execution graph of OpenVINO: layers with "name time-in-us parts", each read by the next.
DeviceProfile openvino(const std::vector<std::string>& layers) {
  std::string text = "<net><layers>", edges = "<edges>";
  for (std::size_t i = 0; i < layers.size(); ++i) {
    std::istringstream words(layers[i]);
    std::string name, time, parts;
    words >> name >> time >> parts;
    text += fmt::format(R"(<layer id="{}" name="{}"><data execTimeMcs="{}" originalLayersNames="{}"/></layer>)", i,
                        name, time, parts);
    if (i > 0) edges += fmt::format(R"(<edge from-layer="{}" to-layer="{}"/>)", i - 1, i);
  }
  return {parse_profile(text + "</layers>" + edges + "</edges></net>", "p"), "fast"};
}

// Per op of the chain on `fast`, in us.
std::vector<double> times_with(const std::vector<DeviceProfile>& profiles, ProfileUse* use = nullptr) {
  const Lowered lowered = lower(chain(), two_speeds(), fused, "g", profiles);
  if (use != nullptr) *use = lowered.measured.profiles.at(0);
  std::vector<double> times;
  for (std::size_t i = 0; i < 3; ++i)
    times.push_back(1e-6 * static_cast<double>(lowered.problem.time(OpId{i}, DeviceId{0})));
  return times;
}

std::string error_with(const DeviceProfile& profile, const Graph& graph = chain()) {
  try {
    lower(graph, two_speeds(), fused, "g", std::vector{profile});
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ComputedKernels, ATimeOfSeveralOpsIsDividedAsTheRooflineDividesIt) {
  const std::vector<double> estimate = times_with({});
  const std::vector<double> times = times_with({openvino({"norm 7 norm", "second 100 first,second"})});
  EXPECT_NEAR(times[0], 7, 1e-6);
  EXPECT_NEAR(times[1], 100 * estimate[1] / (estimate[1] + estimate[2]), 1e-5);
  EXPECT_NEAR(times[1] + times[2], 100, 1e-5);
}

// Each op's co-location group with these profiles.
std::vector<std::string> groups_with(const std::vector<DeviceProfile>& profiles, const RooflineOptions& options) {
  std::vector<std::string> groups;
  for (const GraphOp& op : lower(chain(), two_speeds(), options, "g", profiles).graph.ops)
    groups.push_back(op.colocate);
  return groups;
}

// A cut between them would make two kernels of one, whose times nobody measured.
TEST(ComputedKernels, OpsThatRanAsOneArePlacedTogether) {
  const std::vector<DeviceProfile> run = {openvino({"norm 7 norm", "second 100 first,second"})};
  EXPECT_THAT(groups_with(run, fused), ElementsAre("", "coloc/first", "coloc/first"));
  EXPECT_THAT(groups_with({}, fused), ElementsAre("", "", ""));
  // `first` is computed twice, for itself and in `second`, so that it may be elsewhere.
  EXPECT_THAT(groups_with({openvino({"norm 7 norm", "first 40 first", "second 100 first,second"})}, fused),
              ElementsAre("", "", ""));
  // Of two devices each binds what it ran as one.
  std::vector<DeviceProfile> two = {openvino({"norm 7 norm", "second 100 first,second"}),
                                    openvino({"first 50 norm,first", "second 60 second"})};
  two[1].device = "slow";
  EXPECT_THAT(groups_with(two, fused), ElementsAre("coloc/norm", "coloc/norm", "coloc/norm"));
}

// A Reorder changes the layout for `first`; norm was replaced by an op of another name, in front of it.
TEST(ComputedKernels, TimesOfTheRuntimesOwnKernelsGoToTheReaderAndWhatTheyReplacedHasItsPart) {
  const std::vector<double> estimate = times_with({});
  ProfileUse use;
  const std::vector<double> times =
      times_with({openvino({"MVN_12 20 MVN_12", "x_reorder 5", "first 75 first", "second 60 second"})}, &use);
  EXPECT_NEAR(times[0] + times[1], 20 + 5 + 75, 1e-5);
  EXPECT_NEAR(times[0], 100 * estimate[0] / (estimate[0] + estimate[1]), 1e-5);
  EXPECT_NEAR(times[2], 60, 1e-6);
  EXPECT_EQ(use.used, 2u);
  EXPECT_EQ(use.beside, 2u);
  EXPECT_EQ(use.joined, 2u);
  EXPECT_THAT(use.unmatched.ops, IsEmpty());
  EXPECT_DOUBLE_EQ(use.joined_s, 135e-6);
  EXPECT_DOUBLE_EQ(use.total_s, 160e-6);
  EXPECT_DOUBLE_EQ(use.covered_share, 1);
}

// TensorFlow gives a fused kernel the name of its last op, and a type that says that it was fused.
TEST(ComputedKernels, AFusedKernelComputesWhatOnlyItReads) {
  const auto node = [](const std::string& name, const std::string& nanoseconds, const std::string& type) {
    return "node_stats { node_name: '" + name + "' op_end_rel_nanos: " + nanoseconds + " timeline_label: '" + name +
           " = " + type + "()' }";
  };
  const auto stats = [&](const char* type) {
    return std::vector<DeviceProfile>{{parse_profile("dev_stats { device: 'CPU:0' " + node("norm", "8000", "Softmax") +
                                                         node("second", "90000", type) + "}",
                                                     "p"),
                                       "fast"}};
  };
  const std::vector<double> times = times_with(stats("_FusedMatMul"));
  EXPECT_NEAR(times[0], 8, 1e-6);
  EXPECT_NEAR(times[1] + times[2], 90, 1e-5);
  // Without fusion the time is that of the op alone, and what was not measured keeps its estimate.
  const std::vector<double> estimate = times_with({}), alone = times_with(stats("MatMul"));
  EXPECT_NEAR(alone[1], estimate[1], 1e-6);
  EXPECT_NEAR(alone[2], 90, 1e-5);
}

TEST(OtherModels, ProfilesOfWhichLessThanHalfFitsAreRefusedWithTheShare) {
  // One of three times, but most of the time.
  EXPECT_EQ(error_with(openvino({"second 90 second", "a 5 a", "b 5 b"})),
            "p: seems to be of another model: 1 of its 3 times (33 %), which are 90 % of the time, are of ops of the "
            "graph, and half must be; it also has 'a', 'b'");
  EXPECT_THAT(error_with(openvino({"second 1 second", "a 99 a"})),
              HasSubstr("1 of its 2 times (50 %), which are 1 % of the time"));
  // All of its times, but little of the graph: a small model's ops have the names of a large one's first ops.
  EXPECT_THAT(error_with(openvino({"norm 7 norm"})), HasSubstr("the ops that it measured are"));
  EXPECT_EQ(error_with(openvino({"first 7 first", "second 8 second"})), "no error");
  // A table is of the ops that the user chose.
  EXPECT_EQ(error_with({parse_profile("op,fast\nnorm,1\n", "p"), ""}), "no error");
}

TEST(Calibrate, FitsFiguresToTheKernelsOfARuntimeThatAlwaysFuses) {
  machine::MachineDevice device = two_speeds().devices[0];
  device.fused_speedup = {{"matmul", 3}};
  const TimedModel model = timed_model(
      "g", chain(), fused, openvino({"norm 7 norm", "first 50 first", "second 40 second"}).profile, "", device);
  EXPECT_EQ(model.ops.size(), 3u);
  const Calibration calibration = calibrate(device, std::vector{model});
  EXPECT_THAT(calibration.device.fused_speedup, IsEmpty());
  EXPECT_NEAR(prediction_error(calibration.device, "g", model.ops, true).predicted_s, 97e-6, 0.15 * 97e-6);
  // A time that two kernels share was divided by estimates: it says nothing about either.
  const TimedModel shared =
      timed_model("g", chain(), fused, openvino({"norm 7 norm", "second 90 first,second"}).profile, "", device);
  EXPECT_EQ(shared.ops.size(), 1u);
  EXPECT_EQ(shared.rest.size(), 2u);
}

}  // namespace
}  // namespace emplace::cost::computed_kernels_test
