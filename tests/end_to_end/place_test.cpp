// `emplace place` under mpirun, interrupted, from a start, and without any feasible placement.
#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/search/placer.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::place_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string model = "zoo:nmt?layers=2&sequence=4&training=true@k40x2";

class Place : public ::testing::Test {
 protected:
  // The placement that the program wrote, and its object without clocks.
  struct Result {
    std::string placement;
    json object;
  };
  Result result_of(const Finished& done) {
    EXPECT_EQ(done.exit_code, 0) << done.err;
    Result result{read_file(file_), json::parse(done.out)};
    result.object.erase("seconds");
    return result;
  }
  std::vector<std::string> place(const std::string& method, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"place", method, model, "-o", file_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  TemporaryFolder folder_;
  const std::string file_ = folder_ / "placement.json";
};

TEST_F(Place, GivesTheSameBitsForAnyNumberOfRanks) {
  const std::vector<int> every = {1, 2, 3, 4}, three = {3};
  // Starting ranks takes most of the time, so not every placer is tested with every number.
  const std::pair<const char*, std::vector<int>> methods[] = {
      {"best", every},       {"layers", every},  {"learned", every}, {"ruin", every},
      {"contracted", every}, {"layered", every}, {"climb", three},   {"anneal", three},
      {"tabu", three},       {"brkga", three},   {"random", three},  {"scotch", three}};
  for (const auto& [method, numbers] : methods) {
    const auto arguments = place(method, {"--evaluations", "1500", "--seed", "3", "--json"});
    const Result alone = result_of(emplace_run(arguments));
    for (const int ranks : numbers) {
      const Result shared = result_of(emplace_run(ranks, arguments));
      EXPECT_EQ(shared.placement, alone.placement) << method << ", " << ranks << " ranks";
      EXPECT_EQ(shared.object, alone.object) << method << ", " << ranks << " ranks";
    }
  }
}

// Checks that it ends within seconds although a day of its budget is left.
void expect_interrupted(Process& process, int signal, const std::string& file) {
  std::this_thread::sleep_for(std::chrono::seconds(2));
  process.signal(signal);
  const Finished done = process.wait(std::chrono::seconds(60));
  EXPECT_EQ(done.exit_code, 75) << done.err;
  EXPECT_THAT(done.err, HasSubstr("stopped early on request"));
  EXPECT_EQ(emplace_run({"simulate", model, file}).exit_code, 0);
}

TEST_F(Place, WritesTheBestSoFarAndEndsWith75WhenItIsInterrupted) {
  for (const int signal : {SIGINT, SIGUSR1, SIGTERM}) {
    std::filesystem::remove(file_);
    Process process(command(place("best", {"--seconds", "86400", "bound_share=0"})));
    expect_interrupted(process, signal, file_);
  }
}

// Off a terminal the line is printed from the third second on.
TEST_F(Place, ShowsTheMethodThatRunsAndTheBestSoFarInItsProgressLine) {
  const auto done = emplace_run(place("best", {"--seconds", "3"}));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, ::testing::ContainsRegex(" %  [a-z-]+: [0-9.]+ [mu]?s so far, [0-9]+ evaluations"));
}

// The quick placers that the verdict compares with take a while on 70,000 ops.
TEST_F(Place, HasWrittenItsFileBeforeItComparesAndEndsWithTheVerdictWhenItIsInterruptedThen) {
  const std::string large = "zoo:gnmt?layers=8&sequence=100&training=true@k40x2";
  Process process(command({"place", "single", large, "-o", file_}));
  EXPECT_TRUE(comes_true([&] { return file_exists(file_); }));
  process.signal(SIGINT);
  const Finished done = process.wait(std::chrono::seconds(60));
  EXPECT_EQ(done.exit_code, 75) << done.err;
  EXPECT_THAT(done.out, HasSubstr("\nverdict\n"));
  EXPECT_THAT(done.err, HasSubstr("the placement had been found when the stop was requested"));
  EXPECT_EQ(emplace_run({"simulate", large, file_}).exit_code, 0);
}

TEST_F(Place, EndsItsWorkersWhenItIsInterruptedUnderMpirun) {
  Process process(under_mpirun(3, command(place("tabu", {"--seconds", "86400"}))));
  expect_interrupted(process, SIGUSR1, file_);
}

TEST_F(Place, BeginsAtTheGivenPlacement) {
  const Result first = result_of(emplace_run(place("best", {"--evaluations", "3000", "--json"})));
  const std::string found = folder_ / "found.json";
  write_file(found, first.placement);
  // One evaluation is used for the start placement.
  const Result again = result_of(emplace_run(place("tabu", {"--start", found, "--evaluations", "1", "--json"})));
  EXPECT_EQ(again.object["makespan_ps"], first.object["makespan_ps"]);
  EXPECT_EQ(again.object["ops"], first.object["ops"]);
  const auto refused = emplace_run(place("tabu", {"--start", folder_ / "none.json"}));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("none.json"));
  const auto unused = emplace_run(place("heft", {"--start", found}));
  EXPECT_EQ(unused.exit_code, 2);
  EXPECT_THAT(unused.err, AllOf(HasSubstr("--start"), HasSubstr("climb"), HasSubstr("'heft'")));
}

