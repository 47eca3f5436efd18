// Every kind of bad input: exit code 2, one sentence on standard error that names the place, nothing on standard
// output.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/end_to_end/refusal.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/small_models.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::bad_input_test {
namespace {

using ::testing::HasSubstr;

class BadInput : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    write_file(folder_ / name, text);
    return folder_ / name;
  }
  std::string recipe(const std::string& text) {
    return file("recipe.toml", text + "\nrun = \"" + (folder_ / "run") + "\"\n");
  }

  void expect_refused(const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
    std::vector<::testing::Matcher<std::string>> each;
    for (const std::string& part : parts) each.push_back(HasSubstr(part));
    test::expect_refused(arguments, ::testing::AllOfArray(each));
  }
  void expect_cut_models_refused(const std::string& whole) {
    for (const std::size_t size : {whole.size() / 2, whole.size() - 1, std::size_t{100}})
      expect_refused({"inspect", file("cut.onnx", whole.substr(0, size))}, {"cut.onnx"});
  }
  TemporaryFolder folder_;
};

TEST_F(BadInput, TruncatedOrForeignModelFiles) {
  expect_refused({"inspect", file("garbage.onnx", "this is no protobuf")}, {"garbage.onnx"});
  expect_refused({"inspect", file("empty.onnx", "")}, {"empty.onnx"});
  expect_refused({"cost", file("garbage.onnx", std::string(3000, '\xff')), "laptop"}, {"garbage.onnx"});
}

TEST_F(BadInput, ATruncatedModel) { expect_cut_models_refused(small_network()); }

TEST_F(BadInput, ATruncatedRealModel) {
  const std::string model = outside_file("models/onnx-light/light_resnet50.onnx");
  REQUIRE_OUTSIDE_FILE(model);
  expect_cut_models_refused(read_file(model));
}

TEST_F(BadInput, NumbersThatAreTooSmallAreRefusedWithTheLeastOne) {
  for (const auto& [arguments, says] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"cost", "zoo:rnnlm", "k40x2", "--batch", "0"}, "error: --batch: should be at least 1, found 0 (see "},
           {{"doctor", "--updates", "-2"}, "error: --updates: should be at least 1, found -2 (see "},
           {{"place", "single", "p", "--seed", "-1"}, "error: --seed: should be at least 0, found -1 (see "},
           {{"explain", "p", "q", "--evaluations", "-1"}, "error: --evaluations: should be at least 0, found -1 (see "},
           {{"place", "single", "p", "--json=maybe"}, "error: --json: takes no value, found 'maybe' (see "},
           {{"cost", "zoo:rnnlm", "k40x2", "--batch", "many"}, "error: --batch: wanted a number, found 'many' (see "}})
    test::expect_refused(arguments, ::testing::StartsWith(says));
}

TEST_F(BadInput, ACyclicProblemNamesTheCycle) {
  expect_refused(
      {"place", "single", file("p.json", R"({"emplace": "problem/1", "devices": [{"name": "d", "memory_bytes": null}],
      "ops": [{"name": "a", "seconds": [1]}, {"name": "b", "seconds": [1]}],
      "tensors": [{"from": 0, "bytes": 1, "to": [1]}, {"from": 1, "bytes": 1, "to": [0]}]})")},
      {"p.json", "cycle", "'a'", "'b'"});
}

