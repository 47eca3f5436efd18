// Clusters on the command line: place, simulate, bound, inspect.
#include <gmock/gmock.h>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/end_to_end/refusal.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::serving_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Two nodes of 60 tokens/s with two layers and two of 25 with one, all joined; a chain of all four passes 25, the fast
// ones with the slow ones side by side 50, and nothing more: one slow node alone passes 25.
json small_cluster() {
  json cluster{{"name", "four"}, {"model", "toy"}, {"layers", 5}, {"nodes", json::array()}, {"links", json::array()}};
  for (int n = 0; n < 4; ++n) {
    const std::string name = "n" + std::to_string(n);
    cluster["nodes"].push_back({{"name", name},
                                {"type", n < 2 ? "big" : "small"},
                                {"max_layers", n < 2 ? 2 : 1},
                                {"tokens_per_s", n < 2 ? json{90, 60} : json{25}}});
    cluster["links"].push_back({{"from", "source"}, {"to", name}, {"tokens_per_s", 1000}});
    cluster["links"].push_back({{"from", name}, {"to", "sink"}, {"tokens_per_s", 1000}});
    for (int m = 0; m < n; ++m)
      cluster["links"].push_back({{"from", "n" + std::to_string(m)}, {"to", name}, {"tokens_per_s", 500}});
  }
  return cluster;
}

class Serving : public ::testing::Test {
 protected:
  void SetUp() override { write_file(file_, small_cluster().dump()); }
  TemporaryFolder folder_;
  std::string file_ = folder_ / "cluster.json";
  std::string layout_ = folder_ / "layout.json";
};

TEST_F(Serving, APolicyLearnsAPlanWithTheSameBitsAtAnyNumberOfRanks) {
  std::string first;
  for (const int ranks : {1, 2, 3}) {
    const std::string run = folder_ / ("run" + std::to_string(ranks));
    const auto done = emplace_run(ranks, {"train", "serving", "problem=" + file_, "evaluations=2000", "run=" + run});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const std::string found = read_file(run + "/best.placement.json");
    if (ranks == 1) first = found;
    EXPECT_EQ(json::parse(found)["ops"], json::parse(first)["ops"]);
  }
  const std::string placement = folder_ / "run1/best.placement.json";
  const auto simulated = emplace_run({"simulate", file_, placement, "--json"});
  ASSERT_EQ(simulated.exit_code, 0) << simulated.err;
  EXPECT_EQ(json::parse(simulated.out)["tokens_per_s"], 50) << "the optimum";
  const auto searched =
      emplace_run({"place", "intervals", file_, "--start", placement, "--evaluations", "10", "--json"});
  ASSERT_EQ(searched.exit_code, 0) << searched.err;
  EXPECT_EQ(json::parse(searched.out)["tokens_per_s"], 50) << "no worse than its start";
}

TEST_F(Serving, ATrainingOnAClusterNeedsTheEvaluatorOfClusters) {
  const auto done = emplace_run({"train", "post", "problem=" + file_});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("is a cluster to serve a model on, which evaluator 'simulator' cannot judge"));
}

TEST_F(Serving, BestFindsAndProvesTheBestPlan) {
  const auto done = emplace_run({"place", "best", file_, "--json", "-o", layout_});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json result = json::parse(done.out);
  EXPECT_EQ(result["tokens_per_s"], 50);
  EXPECT_EQ(result["upper_bound_tokens_per_s"], 50);
  EXPECT_EQ(result["feasible"], true);
  EXPECT_EQ(result["proved_optimal"], true);
  EXPECT_EQ(result["simple_rules"]["equal-split"], 25);
  EXPECT_GE(result["seconds"].get<double>(), 0);
  EXPECT_EQ(json::parse(read_file(layout_)), result["layout"]);

  const auto simulated = emplace_run({"simulate", file_, layout_, "--json"});
  ASSERT_EQ(simulated.exit_code, 0) << simulated.err;
  const json flow = json::parse(simulated.out);
  EXPECT_EQ(flow["tokens_per_s"], 50);
  EXPECT_EQ(flow["nodes"].size(), 4U);
  EXPECT_TRUE(flow["reason"].is_null());
}

TEST_F(Serving, TextSaysWhatNodesHoldAndWhatThePlanIsWorth) {
  const auto done = emplace_run({"place", "equal-split", file_});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out,
              AllOf(HasSubstr("equal-split on four (toy), 5 layers on 4 nodes"), HasSubstr("busiest links"),
                    HasSubstr("no plan passes more than 50.0 tokens/s"), HasSubstr("next: emplace place best")));
}

