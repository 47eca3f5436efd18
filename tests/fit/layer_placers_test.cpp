#include "fit/layer_placers.hpp"

#include <gmock/gmock.h>

#include <map>
#include <mutex>
#include <set>

#include "emplace/base/error.hpp"
#include "emplace/problem/builder.hpp"
#include "emplace/search/placer.hpp"
#include "emplace/source/load_problem.hpp"
#include "language/language_graph.hpp"
#include "tests/fit/tiny_models.hpp"

namespace emplace::fit {
namespace {

using ::testing::HasSubstr;

class LayerPlacers : public ::testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() {
    static std::once_flag registered;
    std::call_once(registered, register_layer_placers);
  }

  static search::PlacerResult placed(const Problem& problem, const char* method = GetParam()) {
    const Problem* const problems[] = {&problem};
    const auto evaluator = evaluate::make_local_evaluator(problems, {});
    search::PlacerRequest request;
    request.problem = &problem;
    request.evaluator = evaluator.get();
    request.evaluations = 20;
    return search::place_with(method, request, {});
  }
};

Problem step_of_tiny(std::int64_t layers, const std::string& memory) {
  const Graph graph = language::language_graph(tiny_model(layers), {.context = 256}, "tiny");
  return source::make_problem(graph, tiny_machine(memory), {}, "tiny").problem;
}

TEST_P(LayerPlacers, PutAllLayersOnAnAcceleratorWithRoomAndTheEmbeddingOnTheHost) {
  const Problem problem = step_of_tiny(3, "1 GB");
  const search::PlacerResult result = placed(problem);
  EXPECT_TRUE(result.outcome.feasible());
  for (std::size_t op = 0; op < problem.op_count(); ++op)
    EXPECT_EQ(result.placement.device[op], problem.layer[op] == "input" ? 0 : 1) << problem.op_names[op];
}

TEST_P(LayerPlacers, KeepLayersWholeWhereTheyDoNotAllFit) {
  const Problem problem = step_of_tiny(6, "600 kB");
  const search::PlacerResult result = placed(problem);
  EXPECT_TRUE(result.outcome.feasible());
  std::map<std::string_view, std::set<int>> devices;
  std::set<int> used;
  for (std::size_t op = 0; op < problem.op_count(); ++op) {
    devices[problem.layer[op]].insert(result.placement.device[op]);
    used.insert(result.placement.device[op]);
  }
  EXPECT_EQ(used.size(), 2U);
  for (const auto& [layer, on] : devices) EXPECT_EQ(on.size(), 1U) << layer;
}

TEST_P(LayerPlacers, RefuseProblemsThatNameNoLayers) {
  ProblemBuilder builder("two ops");
  builder.add_device({.name = "cpu", .kind = "cpu"});
  builder.add_op({.name = "a", .type = "Add", .seconds = {1}});
  const Problem problem = builder.build();
  try {
    placed(problem);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("whole layers, which this problem does not name"));
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, LayerPlacers, ::testing::Values("fill-in-order", "proportional"));

}  // namespace
}  // namespace emplace::fit