TEST_F(BadInput, TensorsOfNegativeOrOverflowingSize) {
  const auto problem = [&](const std::string& bytes) {
    return file(
        "p.json",
        R"({"emplace": "problem/1", "devices": [{"name": "d", "memory_bytes": null}], "ops": [{"name": "a", "seconds": [1]}],
      "tensors": [{"from": 0, "bytes": )" +
            bytes + R"(, "to": []}]})");
  };
  expect_refused({"place", "single", problem("-1")}, {"p.json", "tensors[0]", "-1"});
  expect_refused({"place", "single", problem("9223372036854775807")}, {"p.json", "tensors[0]", "4611686018427387904"});
  expect_refused({"place", "single", problem("1e300")}, {"p.json"});
}

TEST_F(BadInput, OptionsOfModelsWhereTheProblemIsMadeAlready) {
  const std::string problem = file("p.json", example_problem);
  const std::string placement = file("q.json", R"({"emplace": "placement/1", "ops": {"a": "gpu:0", "b": "cpu:0"}})");
  const std::vector<std::vector<std::string>> options = {
      {"--batch", "3"}, {"--shape", "x=1"}, {"--training"}, {"--fuse"}, {"--optimizer", "adam"}, {"--allow-unsized"}};
  for (const std::vector<std::string>& option : options) {
    for (const char* command : {"simulate", "explain", "compare", "place"}) {
      std::vector<std::string> arguments = {command, problem, placement};
      if (command == std::string("compare")) arguments.push_back(placement);
      if (command == std::string("place")) arguments = {command, "single", problem};
      arguments.insert(arguments.end(), option.begin(), option.end());
      expect_refused(arguments, {option.front(), "p.json", "GRAPH@MACHINE"});
    }
  }
  for (const auto& [name, kind] :
       std::map<std::string, std::string>{{problem, "a problem"}, {placement, "a placement"}, {"k40x2", "a machine"}})
    expect_refused({"inspect", name, "--batch", "3"}, {"--batch", name, kind});
  expect_refused(
      {"train", "configs/recipes/post-published.toml", "problem=" + problem, "run=" + (folder_ / "run"), "batch=3"},
      {"p.json", "batch"});
  expect_refused({"train", "configs/recipes/post-published.toml", "problem=" + problem, "run=" + (folder_ / "run"),
                  "roofline.fuse=true"},
                 {"p.json", "[roofline]"});
  const std::string workload = file("w.json", R"([{"name": "one", "weights": [1, 2], "preds": [[], [0]]}])");
  expect_refused({"place", "single", workload + "#one?processors=2", "--batch", "3"}, {"--batch", "w.json"});
}

TEST_F(BadInput, OptionsWithoutTheOptionThatTheyNeed) {
  expect_refused({"place", "single", "zoo:inception-v3@k40x2", "--optimizer", "adam"}, {"--optimizer", "--training"});
}

TEST_F(BadInput, NoCommandOrAnUnknownOne) {
  expect_refused({}, {"a command is missing", "train", "inspect", "--help"});
  expect_refused({"plase"}, {"'plase'", "did you mean 'place'"});
}

TEST_F(BadInput, EmptyNamesOfFilesToWrite) {
  const std::string problem = file("p.json", example_problem);
  const std::string placement = file("q.json", R"({"emplace": "placement/1", "ops": {"a": "gpu:0", "b": "cpu:0"}})");
  expect_refused({"simulate", problem, placement, "--trace", ""}, {"--trace", "empty"});
  expect_refused({"place", "single", problem, "-o", ""}, {"--output", "empty"});
  expect_refused({"cost", "zoo:inception-v3", "laptop", "-o", ""}, {"--output", "empty"});
  expect_refused({"convert", "zoo:inception-v3", "-o", ""}, {"--output", "empty"});
  expect_refused({"convert", "zoo:inception-v3", "-o", "g.dot", "--placement", ""}, {"--placement", "empty"});
  expect_refused({"calibrate", "laptop", "--device", "cpu:0", "m=t", "-o", ""}, {"--output", "empty"});
}

TEST_F(BadInput, OutputsThatAreReadByTheSameCommand) {
  const std::string problem = file("p.json", example_problem);
  const std::string placement = file("q.json", R"({"emplace": "placement/1", "ops": {"a": "gpu:0", "b": "cpu:0"}})");
  const std::string machine = file("m.toml", "no machine"), profile = file("t.tsv", "no profile");
  std::filesystem::create_symlink(problem, folder_ / "link.json");
  for (const char* option : {"--trace", "--svg"}) {
    expect_refused({"simulate", problem, placement, option, problem}, {"p.json", "would be lost"});
    expect_refused({"simulate", problem, placement, option, placement}, {"q.json", "would be lost"});
    expect_refused({"simulate", problem, placement, option, folder_ / "link.json"}, {"link.json", "would be lost"});
  }
  expect_refused({"simulate", problem, placement, "--trace", folder_ / "x", "--svg", folder_ / "x"},
                 {"--trace", "would replace the other"});
  expect_refused({"place", "single", problem, "-o", problem}, {"p.json", "would be lost"});
  expect_refused({"place", "climb", problem, "--start", placement, "-o", placement}, {"q.json", "would be lost"});
  expect_refused({"place", "single", "zoo:inception-v3@" + machine, "-o", machine}, {"m.toml", "would be lost"});
  expect_refused({"place", "single", problem + "#one", "-o", problem}, {"p.json", "would be lost"});
  expect_refused({"cost", "zoo:inception-v3", machine, "-o", machine}, {"m.toml", "would be lost"});
  expect_refused({"cost", "zoo:inception-v3", "laptop", "--profile", profile, "-o", profile},
                 {"t.tsv", "would be lost"});
  expect_refused({"convert", "zoo:inception-v3", "--placement", placement, "-o", placement},
                 {"q.json", "would be lost"});
  expect_refused({"calibrate", machine, "--device", "cpu:0", "zoo:inception-v3=" + profile, "-o", profile},
                 {"t.tsv", "would be lost"});
  expect_refused({"calibrate", machine, "--device", "cpu:0", "zoo:inception-v3=" + profile, "-o", machine},
                 {"m.toml", "would be lost"});
  const std::string model = file("model.json", R"({"modelTopology": {"node": [{"name": "x", "op": "Placeholder"}]},
    "weightsManifest": [{"paths": ["shard.bin"], "weights": []}]})");
  const std::string weights = file("shard.bin", "weights");
  expect_refused({"convert", model, "-o", weights}, {"shard.bin", "would be lost"});
  EXPECT_EQ(read_file(weights), "weights");
  EXPECT_EQ(read_file(problem), example_problem);
}

