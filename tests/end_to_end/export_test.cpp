// `emplace export`: from a run's folder and from a placement, to each framework, and the refusals.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/end_to_end/refusal.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/small_models.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::export_test {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

class Export : public ::testing::Test {
 protected:
  Json exported(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "export");
    arguments.emplace_back("--json");
    const auto done = emplace_run(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return done.exit_code == 0 ? Json::parse(done.out) : Json();
  }
  std::string placed(const std::string& source, const std::vector<std::string>& options = {}) {
    std::vector<std::string> arguments = {"place", "round-robin", source, "-o", folder_ / "p.json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto done = emplace_run(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return folder_ / "p.json";
  }
  // `folded`: nodes of the file that are folded away before placing and so follow others.
  void expect_model_and_parts_of_a_run(const std::string& onnx, std::size_t folded) {
    ASSERT_EQ(emplace_run({"train", "configs/recipes/post-published.toml", "problem=" + onnx + "@k40x2", "updates=1",
                           "compare=[]", "roofline.coarsen=9", "run=" + (folder_ / "run")})
                  .exit_code,
              0);
    const Json done = exported({folder_ / "run", "--for", "onnx", "-o", folder_ / "placed.onnx"});
    EXPECT_EQ(done["placed"].get<int>() + done["follows"].get<int>(), done["ops"].get<int>());
    EXPECT_EQ(done["follows"], folded);
    EXPECT_EQ(done["not_placed"].size(), 0u);
    EXPECT_EQ(emplace_run({"inspect", folder_ / "placed.onnx", "--json"}).out,
              emplace_run({"inspect", onnx, "--json"}).out);
    const Json list = Json::parse(read_file(folder_ / "placed.segments.json"));
    ASSERT_GE(list["segments"].size(), 1u);
    for (const Json& segment : list["segments"])
      EXPECT_EQ(emplace_run({"inspect", folder_ / segment["file"].get<std::string>()}).exit_code, 0);
    // The same by the placement's own name in the folder; the recipe in the folder has the options with which the
    // problem was made.
    EXPECT_EQ(exported({folder_ / "run/best.placement.json", "--for", "json", "-o", folder_ / "ops.json"})["placed"],
              done["placed"]);
    expect_refused_naming({"export", folder_ / "run", "--for", "onnx", "--batch", "4", "-o", folder_ / "x.onnx"},
                          {"--batch", "config.toml"});
  }
  TemporaryFolder folder_;
};

TEST_F(Export, WritesAModelAndItsPartsFromARunsFolderAlone) {
  write_file(folder_ / "network.onnx", small_network());
  expect_model_and_parts_of_a_run(folder_ / "network.onnx", SmallNetwork::folded);
}

TEST_F(Export, WritesSqueezenetAndItsPartsFromARunsFolderAlone) {
  const std::string squeezenet = outside_file("models/onnx-light/light_squeezenet.onnx");
  REQUIRE_OUTSIDE_FILE(squeezenet);
  expect_model_and_parts_of_a_run(squeezenet, 39 + 1);  // weights and a Dropout
}

TEST_F(Export, KnowsTheModelOfEachProblemOfARunAndHowItWasMade) {
  ASSERT_EQ(emplace_run({"train", "configs/recipes/post-published.toml",
                         "problems=[\"zoo:rnnlm?layers=1&sequence=3@k40x2\", \"zoo:rnnlm?layers=2&sequence=3@k40x2\"]",
                         "updates=1", "compare=[]", "roofline.training=true", "roofline.coarsen=12",
                         "run=" + (folder_ / "two")})
                .exit_code,
            0);
  const Json done = exported({folder_ / "two/best.1.placement.json", "--for", "json", "-o", folder_ / "ops.json"});
  EXPECT_EQ(done["model"], "zoo:rnnlm?layers=2&sequence=3");
  EXPECT_EQ(done["not_placed"].size(), 0u);
  expect_refused_naming({"export", folder_ / "two", "--for", "json", "-o", folder_ / "x.json"},
                        {"2 problems", "best.0.placement.json"});
  for (const char* kept : {"two/checkpoint.h5", "two/config.toml"}) {
    const std::string before = read_file(folder_ / kept);
    expect_refused_naming({"export", folder_ / "two/best.1.placement.json", "--for", "json", "-o", folder_ / kept},
                          {kept, "lost"});
    const auto place = emplace_run(
        {"place", "--policy", folder_ / "two", "zoo:rnnlm?layers=1&sequence=3@k40x2", "-o", folder_ / kept});
    EXPECT_EQ(place.exit_code, 2);
    EXPECT_THAT(place.err, HasSubstr("would be lost"));
    EXPECT_EQ(read_file(folder_ / kept), before);
  }
}

TEST_F(Export, ListsWhatATrainingStepHasAndTheModelHasNot) {
  const std::string model = "zoo:inception-v3?batch=2";
  const Json done = exported({placed(model + "@k40x2", {"--training"}), "--for", "json", "--model", model, "--training",
                              "-o", folder_ / "ops.json"});
  EXPECT_EQ(done["placed"], done["ops"]);
  EXPECT_GT(done["not_in_model"].size(), done["ops"].get<std::size_t>());  // a gradient for each op, and updates
  EXPECT_GT(done["not_with_their_op"].size(), 0u);                         // round-robin tears them apart
  const Json file = Json::parse(read_file(folder_ / "ops.json"));
  EXPECT_EQ(file["ops"].size(), done["ops"].get<std::size_t>());
  EXPECT_EQ(file["not_in_model"].size(), done["not_in_model"].size());
}

TEST_F(Export, ReplacesNothingThatItReads) {
  const std::string model = folder_ / "m.onnx", layers = folder_ / "m.xml", weights = folder_ / "m.bin";
  write_file(model, small_network());
  write_file(layers, small_openvino());
  write_file(weights, "weights");
  const auto refused = [&](const std::string& source, const char* target, const std::string& output) {
    const std::string before = read_file(output);
    expect_refused_naming({"export", placed(source + "@k40x2"), "--for", target, "--model", source, "-o", output},
                          {output, "lost"});
    EXPECT_EQ(read_file(output), before) << target;
  };
  for (const char* target : {"onnx", "pytorch", "json"}) refused(model, target, model);
  std::filesystem::create_symlink(model, folder_ / "link.json");
  refused(model, "json", folder_ / "link.json");
  for (const char* target : {"openvino", "json"}) {
    refused(layers, target, layers);
    refused(layers, target, weights);
  }
  const std::string graphdef = folder_ / "m.pbtxt";
  write_file(graphdef,
             "node { name: \"x\" op: \"Placeholder\" attr { key: \"dtype\" value { type: DT_FLOAT } } "
             "attr { key: \"shape\" value { shape { dim { size: 4 } } } } }\n"
             "node { name: \"a\" op: \"Relu\" input: \"x\" attr { key: \"T\" value { type: DT_FLOAT } } }\n");
  refused(graphdef, "tensorflow", graphdef);
}

TEST_F(Export, SaysWhichFlagsAGraphThatWasMadeOtherwiseWants) {
  const std::string model = "zoo:rnnlm?layers=1&sequence=3", out = folder_ / "out";
  expect_refused_naming(
      {"export", placed(model + "@k40x2", {"--training"}), "--for", "json", "--model", model, "-o", out},
      {"p.json", "has no op", "--training", "--fuse"});
  expect_refused_naming(
      {"export", placed(model + "@k40x2"), "--for", "json", "--model", model, "--training", "-o", out},
      {"p.json", "no device", "--training", "--fuse"});
}

// Frameworks run gradients with their ops, whatever the placement says. `simulate` gives the placement's time, and also
// the plan's: it is the placement with each moved op on the device of its forward op.
TEST_F(Export, SaysWhatTheExportedPlanOfATrainingCostsBeforeItWrites) {
  const std::string model = "zoo:rnnlm?layers=1&sequence=3", problem = model + "@k40x2";
  const std::string placement = placed(problem, {"--training"}), out = folder_ / "ops.json";
  const auto done =
      emplace_run({"export", placement, "--for", "json", "--model", model, "--training", "-o", out, "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const Json plan = Json::parse(done.out)["plan"];
  EXPECT_EQ(plan["problem"], problem);
  EXPECT_EQ(plan["moved"], Json::parse(done.out)["not_with_their_op"].size());
  EXPECT_EQ(plan["feasible"], true);
  EXPECT_THAT(done.err, HasSubstr("the exported plan takes "));
  const auto seconds = [&](const std::string& file) {
    return Json::parse(emplace_run({"simulate", problem, file, "--training", "--json"}).out)["makespan_s"]
        .get<double>();
  };
  EXPECT_EQ(plan["placement_s"].get<double>(), seconds(placement));
  Json planned = Json::parse(read_file(placement));
  for (auto& [op, device] : planned["ops"].items())
    if (op.starts_with("grad/")) device = planned["ops"][op.substr(5, op.rfind('#') - 5)];
  write_file(folder_ / "gradients.json", planned.dump());
  EXPECT_NE(seconds(folder_ / "gradients.json"), seconds(placement));
  const Json again = exported({folder_ / "gradients.json", "--for", "json", "--model", model, "--training", "-o", out});
  for (const Json& op : again["not_with_their_op"]) EXPECT_FALSE(op.get<std::string>().starts_with("grad/")) << op;
  EXPECT_EQ(again["plan"]["plan_s"], plan["plan_s"]) << "the gradients were moved by hand here";

  const auto not_written =
      emplace_run({"export", placement, "--for", "pytorch", "--model", model, "--training", "-o", folder_ / "x.json"});
  EXPECT_EQ(not_written.exit_code, 2);
  EXPECT_THAT(not_written.err, HasSubstr("the exported plan takes ")) << "it is said before anything is written";
}

// All gradients are pinned to gpu:1, but the plan has each of them with its op.
TEST_F(Export, JudgesThePlanOfARunUnderItsConstraints) {
  const auto plan_under = [&](const std::string& run, const std::string& constraint) {
    const auto done =
        emplace_run({"train", "post-published", "problem=zoo:rnnlm?layers=1&sequence=3@k40x2", "updates=1",
                     "compare=[]", "roofline.training=true", constraint, "run=" + (folder_ / run)});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    const Json plan = exported({folder_ / run, "--for", "json", "-o", folder_ / "ops.json"})["plan"];
    EXPECT_GT(plan["moved"], 0);
    EXPECT_GT(plan["placement_s"], 0) << "the run keeps to its constraints";
    return plan;
  };
  EXPECT_EQ(plan_under("free", "forbid=[]")["feasible"], true);
  const Json pinned = plan_under("pinned", R"(pin=["grad/*=gpu:1"])");
  EXPECT_EQ(pinned["feasible"], false);
  EXPECT_THAT(pinned["reason"], HasSubstr("op 'grad/"));
  EXPECT_THAT(pinned["reason"], HasSubstr("(under the constraints of the run)"));
  const Json elsewhere = exported({folder_ / "pinned", "--for", "json", "-o", folder_ / "ops.json", "--problem",
                                   "zoo:rnnlm?layers=1&sequence=3@k40x2"})["plan"];
  EXPECT_EQ(elsewhere["feasible"], true) << "the constraints are of the run's own problem";
}

// The batch of the model is open, so the problem was made with tensors of unknown size.
TEST_F(Export, RepeatsTheCaveatOfAProblemWithTensorsOfUnknownSize) {
  const std::string model = folder_ / "open.onnx", problem = folder_ / "p.json";
  write_file(model, small_network(0));
  ASSERT_EQ(emplace_run({"cost", model, "k40x2", "--allow-unsized", "-o", problem}).exit_code, 0);
  const auto place = emplace_run({"place", "single", problem, "-o", folder_ / "placed.json"});
  ASSERT_EQ(place.exit_code, 0) << place.err;
  EXPECT_THAT(place.err, HasSubstr("had no known size"));
  const auto done = emplace_run({"export", folder_ / "placed.json", "--for", "json", "--model", model, "--problem",
                                 problem, "-o", folder_ / "ops.json"});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.err, place.err);
}

// The batch is for the model; the problem's file was made with it.
TEST_F(Export, TakesOptionsOfTheModelBesideAProblemFile) {
  const std::string model = folder_ / "open.onnx", problem = folder_ / "p.json";
  write_file(model, small_network(0));
  ASSERT_EQ(emplace_run({"cost", model, "k40x2", "--batch", "2", "-o", problem}).exit_code, 0);
  ASSERT_EQ(emplace_run({"place", "single", problem, "-o", folder_ / "placed.json"}).exit_code, 0);
  const auto done = emplace_run({"export", folder_ / "placed.json", "--for", "json", "--model", model, "--batch", "2",
                                 "--problem", problem, "-o", folder_ / "ops.json"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
}

TEST_F(Export, SaysThatThePlanIsThePlacementOrThatItsCostIsNotKnown) {
  const std::string model = "zoo:rnnlm?layers=1&sequence=3", out = folder_ / "ops.json";
  ASSERT_EQ(emplace_run({"place", "single", model + "@k40x2", "--training", "-o", folder_ / "single.json"}).exit_code,
            0);
  const std::vector<std::string> to_json = {"--for", "json", "--model", model, "--training", "-o", out};
  const auto with = [&](std::vector<std::string> first) {
    first.insert(first.end(), to_json.begin(), to_json.end());
    return first;
  };
  EXPECT_EQ(exported(with({folder_ / "single.json"}))["plan"], Json());
  Json nameless = Json::parse(read_file(placed(model + "@k40x2", {"--training"})));
  nameless.erase("problem");
  write_file(folder_ / "nameless.json", nameless.dump());
  const Json unknown = exported(with({folder_ / "nameless.json"}))["plan"];
  EXPECT_EQ(unknown["plan_s"], Json());
  EXPECT_THAT(unknown["reason"], HasSubstr("--problem"));
  const Json given = exported(with({folder_ / "nameless.json", "--problem", model + "@k40x2"}))["plan"];
  EXPECT_GT(given["plan_s"], 0);
  EXPECT_GT(given["placement_s"], 0);
  const auto wrong = emplace_run(with({"export", folder_ / "nameless.json", "--problem", "zoo:rnnlm?layers=2@k40x2"}));
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("nameless.json"));
}

// a -> b of one module on two devices, as torch.onnx names them.
TEST_F(Export, WritesAPyTorchModelWhoseModulesAreSplit) {
  OnnxText onnx;
  onnx.input("x", 2, {4});
  onnx.weights("fc.bias", 4);
  onnx.weights("norm.bias", 4);
  onnx.node("Add", "/fc/Add", {"x", "fc.bias"});
  onnx.node("Relu", "/norm/Relu", {"/fc/Add:0"});
  onnx.node("Add", "/norm/Add", {"/norm/Relu:0", "norm.bias"});
  onnx.output("/norm/Add:0");
  const std::string model = folder_ / "m.onnx", out = folder_ / "placed.json";
  write_file(model, onnx.model());
  exported({placed(model + "@k40x2"), "--for", "pytorch", "--model", model, "-o", out});  // cpu:0, gpu:0, gpu:1
  const Json file = Json::parse(read_file(out));
  EXPECT_EQ(file["device_map"], Json({{"fc", "cpu"}}));
  EXPECT_EQ(file["split_modules"], Json({{"norm", {{"/norm/Relu", "cuda:0"}, {"/norm/Add", "cuda:1"}}}}));
  std::vector<std::string> devices;
  for (const Json& segment : file["segments"]) devices.push_back(segment["device"]);
  EXPECT_THAT(devices, ::testing::ElementsAre("cpu", "cuda:0", "cuda:1"));
}

TEST_F(Export, NamesSomeOpsThatTheModelHasNot) {
  const std::string model = "zoo:rnnlm?layers=1&sequence=3";
  const auto done = emplace_run({"export", placed(model + "@k40x2", {"--training"}), "--for", "json", "--model", model,
                                 "--training", "-o", folder_ / "ops.json"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out,
              ::testing::AllOf(HasSubstr("(of the training step): '"), HasSubstr("several ops read): 'variable/")));
}

// All ops are on gpu:0: cpu:0 and gpu:1 of k40x2 have no ops, and there is no gpu:9.
TEST_F(Export, WarnsOfNamesForDevicesThatTheMachineHasNotAndOfNoOthers) {
  const std::string problem = "zoo:rnnlm?layers=1&sequence=3@k40x2";
  ASSERT_EQ(emplace_run({"train", "configs/recipes/post-published.toml", "problem=" + problem, "groups=8", "updates=1",
                         "compare=[]", "run=" + (folder_ / "run")})
                .exit_code,
            0);
  ASSERT_EQ(emplace_run({"place", "single", problem, "-o", folder_ / "run/best.placement.json"}).exit_code, 0);
  const auto renamed = [&](const std::string& text) {
    const auto done =
        emplace_run({"export", folder_ / "run", "--for", "json", "--rename", text, "-o", folder_ / "ops.json"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return done.err;
  };
  for (const char* device : {"cpu:0", "gpu:0", "gpu:1"}) EXPECT_EQ(renamed(std::string(device) + "=x"), "") << device;
  EXPECT_THAT(renamed("gpu:9=x"), HasSubstr("the machine has no device 'gpu:9' (did you mean 'gpu:"));
}

TEST_F(Export, RefusesWhatCannotBeWrittenAndSaysWhy) {
  const std::string model = "zoo:inception-v3?batch=2", placement = placed(model + "@k40x2");
  const std::string out = folder_ / "out";
  expect_refused_naming({"export", placement, "--for", "onnx", "-o", out}, {"--model", "is missing"});
  expect_refused_naming({"export", placement, "--for", "onyx", "--model", model, "-o", out},
                        {"--for", "'onyx'", "'onnx'"});
  expect_refused_naming({"export", placement, "--for", "onnx", "--model", model, "-o", out},
                        {model, "no file", "--for json"});
  expect_refused_naming({"export", placement, "--for", "json", "--model", model, "-o", placement},
                        {"placement itself"});
  expect_refused_naming({"export", placement, "--for", "pytorch", "--model", model, "-o", out}, {"PyTorch module"});
  expect_refused_naming({"export", placement, "--for", "json", "--model", "zoo:resnet-50", "-o", out},
                        {"p.json", "no op"});
  expect_refused_naming({"export", folder_ / "", "--for", "json", "-o", out}, {"not a run's folder"});
  expect_refused_naming({"export", folder_ / "p.jso", "--for", "onnx", "-o", out},
                        {"p.jso", "No such file", "'p.json'"});
  expect_refused_naming({"export", placement, "--for", "json", "--model", model, "--rename", "gpu:0=\xff", "-o", out},
                        {"UTF-8"});
  const auto renamed =
      emplace_run({"export", placement, "--for", "json", "--model", model, "--rename", "gpu:9=x", "-o", out});
  EXPECT_EQ(renamed.exit_code, 0);
  EXPECT_THAT(renamed.err,
              ::testing::AllOf(HasSubstr("no op is on the device 'gpu:9'; there are ops on 'cpu:0', 'gpu:0', 'gpu:1'"),
                               ::testing::Not(HasSubstr("warning"))));
  std::filesystem::remove(out);
  EXPECT_FALSE(file_exists(out));
}

}  // namespace
}  // namespace emplace::test::export_test