TEST_F(Place, RefusesAStartForEveryPlacerThatWouldNotUseIt) {
  const std::string problem = folder_ / "problem.json";
  write_file(problem, example_problem);
  const std::string start = folder_ / "start.json";
  write_file(start, R"({"emplace": "placement/1", "ops": {"a": "gpu:0", "b": "cpu:0"}})");
  for (const search::PlacerEntry& entry : search::placers()) {
    if (entry.name.find(':') != std::string::npos) continue;  // a family: device:NAME
    const auto done = emplace_run({"place", entry.name, problem, "--start", start, "--evaluations", "50"});
    EXPECT_EQ(done.exit_code, entry.from_start ? 0 : 2) << entry.name << ": " << done.err;
    if (!entry.from_start) {
      EXPECT_THAT(done.err,
                  AllOf(HasSubstr("--start"), HasSubstr("'" + entry.name + "' does not use a first placement")));
    }
  }
  const auto family = emplace_run({"place", "device:gpu:0", problem, "--start", start});
  EXPECT_EQ(family.exit_code, 2);
  EXPECT_THAT(family.err, HasSubstr("'device:gpu:0' does not use a first placement"));
}

TEST_F(Place, DoesNotCountTheFirstOrderOfAPlacementAsAnEvaluation) {
  for (const char* method : {"round-robin", "cpu-only", "heft"})
    for (const char* schedule : {"fifo", "priority", "in-order"}) {
      const Result placed =
          result_of(emplace_run(place(method, {"--schedule", schedule, "--evaluations", "1", "--json"})));
      EXPECT_EQ(placed.object["evaluations"], 1) << method << ", " << schedule;
      EXPECT_EQ(placed.object["order"].is_null(), std::string(schedule) == "fifo") << method << ", " << schedule;
    }
}

TEST_F(Place, WritesWhenItKnewHowGoodAPlacement) {
  const std::string curve = folder_ / "curve.csv";
  const Finished done =
      emplace_run({"place", "best", small_training + "@k40x2", "--seconds", "1", "--curve", curve, "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const auto result = nlohmann::json::parse(done.out);
  std::vector<std::string> lines = split(read_file(curve), '\n');
  EXPECT_EQ(lines.front(), "seconds,evaluations,step_ps");
  double seconds = 0;
  std::int64_t step = std::numeric_limits<std::int64_t>::max();
  ASSERT_GT(lines.size(), 3U) << "a quick placer's and a search's step at least";
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    const std::vector<std::string> cells = split(lines[i], ',');
    ASSERT_EQ(cells.size(), 3U) << lines[i];
    EXPECT_GE(std::stod(cells[0]), seconds);
    EXPECT_LT(std::stoll(cells[2]), step);
    seconds = std::stod(cells[0]);
    step = std::stoll(cells[2]);
  }
  EXPECT_EQ(step, result["makespan_ps"]) << "the last row has the result";
  const auto refused = emplace_run({"place", "heft", small_training + "@k40x2", "--curve", curve, "-o", curve});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("name one file"));
}

TEST_F(Place, RefusesAFileThatCannotBeWrittenBeforeItSearches) {
  const auto done = emplace_run({"place", "best", model, "--seconds", "86400", "-o", folder_ / "none/placement.json"});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.err, AllOf(HasSubstr("none/placement.json"), HasSubstr("cannot be written")));
}

TEST_F(Place, NamesTheNearestOptionAndWhatAModelLacks) {
  const auto mistyped = emplace_run({"place", "best", model, "--secnds", "3"});
  EXPECT_EQ(mistyped.exit_code, 2);
  EXPECT_THAT(mistyped.err, HasSubstr("--secnds (did you mean '--seconds'?)"));
  const std::string xml = folder_ / "model.xml";
  write_file(xml, "<?xml version=\"1.0\"?><net name=\"n\" version=\"11\"><layers/><edges/></net>");
  const auto alone = emplace_run({"place", "best", xml});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.err, AllOf(HasSubstr("is a model"), HasSubstr("model.xml@MACHINE")));
}

TEST_F(Place, PrintsNoControlCharactersOfAProblemsName) {
  std::string text = example_problem;
  const std::string name = "two-device chain", problem = folder_ / "p.json";
  write_file(problem, text.replace(text.find(name), name.size(), "red \\u001b[31m name"));
  ASSERT_EQ(emplace_run({"place", "single", problem, "-o", file_}).exit_code, 0);
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"place", "single", problem},
           {"simulate", problem, file_},
           {"bound", problem},
           {"explain", problem, file_},
           {"compare", problem, file_, file_},
           {"inspect", problem},
           {"train", "post-published", "problem=" + problem, "updates=1", "run=" + (folder_ / "run")}}) {
    const Finished done = emplace_run(arguments);
    EXPECT_EQ(done.exit_code, 0) << arguments.front() << done.err;
    EXPECT_THAT(done.out, HasSubstr("red \\x1b[31m name")) << arguments.front();
    EXPECT_EQ((done.out + done.err).find('\x1b'), std::string::npos) << arguments.front();
  }
}