TEST_F(BadInput, ADuplicateOpName) {
  expect_refused(
      {"place", "single", file("p.json", R"({"emplace": "problem/1", "devices": [{"name": "d", "memory_bytes": null}],
      "ops": [{"name": "a", "seconds": [1]}, {"name": "a", "seconds": [1]}], "tensors": []})")},
      {"p.json", "'a'", "twice"});
}

TEST_F(BadInput, AGroupThatNoDeviceCanRun) {
  const std::string problem = file("p.json", R"({"emplace": "problem/1", "tensors": [],
      "devices": [{"name": "c", "memory_bytes": null}, {"name": "g", "memory_bytes": null}],
      "ops": [{"name": "a", "seconds": [1, null], "colocate": "cell"}, {"name": "b", "seconds": [null, 1], "colocate": "cell"}]})");
  const std::string placement = file("placement.json", R"({"emplace": "placement/1", "ops": {"a": "c", "b": "g"}})");
  expect_refused({"place", "single", problem}, {"p.json", "co-location group 'cell'"});
  expect_refused({"simulate", problem, placement}, {"p.json", "co-location group 'cell'"});
  expect_refused({"explain", problem, placement}, {"p.json", "co-location group 'cell'"});
}

TEST_F(BadInput, CostsThatAreNegativeAndTotalsThatAreTooLarge) {
  const auto refused = [&](const std::string& seconds, const std::string& rest, const std::vector<std::string>& parts) {
    expect_refused({"place", "single",
                    file("p.json", R"({"emplace": "problem/1", "tensors": [],
        "devices": [{"name": "d", "memory_bytes": null}], "ops": [{"name": "a", "seconds": [)" +
                                       seconds + "]" + rest + R"(}, {"name": "b", "seconds": [3e6]}]})")},
                   parts);
  };
  refused("-1", "", {"p.json: ops[0]", "'a'", "'d'", "-1"});
  refused("1e400", "", {"p.json", "1e400"});
  refused("3e6", "", {"p.json", "all times together", "2^62"});
  refused("1", R"(, "resident_bytes": 4611686018427387904, "scratch_bytes": 1)", {"all bytes together", "2^62"});
}

TEST_F(BadInput, SchedulesAndOrdersThatAreMissingOrWrong) {
  const std::string problem = file("p.json", example_problem);
  const std::string plain = file("plain.json", R"({"emplace": "placement/1", "ops": {"a": "gpu:0", "b": "cpu:0"}})");
  for (const char* command : {"simulate", "explain"}) {
    expect_refused({command, problem, plain, "--schedule", "in-order"}, {"plain.json", "in-order", "needs an order"});
    expect_refused({command, problem, plain, "--schedule", "inorder"}, {"--schedule", "'inorder'", "'in-order'"});
    expect_refused({command, problem, plain, "--objective", "pipelin"}, {"--objective", "'pipelin'", "'pipeline'"});
  }
  expect_refused({"compare", problem, plain, plain, "--schedule", "priority"}, {"plain.json", "needs an order"});
  expect_refused({"explain", problem, plain, "--evaluations", "-3"}, {"--evaluations", "-3"});
}

TEST_F(BadInput, ZeroDevices) {
  expect_refused(
      {"place", "single",
       file("p.json",
            R"({"emplace": "problem/1", "devices": [], "ops": [{"name": "a", "seconds": []}], "tensors": []})")},
      {"p.json", "devices"});
}

TEST_F(BadInput, MachinesThatContradictThemselves) {
  const std::string device =
      "name = \"m\"\n[[device]]\nname = \"cpu\"\nkind = \"cpu\"\nmemory_bytes = 1000000000\n"
      "memory_bytes_per_s = 1e10\npeak_flops = { f32 = 1e12 }\nefficiency = { default = 0.5 }\n";
  expect_refused(
      {"cost", "zoo:inception-v3",
       file("m.toml",
            device + "[[channel]]\nname = \"c\"\nlatency_s = 0.0\nbytes_per_s = 1e9\nserves = [\"cpu -> gpuu\"]\n")},
      {"m.toml", "'gpuu'"});
  expect_refused(
      {"cost", "zoo:inception-v3",
       file("m.toml", device + "[[channel]]\nname = \"c\"\nlatency_s = 0.0\nbytes_per_s = -1e9\nserves = []\n")},
      {"m.toml"});
  expect_refused({"cost", "zoo:inception-v3", file("m.toml", "name = \"m\"\n")}, {"m.toml", "device"});
  expect_refused({"cost", "zoo:inception-v3", "k40x0"}, {"k40xN", "'0'"});
  expect_refused({"cost", "zoo:inception-v3", "laptopp"}, {"'laptop'"});
}

TEST_F(BadInput, UnknownKeysNameTheNearestRightOne) {
  const std::string problem = file("p.json", example_problem);
  expect_refused({"train", recipe("problem = \"" + problem + "\"\nupdats = 5")},
                 {"recipe.toml:2", "'updats'", "'updates'"});
  expect_refused({"train", recipe("problem = \"" + problem + "\""), "post.elite_fractoin=0.2"},
                 {"'elite_fractoin'", "'elite_fraction'"});
  expect_refused({"train", recipe("problem = \"" + problem + "\"\npolicy = \"pots\"")},
                 {"recipe.toml:2", "'pots'", "'post'"});
  expect_refused({"train", "post-published", "problem=" + problem, "ppo.epochs=3"},
                 {"'ppo'", "'post'", "learner=ppo takes it"});
  expect_refused({"train", "post-published", "problem=" + problem, "--max-cuts", "3"},
                 {"--max-cuts", "max_cuts=VALUE"});
  expect_refused({"place", "gredy", problem}, {"'gredy'", "'greedy'"});
  expect_refused({"place", "single", problem, "colour=blue"}, {"'colour'"});
  expect_refused({"sim", problem, "x"}, {"'sim'", "'simulate'"});
  expect_refused({"inspect", "zoo:inceptoin-v3"}, {"'inception-v3'"});
  expect_refused({"inspect", "zoo:nmt?layer=2"}, {"'layer'", "'layers'"});
  expect_refused({"list", "policy"}, {"'policy'", "policies"});
}

TEST_F(BadInput, RecipesThatNameMissingFilesOrContradictThemselves) {
  const std::string problem = file("p.json", example_problem);
  expect_refused({"train", folder_ / "absent.toml"}, {"absent.toml"});
  expect_refused({"train", recipe("problem = \"/no/such/problem.json\"")}, {"/no/such/problem.json"});
  expect_refused({"train", recipe("problem = \"" + problem + "\"\ngraph = \"zoo:nmt\"\nmachine = \"k40x2\"")},
                 {"alternatives"});
  expect_refused({"train", recipe("graph = \"zoo:nmt\"")}, {"machine"});
  expect_refused({"train", recipe("seed = 1")}, {"problem"});
  expect_refused({"train", recipe("problem = \"" + problem + "\"\nevaluations = 0")}, {"evaluations", "at least 1"});
  expect_refused({"train"}, {"recipe"});
}

TEST_F(BadInput, ACorruptedCheckpoint) {
  const std::string problem = file("p.json", example_problem);
  const auto done = emplace_run({"train", recipe("problem = \"" + problem + "\"\nevaluations = 40"), "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const std::string run = folder_ / "run";
  std::string bytes = read_file(run + "/checkpoint.h5");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x10);
  for (const char* name : {"/checkpoint.h5", "/checkpoint.previous.h5"})
    write_file(run + name, bytes.substr(0, bytes.size() / 2));
  expect_refused({"inspect", run + "/checkpoint.h5"}, {"checkpoint.h5"});
  const auto resumed = emplace_run({"train", "--resume", run});
  EXPECT_EQ(resumed.exit_code, 2) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("checkpoint"));
}

TEST_F(BadInput, PlacementsThatDoNotFitTheProblem) {
  const std::string problem = file("p.json", example_problem);
  const auto refused = [&](const std::string& text, const std::vector<std::string>& parts) {
    expect_refused({"simulate", problem, file("placement.json", text)}, parts);
  };
  refused(R"({"emplace": "placement/1", "problem": "p", "ops": {"a": "gpu:0"}})", {"placement.json", "'b'"});
  refused(R"({"emplace": "placement/1", "problem": "p", "ops": {"a": "gpu:0", "b": "cpu:0", "c": "cpu:0"}})", {"'c'"});
  refused(R"({"emplace": "placement/1", "problem": "p", "ops": {"a": "gpu:0", "a": "cpu:0", "b": "cpu:0"}})", {"'a'"});
  refused(R"({"emplace": "placement/1", "problem": "p", "ops": {"a": "gpu:1", "b": "cpu:0"}})", {"'gpu:1'", "'gpu:0'"});
  refused(
      R"({"emplace": "placement/1", "problem": "p", "ops": {"a": "gpu:0", "b": "cpu:0"}, "schedule": "in-order", "order": ["b", "a"]})",
      {"order", "'a'", "'b'"});
}

TEST_F(BadInput, IsSaidOnceAndEndsEveryRank) {
  const auto done = emplace_run(3, {"train", recipe("problem = \"/no/such/problem.json\"")});
  EXPECT_EQ(done.exit_code, 2) << done.err;
  const std::string sentence = "error: /no/such/problem.json";
  const auto first = done.err.find(sentence);
  ASSERT_NE(first, std::string::npos) << done.err;
  EXPECT_EQ(done.err.find(sentence, first + 1), std::string::npos) << done.err;
}

TEST_F(BadInput, BudgetsOfZeroAndNegativeSeconds) {
  const std::string problem = file("p.json", example_problem);
  expect_refused({"place", "random", problem, "--evaluations", "0"}, {"--evaluations"});
  expect_refused({"place", "random", problem, "--evaluations", "-1"}, {"--evaluations", "-1"});
  expect_refused({"place", "random", problem, "--seed", "-1"}, {"--seed", "-1"});
  expect_refused({"place", "random", problem, "--seconds", "-1"}, {"--seconds"});
  expect_refused({"train", recipe("problem = \"" + problem + "\""), "--seconds", "0"}, {"seconds"});
}

}  // namespace
}  // namespace emplace::test::bad_input_test