TEST_F(Serving, SimulateSaysWhyNothingPasses) {
  write_file(layout_, R"({"n0": [0, 2], "n1": [3, 5]})");
  const auto done = emplace_run({"simulate", file_, layout_, "--json"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const json result = json::parse(done.out);
  EXPECT_EQ(result["tokens_per_s"], 0);
  EXPECT_EQ(result["feasible"], false);
  EXPECT_THAT(result["reason"].get<std::string>(), HasSubstr("to layer 2, where no node begins"));
}

TEST_F(Serving, EndsWithThreeWhereTheNodesCannotHoldTheModel) {
  json cluster = small_cluster();
  cluster["layers"] = 7;
  write_file(file_, cluster.dump());
  const auto done = emplace_run({"place", "best", file_, "--json"});
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_EQ(json::parse(done.out)["feasible"], false);
  EXPECT_THAT(done.err, HasSubstr("the nodes hold 6 layers together, and the model has 7"));
  EXPECT_EQ(emplace_run({"bound", file_, "--json"}).exit_code, 3);
}

TEST_F(Serving, BoundAndInspectTakeAClusterToo) {
  const auto bound = emplace_run({"bound", file_, "--json"});
  ASSERT_EQ(bound.exit_code, 0) << bound.err;
  EXPECT_EQ(json::parse(bound.out)["upper_bound_tokens_per_s"], 50);
  const auto inspected = emplace_run({"inspect", file_, "--json"});
  ASSERT_EQ(inspected.exit_code, 0) << inspected.err;
  EXPECT_EQ(json::parse(inspected.out),
            (json{{"kind", "serving"}, {"name", "four"}, {"model", "toy"}, {"layers", 5}, {"nodes", 4}, {"links", 6}}));
}

TEST_F(Serving, SameBudgetOfEvaluationsGivesTheSameLayoutUnderMpi) {
  const std::vector<std::string> arguments{"place", "stages", file_, "--evaluations", "3000", "--seed", "4", "--json"};
  const json alone = json::parse(emplace_run(arguments).out);
  const json three = json::parse(emplace_run(3, arguments).out);
  EXPECT_EQ(alone["layout"], three["layout"]);
  EXPECT_EQ(alone["evaluations"], three["evaluations"]);
}

TEST_F(Serving, RefusesWhatIsForProblemsWithOps) {
  write_file(layout_, "{}");
  expect_refused({"place", "best", file_, "--max-cuts", "2"}, HasSubstr("is for problems with ops"));
  expect_refused({"place", "best", file_, "--schedule", "fifo"}, HasSubstr("--schedule"));
  expect_refused({"place", "best", file_, "--objective", "pipeline"}, HasSubstr("--objective"));
  expect_refused({"place", "best", file_, "--batch", "2"}, HasSubstr("--batch"));
  expect_refused({"simulate", file_, layout_, "--trace", folder_ / "t.json"}, HasSubstr("--trace"));
  expect_refused({"bound", file_, "--objective", "pipeline"}, HasSubstr("--objective"));
  expect_refused({"place", "bset", file_}, HasSubstr("did you mean 'best'"));
  expect_refused({"place", "best", file_, "moves=3"}, HasSubstr("moves"));
  expect_refused({"place", "best", file_, "--seconds", "0"}, HasSubstr("--seconds"));
}

TEST_F(Serving, RefusesBadClustersWithOneSentence) {
  const auto refused = [&](const char* pointer, const json& value, const std::string& says) {
    json cluster = small_cluster();
    cluster[json::json_pointer(pointer)] = value;
    write_file(file_, cluster.dump());
    expect_refused({"place", "best", file_}, AllOf(HasSubstr("cluster.json"), HasSubstr(says)));
  };
  refused("/nodes/1/name", "n0", "two nodes are called 'n0'");
  refused("/nodes/1/tokens_per_s/0", 0, "nodes[1].tokens_per_s[0]");
  refused("/nodes/1/max_layers", 3, "has 2 rates, and max_layers is 3");
  refused("/links/0/to", "n9", "no node is called 'n9'");
  refused("/links/0/tokens_per_s", -1, "links[0].tokens_per_s");
  refused("/layers", "five", "layers");
}

// networkx, another program's maximum flow, on the plans that the placers find.
TEST_F(Serving, ThroughputIsThatOfNetworkx) {
  if (run({"python3", "-c", "import networkx"}).exit_code != 0) GTEST_SKIP() << "networkx is not installed";
  const char* const program = R"(import json, sys
import networkx as nx
cluster, plan = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
speed = {n["name"]: n["tokens_per_s"] for n in cluster["nodes"]}
g = nx.DiGraph()
g.add_nodes_from(["source", "sink"])
for name, (first, end) in plan.items():
    g.add_edge(name + " in", name + " out", capacity=round(speed[name][end - first - 1] * 1e6))
for link in cluster["links"]:
    rate = round(link["tokens_per_s"] * 1e6)
    for a, b in ((link["from"], link["to"]), (link["to"], link["from"])):
        if a == "source" and b in plan and plan[b][0] == 0:
            g.add_edge(a, b + " in", capacity=rate)
        elif b == "sink" and a in plan and plan[a][1] == cluster["layers"]:
            g.add_edge(a + " out", b, capacity=rate)
        elif a in plan and b in plan and plan[a][1] == plan[b][0]:
            g.add_edge(a + " out", b + " in", capacity=rate)
print(nx.maximum_flow_value(g, "source", "sink")))";
  json cluster = small_cluster();
  for (std::size_t i = 0; i < cluster["links"].size(); ++i)
    if (cluster["links"][i]["from"] != "source" && cluster["links"][i]["to"] != "sink")
      cluster["links"][i]["tokens_per_s"] = 7.5 + 3.25 * static_cast<double>(i);
  write_file(file_, cluster.dump());
  for (const char* method : {"equal-split", "swarm", "stages", "intervals", "best"}) {
    const auto placed = emplace_run({"place", method, file_, "--evaluations", "4000", "-o", layout_, "--json"});
    const auto other = run({"python3", "-c", program, file_, layout_});
    ASSERT_EQ(other.exit_code, 0) << other.err;
    EXPECT_DOUBLE_EQ(json::parse(placed.out)["tokens_per_s"].get<double>() * 1e6, std::stod(other.out)) << method;
  }
}

}  // namespace
}  // namespace emplace::test::serving_test
