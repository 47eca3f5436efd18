// Files of clusters and layouts.
#include "serving/cluster_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/base/error.hpp"
#include "tests/serving/clusters.hpp"

namespace emplace::test::cluster_json_test {
namespace {

using serving::read_cluster;
using serving::read_layout;
using ::testing::HasSubstr;

const std::string good = R"({"name": "pair", "model": "toy", "layers": 3,
  "nodes": [{"name": "a", "type": "big", "max_layers": 2, "tokens_per_s": [9.5, 4.000001]},
            {"name": "b", "max_layers": 1, "tokens_per_s": [7]}],
  "links": [{"from": "source", "to": "a", "tokens_per_s": 100}, {"from": "a", "to": "b", "tokens_per_s": 50},
            {"from": "b", "to": "sink", "tokens_per_s": 100}],
  "published": {"tokens_per_s": 4, "layout": {"a": [0, 2], "b": [2, 3]}, "note": "by hand"}})";

std::string changed(const std::string& from, const std::string& to) {
  std::string text = good;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expect_refused(const std::string& text, const std::string& place, const std::string& says) {
  try {
    read_cluster(text, "c.json");
    ADD_FAILURE() << "accepted: " << text;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(::testing::StartsWith("c.json: " + place), HasSubstr(says)));
  }
}

TEST(ClusterFiles, AreReadAsTheyAre) {
  const Cluster cluster = read_cluster(good, "c.json");
  EXPECT_EQ(cluster.layers, 3U);
  ASSERT_EQ(cluster.size(), 2U);
  EXPECT_EQ(cluster.nodes[0].type, "big");
  EXPECT_EQ(cluster.nodes[0].speed, (std::vector<Rate>{9'500'000, 4'000'001}));
  EXPECT_EQ(cluster.between(0, 1), 50 * token);
  EXPECT_EQ(cluster.between(1, 0), 50 * token);
  EXPECT_EQ(cluster.from_source, (std::vector<Rate>{100 * token, 0}));
  EXPECT_EQ(cluster.to_sink, (std::vector<Rate>{0, 100 * token}));
  EXPECT_EQ(cluster.published.throughput, 4 * token);
}

TEST(ClusterFiles, AreToldApartFromProblems) {
  EXPECT_TRUE(serving::is_cluster_text(good));
  EXPECT_TRUE(serving::is_cluster_text(R"({"emplace": "serving/1", "layers": 3})"));
  EXPECT_FALSE(serving::is_cluster_text(R"({"emplace": "problem/1", "layers": 3, "nodes": [], "links": []})"));
  EXPECT_FALSE(serving::is_cluster_text(R"({"layers": 3, "nodes": []})"));
  EXPECT_FALSE(serving::is_cluster_text("[1, 2]"));
}

TEST(ClusterFiles, KeepOnlyTheSpeedsThatTheModelCanUse) {
  const std::string one = R"({"layers": 1, "nodes": [{"name": "a", "max_layers": 2, "tokens_per_s": [2, 1]}],
    "links": [{"from": "source", "to": "a", "tokens_per_s": 1}, {"from": "a", "to": "sink", "tokens_per_s": 1}]})";
  EXPECT_EQ(read_cluster(one, "c.json").most(0), 1U);
}

