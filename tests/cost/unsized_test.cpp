// Tensors of unknown size: models that have many are refused, and problems keep the caveat.
#include "cost/unsized.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/source/load_problem.hpp"
#include "tests/cost/small_graphs.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::cost::unsized_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A chain of `ops` Relu, of which the first `unsized` have outputs of unknown size.
Graph chain(std::size_t ops, std::size_t unsized) {
  Graph g;
  TensorId last = g.add_input("x", DType::f32, {4});
  for (std::size_t i = 0; i < ops; ++i) {
    const OpId relu = g.add_op(op("relu" + std::to_string(i), "Relu", {Operand::of(last)}));
    last = g.add_output(relu, "y" + std::to_string(i), DType::f32,
                        i < unsized ? Shape{Shape::unknown_dimension} : Shape{4});
  }
  return g;
}

std::string refusal(const Graph& graph, const RooflineOptions& options = {}) {
  try {
    (void)source::make_problem(graph, two_speeds(), options, "model.onnx");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Unsized, AModelIsRefusedAboveOnePercentOfItsOps) {
  EXPECT_EQ(refusal(chain(200, 0)), "");
  EXPECT_EQ(refusal(chain(200, 2)), "");
  EXPECT_THAT(refusal(chain(200, 3)),
              AllOf(HasSubstr("model.onnx: 3 of 200 ops (1.5 %) have outputs of unknown size: 'Relu' (3)"),
                    HasSubstr("all inputs have fixed sizes"), HasSubstr(": 'relu0' (Relu). --allow-unsized"),
                    ::testing::Not(HasSubstr("--shape"))));
  RooflineOptions options;
  options.allow_unsized = true;
  EXPECT_EQ(refusal(chain(200, 3), options), "");
}

// OpenVINO's and TensorFlow's files have ops that stand for inputs.
TEST(Unsized, AsksForTheSizesOfInputsThatOpsStandFor) {
  Graph graph;
  const OpId input = graph.add_op(op("ids", "Parameter", {}));
  const TensorId ids = graph.add_output(input, "ids:0", DType::f32, {Shape::unknown_dimension});
  graph.add_output(graph.add_op(op("relu", "Relu", {Operand::of(ids)})), "y", DType::f32, {Shape::unknown_dimension});
  EXPECT_EQ(advice_on_sizes(graph), "give the sizes of 'ids' (?) with --shape INPUT=SIZES or --batch N");
}

TEST(Unsized, AsksForTheSizesOfInputsOnlyIfOneIsOpen) {
  Graph graph = chain(3, 1);
  EXPECT_THAT(advice_on_sizes(graph), HasSubstr("depend on data, or no rule for them is known: 'relu0' (Relu)"));
  graph.tensors[0].shape = {Shape::unknown_dimension};
  EXPECT_EQ(advice_on_sizes(graph), "give the sizes of 'x' (?) with --shape INPUT=SIZES or --batch N");
  EXPECT_THAT(advice_on_sizes(graph, true), HasSubstr(R"(shape = ["INPUT=SIZES"] or batch = N)"));
}

TEST(Unsized, AProblemKeepsTheCaveatInItsFile) {
  const Problem problem = lower(chain(200, 3), two_speeds(), {}, "g").problem;
  EXPECT_EQ(problem.unsized, (std::map<std::string, std::int64_t>{{"Relu", 3}}));
  const std::string text = formats::write_problem_json(problem);
  EXPECT_THAT(text, HasSubstr(R"("unsized": {"Relu": 3})"));
  const Problem read = formats::read_problem_json(text, "p.json");
  EXPECT_EQ(read.unsized, problem.unsized);
  EXPECT_THAT(unsized_caveat(read, "p.json"),
              ElementsAre(AllOf(HasSubstr("p.json: 3 tensors had no known size"), HasSubstr("'Relu' (3)"))));
}

TEST(Unsized, AProblemOfKnownSizesHasNoSuchKey) {
  const Problem problem = lower(chain(3, 0), two_speeds(), {}, "g").problem;
  const std::string text = formats::write_problem_json(problem);
  EXPECT_THAT(text, ::testing::Not(HasSubstr("unsized")));
  EXPECT_THAT(unsized_caveat(problem, "p.json"), IsEmpty());
}

TEST(Unsized, CountsInFilesAreWholeAndPositive) {
  std::string text = formats::write_problem_json(lower(chain(200, 3), two_speeds(), {}, "g").problem);
  const std::string good = R"({"Relu": 3})";
  for (const char* bad : {R"({"Relu": 0})", R"({"Relu": 1.5})", R"([3])", R"("Relu")"}) {
    std::string broken = text;
    broken.replace(broken.find(good), good.size(), bad);
    EXPECT_THROW((void)formats::read_problem_json(broken, "p.json"), InputError) << bad;
  }
  EXPECT_THROW((void)formats::read_problem_json(text.replace(text.find("problem/2"), 9, "problem/1"), "p.json"),
               InputError);
}

// x is reshaped to sizes that are in a file of weights.
TEST(Unsized, NamesTheAbsentFilesOfWeightsFromWhichSizesFollow) {
  const test::TemporaryFolder folder;
  const std::string model = folder / "model.json";
  write_file(model, R"({"format": "graph-model", "modelTopology": {"node": [
    {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape": {"dim": [{"size": "4"}]}}}},
    {"name": "target", "op": "Const", "attr": {"dtype": {"type": "DT_INT32"}}},
    {"name": "r", "op": "Reshape", "input": ["x", "target"], "attr": {"T": {"type": "DT_FLOAT"}}},
    {"name": "y", "op": "Relu", "input": ["r"], "attr": {"T": {"type": "DT_FLOAT"}}}]},
    "weightsManifest": [{"paths": ["group1.bin"], "weights": [{"name": "target", "shape": [2], "dtype": "int32"}]}]})");
  try {
    (void)source::load_problem(model, "laptop", {});
    ADD_FAILURE() << "it is not refused";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("; files of weights, from which sizes may follow, are not there: '" +
                                        (folder / "group1.bin") + "'"));
  }
  write_file(folder / "group1.bin", std::string("\2\0\0\0\2\0\0\0", 8));
  EXPECT_NO_THROW((void)source::load_problem(model, "laptop", {}));
}

TEST(Unsized, AdviceNamesNoOpsWhereOnlyAConstantHasNoSize) {
  Graph graph = chain(2, 0);
  graph.add_parameter("table", DType::f32, Shape{Shape::unknown_dimension}, false);
  EXPECT_EQ(advice_on_sizes(graph),
            "all inputs have fixed sizes, but the sizes of these constants follow from values of others");
}

}  // namespace
}  // namespace emplace::cost::unsized_test