TEST_F(Place, SaysWhyNothingIsFeasible) {
  const std::string problem = folder_ / "problem.json";
  // Together 60 bytes on devices of 50: neither op fits beside the other, and there is one device.
  write_file(problem, R"({"emplace": "problem/1", "devices": [{"name": "d", "memory_bytes": 50}],
    "ops": [{"name": "a", "seconds": [1], "resident_bytes": 30}, {"name": "b", "seconds": [1], "resident_bytes": 30}],
    "tensors": []})");
  for (const char* method : {"best", "heft", "single"}) {
    const auto done = emplace_run({"place", method, problem});
    EXPECT_EQ(done.exit_code, 3) << method;
    EXPECT_THAT(done.out, AllOf(HasSubstr("not feasible: "), HasSubstr("the ops need 60 B of resident memory")))
        << method;
    const auto as_json = emplace_run({"place", method, problem, "--json"});
    EXPECT_EQ(as_json.exit_code, 3) << method;
    EXPECT_EQ(json::parse(as_json.out)["feasible"], false) << method;
    EXPECT_THAT(as_json.err, HasSubstr("no placement is feasible: the ops need 60 B")) << method;
  }
}

TEST_F(Place, MovesTheUnitsOfAPolicyWhereTheirNumberIsGiven) {
  const std::string file = folder_ / "placement.json";
  const auto step = [&](const char* units) {
    const auto done = emplace_run({"place", "climb", "zoo:rnnlm@k40x2", "--units", units, "--evaluations", "300",
                                   "--json", "-o", file, "--seed", "1"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr(std::string("only placements of at most ") + units + " units"));
    return json::parse(done.out)["makespan_ps"].get<std::int64_t>();
  };
  const std::int64_t one = step("1");
  std::set<std::string> devices;
  const json placement = json::parse(read_file(file));
  for (const auto& device : placement["ops"]) devices.insert(device.get<std::string>());
  EXPECT_EQ(devices.size(), 1U);
  EXPECT_LT(step("8"), one);
  EXPECT_EQ(step("1000000"), step("100000")) << "both are every op alone";
}

TEST_F(Place, TakesTheKindOfTheUnitsThatItPlaces) {
  const auto step = [&](const std::string& grouping) {
    const auto done = emplace_run({"place", "random", "zoo:rnnlm@k40x2", "--units", "40", "--grouping", grouping,
                                   "--evaluations", "1", "--json", "--seed", "1"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return json::parse(done.out)["makespan_ps"].get<std::int64_t>();
  };
  EXPECT_NE(step("layers"), step("colocation"));
  const auto refused = [](std::vector<std::string> words, const char* why) {
    words.insert(words.begin(), {"place", "random", "zoo:rnnlm@k40x2"});
    const auto done = emplace_run(words);
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.err, HasSubstr(why));
  };
  refused({"--grouping", "layers"}, "--grouping: wanted --units too: how many units are placed");
  refused({"--units", "4", "--grouping", "layer"}, "--grouping: unknown grouping 'layer' (did you mean 'layers'?)");
}

TEST_F(Place, CountsSecondsOnTheClockThatTheEnvironmentNames) {
  std::vector<std::string> arguments = command(place("climb", {"--seconds", "0.2", "--json"}));
  arguments.insert(arguments.begin(), {"env", "EMPLACE_CLOCK=cpu"});
  const Finished done = run(arguments);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_GE(json::parse(done.out)["seconds"], 0.2);
  arguments[1] = "EMPLACE_CLOCK=sun";
  std::vector<std::string> training = command({"train", "post", "zoo:resnet-50@k40x2", "run=" + (folder_ / "run")});
  training.insert(training.begin(), {"env", "EMPLACE_CLOCK=sun"});
  for (const auto& words : {arguments, training}) {
    const Finished refused = run(words);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_EQ(refused.err, "error: the environment variable EMPLACE_CLOCK must be 'wall' or 'cpu', got 'sun'\n");
  }
}

// The first rank waits while others search: by what it computes a budget of 0.2 s would last for many seconds.
TEST_F(Place, RefusesToCountWhatOneOfSeveralRanksComputes) {
  std::vector<std::string> arguments = under_mpirun(3, command(place("climb", {"--seconds", "0.2"})));
  arguments.insert(arguments.begin(), {"env", "EMPLACE_CLOCK=cpu"});
  const Finished refused = run(arguments);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("error: the environment variable EMPLACE_CLOCK must be 'wall' or not set with 3 ranks"));
}

}  // namespace
}  // namespace emplace::test::place_test
