// Laws of the GraphDef reader over random graphs with loops, in any order of nodes.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "base/log.hpp"
#include "graph/ops/op_table.hpp"
#include "tests/formats/model_text.hpp"
#include "tests/formats/proto_bytes.hpp"

namespace emplace::formats::graphdef_property_test {
namespace {

struct Node {
  std::string name, op;
  std::vector<std::string> inputs;
};

std::string text_of(const std::vector<Node>& nodes) {
  std::string text;
  for (const Node& node : nodes) {
    text += "node { name: \"" + node.name + "\" op: \"" + node.op + "\"";
    for (const std::string& input : node.inputs) text += " input: \"" + input + "\"";
    text += " }\n";
  }
  return text;
}

std::string bytes_of(const std::vector<Node>& nodes) {
  using namespace proto;
  std::string bytes;
  for (const Node& node : nodes) {
    std::string one = field(1, node.name) + field(2, node.op);
    for (const std::string& input : node.inputs) one += field(3, input);
    bytes += field(1, one);
  }
  return bytes;
}

int draw(int below) { return *rc::gen::inRange(0, below); }

TEST(TensorflowReaderLaws, EdgesAreThePairsOfTheFileWhateverTheOrderAndTheForm) {
  log::configure(log::Level::error, false);  // of cut edges
  EXPECT_TRUE(rc::check("edges", [] {
    const int count = 2 + draw(30);
    std::vector<Node> nodes;
    std::set<std::pair<std::string, std::string>> pairs;
    std::size_t loops = 0;
    for (int i = 0; i < count; ++i) {
      const bool merge = draw(6) == 0;
      nodes.push_back({"n" + std::to_string(i), merge ? "Merge" : draw(5) == 0 ? "NextIteration" : "AddN", {}});
      for (int k = i == 0 ? 0 : draw(4); k > 0; --k) {
        const Node& from = nodes[static_cast<std::size_t>(draw(i))];
        // An edge from NextIteration to Merge is a loop's, in whatever direction it points.
        if (from.op == "NextIteration" && merge) continue;
        const int form = draw(3);
        nodes.back().inputs.push_back(form == 0   ? "^" + from.name
                                      : form == 1 ? from.name
                                                  : from.name + ":" + std::to_string(draw(3)));
        pairs.emplace(from.name, nodes.back().name);
      }
    }
    for (Node& from : nodes)
      if (from.op == "NextIteration")
        for (Node& to : nodes)
          if (to.op == "Merge" && draw(2) == 0) {
            to.inputs.push_back(from.name);
            pairs.emplace(from.name, to.name);
            ++loops;
          }
    for (int i = count - 1; i > 0; --i)
      std::swap(nodes[static_cast<std::size_t>(i)], nodes[static_cast<std::size_t>(draw(i + 1))]);

    const Graph text = read_model_text(text_of(nodes), "m.pbtxt");
    const Graph binary = read_model_text(bytes_of(nodes), "m.pb");
    RC_ASSERT(text.cut_edges.size() == loops);
    RC_ASSERT(statistics(text).edges == pairs.size());
    RC_ASSERT(statistics(binary).edges == pairs.size());
    RC_ASSERT(text.tensors.size() == binary.tensors.size());
    for (std::size_t i = 0; i < text.ops.size(); ++i) {
      RC_ASSERT(text.ops[i].name == nodes[i].name);
      RC_ASSERT(text.ops[i].inputs == binary.ops[i].inputs);
      RC_ASSERT(text.ops[i].after == binary.ops[i].after);
    }
  }));
  log::configure(log::Level::warning, false);
}

}  // namespace
}  // namespace emplace::formats::graphdef_property_test
