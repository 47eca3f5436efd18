#include "deploy/segments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

namespace emplace::deploy::segments_test {
namespace {

using ::testing::ElementsAre;

// A graph of ops 0, 1, ... with an edge for each pair.
Graph graph_of(std::size_t ops, const std::vector<std::pair<std::size_t, std::size_t>>& edges) {
  Graph graph;
  for (std::size_t i = 0; i < ops; ++i) {
    GraphOp op;
    op.name = "op" + std::to_string(i);
    op.type = "Relu";
    for (const auto& [from, to] : edges)
      if (to == i) op.inputs.push_back(Operand::of(graph.ops[from].outputs[0]));
    const OpId id = graph.add_op(std::move(op));
    graph.add_output(id, "t" + std::to_string(i), DType::f32, {1});
  }
  return graph;
}

std::vector<std::vector<std::uint32_t>> ops_of(const std::vector<Segment>& segments) {
  std::vector<std::vector<std::uint32_t>> list;
  for (const Segment& segment : segments) {
    list.emplace_back();
    for (const OpId op : segment.ops) list.back().push_back(op.value);
  }
  return list;
}

TEST(Segments, OneDeviceIsOneSegment) {
  EXPECT_THAT(ops_of(segments_of(graph_of(3, {{0, 1}, {1, 2}}), {"a", "a", "a"})), ElementsAre(ElementsAre(0, 1, 2)));
}

TEST(Segments, ThereAndBackAreThree) {
  EXPECT_THAT(ops_of(segments_of(graph_of(3, {{0, 1}, {1, 2}}), {"a", "b", "a"})),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
}

// 0 -> 1 (b) -> 2, and 3 -> 2 on a as 0 and 2 are: 1 must not wait for 3, which no op on b reads.
TEST(Segments, KeepOpsThatNoOtherDeviceNeedsOutOfThoseThatOneNeeds) {
  EXPECT_THAT(ops_of(segments_of(graph_of(4, {{0, 1}, {1, 2}}), {"a", "b", "a", "a"})),
              ElementsAre(ElementsAre(0), ElementsAre(3), ElementsAre(1), ElementsAre(2)));
}

TEST(Segments, HoldEveryOpOnceAndDependOnlyOnThoseBefore) {
  EXPECT_TRUE(rc::check("segments_of", [] {
    const auto count = static_cast<std::size_t>(*rc::gen::inRange(1, 25));
    std::vector<std::pair<std::size_t, std::size_t>> edges;
    std::vector<std::string> devices;
    for (std::size_t i = 0; i < count; ++i) {
      devices.push_back(*rc::gen::element<std::string>("a", "b", "c"));
      for (std::size_t k = 0; k < i; ++k)
        if (*rc::gen::inRange(0, 4) == 0) edges.emplace_back(k, i);
    }
    const auto segments = segments_of(graph_of(count, edges), devices);
    std::map<std::uint32_t, std::size_t> segment_of;
    for (std::size_t i = 0; i < segments.size(); ++i)
      for (const OpId op : segments[i].ops) {
        RC_ASSERT(segment_of.emplace(op.value, i).second);
        RC_ASSERT(devices[op.index()] == segments[i].device);
      }
    RC_ASSERT(segment_of.size() == count);
    for (const auto& [from, to] : edges)
      RC_ASSERT(segment_of[static_cast<std::uint32_t>(from)] <= segment_of[static_cast<std::uint32_t>(to)]);
  }));
}

}  // namespace
}  // namespace emplace::deploy::segments_test