TEST(ClusterFiles, RefuseWhatIsNoCluster) {
  expect_refused(changed("\"layers\": 3", "\"layers\": 0"), "layers", "0");
  expect_refused(changed("\"layers\": 3", "\"layers\": 1e9"), "layers", "1000000000");
  expect_refused(changed("\"max_layers\": 2", "\"max_layers\": 3"), "nodes[0].tokens_per_s",
                 "has 2 rates, and max_layers is 3");
  expect_refused(changed("4.000001", "0"), "nodes[0].tokens_per_s[1]", "at least 1e-06 tokens/s, got 0");
  expect_refused(changed("4.000001", "-1"), "nodes[0].tokens_per_s[1]", "at least");
  expect_refused(changed("4.000001", "1e13"), "nodes[0].tokens_per_s[1]", "at most");
  expect_refused(changed("4.000001", "\"4\""), "nodes[0].tokens_per_s[1]", "text");
  expect_refused(changed("\"name\": \"b\"", "\"name\": \"a\""), "nodes[1].name", "two nodes are called");
  expect_refused(changed("\"name\": \"b\"", "\"name\": \"sink\""), "nodes[1].name", "reserved");
  expect_refused(changed("\"to\": \"b\"", "\"to\": \"bb\""), "links[1].to", "no node is called 'bb'");
  expect_refused(changed("\"to\": \"b\"", "\"to\": \"a\""), "links[1]", "to itself");
  expect_refused(changed("\"to\": \"b\"", "\"to\": \"source\""), "links[1].to", "no link ends at the source");
  expect_refused(changed("{\"from\": \"b\", \"to\": \"sink\"", "{\"from\": \"b\", \"to\": \"a\""), "links[2]",
                 "a second link");
  expect_refused(changed("\"tokens_per_s\": 50", "\"tokens_per_s\": 0"), "links[1].tokens_per_s", "at least");
  expect_refused(changed("\"model\"", "\"modle\""), "", "unknown key 'modle' (did you mean 'model'");
  expect_refused(changed("\"b\": [2, 3]", "\"b\": [2, 4]"), "published.layout.b[1]", "4");
  expect_refused(changed("\"from\": \"source\"", "\"from\": \"sink\""), "links[0].from", "no link begins at the sink");
  expect_refused(R"({"layers": 3, "nodes": [], "links": []})", "nodes", "is empty");
}

TEST(ClusterFiles, RefusePartsThatNoLinkJoins) {
  const std::string apart = R"({"layers": 1, "nodes": [{"name": "a", "max_layers": 1, "tokens_per_s": [1]},
    {"name": "b", "max_layers": 1, "tokens_per_s": [1]}], "links": [{"from": "source", "to": "a", "tokens_per_s": 1},
    {"from": "a", "to": "sink", "tokens_per_s": 1}]})";
  expect_refused(apart, "links", "join only 1 of 2 nodes to 'a', not 'b'");
}

TEST(ClusterFiles, RefuseTooManyNodes) {
  std::string nodes;
  for (int n = 0; n < 3000; ++n)
    nodes += (n == 0 ? "" : ",") + std::string(R"({"name": "n)") + std::to_string(n) +
             R"(", "max_layers": 1, "tokens_per_s": [1]})";
  expect_refused(R"({"layers": 1, "nodes": [)" + nodes + R"(], "links": []})", "nodes",
                 "has 3000 nodes, wanted at most");
}

TEST(LayoutFiles, ReadWhatIsWritten) {
  const Cluster cluster = read_cluster(good, "c.json");
  for (const Layout& layout : {Layout{{0, 2}, {2, 3}}, Layout{{}, {1, 2}}, Layout{{}, {}}})
    EXPECT_EQ(read_layout(write_layout(cluster, layout), "l.json", cluster), layout);
  // What `place --json` prints has the layout under a key.
  EXPECT_EQ(read_layout(R"({"tokens_per_s": 4, "layout": {"b": [0, 1]}})", "l.json", cluster), (Layout{{}, {0, 1}}));
}

TEST(LayoutFiles, RefuseWhatTheClusterCannotHold) {
  const Cluster cluster = read_cluster(good, "c.json");
  const auto refused = [&](const std::string& text, const std::string& says) {
    try {
      read_layout(text, "l.json", cluster);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(says));
    }
  };
  refused(R"({"c": [0, 1]})", "no node is called 'c'");
  refused(R"({"a": [0, 3]})", "has 3 layers, and the node holds at most 2");
  refused(R"({"a": [2, 1]})", "begins at layer 2, after its end 1");
  refused(R"({"a": [0, 4]})", "4");
  refused(R"({"a": [0]})", "has 1 numbers, wanted two");
  refused(R"({"a": [0, 1], "a": [0, 1]})", "a");
  refused("[]", "object");
}

}  // namespace
}  // namespace emplace::test::cluster_json_test
