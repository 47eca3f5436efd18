// ONNX models cut into parts: together they must be the model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "formats/writers.hpp"
#include "tests/formats/onnx_builder.hpp"
#include "tests/support/growth.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::formats::onnx_split_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OnnxParts : public ::testing::Test {
 protected:
  std::string write(const onnx::ModelProto& model) {
    write_file(folder_ / "model.onnx", model.SerializeAsString());
    return folder_ / "model.onnx";
  }
  // Of nodes in lists, part 0 first.
  std::vector<OnnxPart> parts(const std::vector<std::vector<std::uint32_t>>& nodes) {
    std::vector<OnnxPart> list;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      list.push_back({nodes[i], folder_ / ("part" + std::to_string(i) + ".onnx")});
    return list;
  }
  std::vector<OnnxPartEnds> split(const std::string& model, const std::vector<OnnxPart>& list) {
    OnnxSplit split = write_onnx_parts(model, read_graph(model), list);
    passes_ = split.passes;
    return split.ends;
  }
  static onnx::ModelProto read(const std::string& path) {
    onnx::ModelProto model;
    EXPECT_TRUE(model.ParseFromString(read_file(path)));
    return model;
  }
  [[nodiscard]] std::string difference(const std::string& model, const std::vector<OnnxPart>& list) const {
    try {
      check_onnx_parts(model, list, passes_);
    } catch (const BugError& error) {
      return error.what();
    }
    return "";
  }
  test::TemporaryFolder folder_;
  std::vector<OnnxPass> passes_;  // of the last split
};

TEST_F(OnnxParts, OfANodeWithManyInputsAreWrittenInLessThanQuadraticTime) {
  const auto split_with = [this](int inputs) {
    onnx::ModelProto model = empty_model();
    auto& graph = *model.mutable_graph();
    onnx::NodeProto node = make_node("Concat", "concat", {}, {"y"});
    for (int i = 0; i < inputs; ++i) {
      set_type(*graph.add_input(), "x" + std::to_string(i), {1});
      node.add_input("x" + std::to_string(i));
    }
    auto& axis = add_attribute(node, "axis", onnx::AttributeProto::INT);
    axis.set_i(0);
    *graph.add_node() = std::move(node);
    set_type(*graph.add_output(), "y", {inputs});
    const auto list = parts({{0}});
    const auto ends = split(write(model), list);
    check_onnx_parts(folder_ / "model.onnx", list, passes_);
    EXPECT_EQ(ends[0].inputs.size(), static_cast<std::size_t>(inputs));
  };
  test::expect_less_than_quadratic_time(split_with, 10'000);
}

TEST_F(OnnxParts, GiveWhatOthersAndTheModelWantAndHoldTheirOwnWeights) {
  const std::string model = write(conv_model());
  const auto list = parts({{0}, {1}});
  const auto ends = split(model, list);
  EXPECT_THAT(ends[0].inputs, ElementsAre("x"));
  EXPECT_THAT(ends[0].outputs, ElementsAre("c"));
  EXPECT_THAT(ends[1].inputs, ElementsAre("c"));
  EXPECT_THAT(ends[1].outputs, ElementsAre("y"));
  const onnx::GraphProto conv = read(list[0].file).graph(), relu = read(list[1].file).graph();
  EXPECT_EQ(conv.initializer_size(), 2);
  EXPECT_EQ(relu.initializer_size(), 0);
  // The model does not say what c is; reading it does: N x 4 x 6 x 6 floats, N open.
  const auto& type = relu.input(0).type().tensor_type();
  EXPECT_EQ(type.elem_type(), onnx::TensorProto::FLOAT);
  ASSERT_EQ(type.shape().dim_size(), 4);
  EXPECT_FALSE(type.shape().dim(0).has_dim_value());
  EXPECT_EQ(type.shape().dim(3).dim_value(), 6);
  check_onnx_parts(model, list, passes_);
  EXPECT_EQ(read_graph(list[1].file).ops.size(), 1u);
}

TEST_F(OnnxParts, MayGoBackAndForthBetweenDevicesAndReadTheModelsInputTwice) {
  onnx::ModelProto proto = empty_model();
  auto& graph = *proto.mutable_graph();
  set_type(*graph.add_input(), "x", {4});
  *graph.add_node() = make_node("Relu", "a", {"x"}, {"t"});
  *graph.add_node() = make_node("Neg", "b", {"t"}, {"u"});
  *graph.add_node() = make_node("Add", "c", {"u", "x"}, {"y"});
  graph.add_output()->set_name("y");
  graph.add_output()->set_name("t");
  const std::string model = write(proto);
  const auto list = parts({{0}, {1}, {2}});
  const auto ends = split(model, list);
  EXPECT_THAT(ends[0].outputs, ElementsAre("t"));  // for b, and as the model's
  EXPECT_THAT(ends[2].inputs, ElementsAre("u", "x"));
  check_onnx_parts(model, list, passes_);
}

// y = relu(x), and what folding of constants leaves: x and w are outputs too, which no node makes.
TEST_F(OnnxParts, LeaveOutputsThatAreInputsOrWeightsToTheListOfThem) {
  onnx::ModelProto proto = empty_model();
  auto& graph = *proto.mutable_graph();
  set_type(*graph.add_input(), "x", {4});
  *graph.add_node() = make_node("Relu", "a", {"x"}, {"y"});
  *graph.add_initializer() = make_vector("w", {1, 2});
  for (const char* name : {"w", "y", "x"}) graph.add_output()->set_name(name);
  const std::string model = write(proto);
  const auto list = parts({{0}});
  EXPECT_THAT(split(model, list)[0].outputs, ElementsAre("y"));
  ASSERT_EQ(passes_.size(), 2u);
  EXPECT_EQ(passes_[0].output, "w");
  EXPECT_TRUE(passes_[0].is_weight);
  EXPECT_EQ(passes_[1].output, "x");
  EXPECT_FALSE(passes_[1].is_weight);
  EXPECT_EQ(difference(model, list), "");
  passes_[1].is_weight = true;
  EXPECT_THAT(difference(model, list), HasSubstr("'x' is not an output of the model that is also a weight"));
  passes_[1] = {"y", false};
  EXPECT_THAT(difference(model, list), HasSubstr("'y' is not an output of the model that is also an input"));
  passes_.pop_back();
  EXPECT_THAT(difference(model, list), HasSubstr("its output 'x' is not an output of any part"));

  graph.add_output()->set_name("nowhere");
  write(proto);
  EXPECT_THROW(split(model, list), InputError);
}

// if (x) y = w + t else y = t: a part with the If must be given t, and hold w.
TEST_F(OnnxParts, HoldWhatSubGraphsReadFromOutside) {
  onnx::ModelProto proto = empty_model();
  auto& graph = *proto.mutable_graph();
  set_type(*graph.add_input(), "x", {4});
  set_type(*graph.add_input(), "c", {}, onnx::TensorProto::BOOL);
  onnx::TensorProto w = make_tensor("w", {4});
  w.set_raw_data(std::string(16, 'w'));
  *graph.add_initializer() = w;
  *graph.add_node() = make_node("Relu", "a", {"x"}, {"t"});
  auto& branch = *graph.add_node() = make_node("If", "if", {"c"}, {"y"});
  auto& then_branch = *add_attribute(branch, "then_branch", onnx::AttributeProto::GRAPH).mutable_g();
  then_branch.set_name("then");
  *then_branch.add_node() = make_node("Add", "add", {"w", "t"}, {"z"});
  then_branch.add_output()->set_name("z");
  auto& else_branch = *add_attribute(branch, "else_branch", onnx::AttributeProto::GRAPH).mutable_g();
  else_branch.set_name("else");
  *else_branch.add_node() = make_node("Identity", "same", {"t"}, {"z"});
  else_branch.add_output()->set_name("z");
  graph.add_output()->set_name("y");
  const std::string model = write(proto);
  const auto list = parts({{0}, {1}});
  const auto ends = split(model, list);
  EXPECT_THAT(ends[1].inputs, ElementsAre("c", "t"));
  EXPECT_EQ(read(list[1].file).graph().initializer_size(), 1);
  check_onnx_parts(model, list, passes_);
}

TEST_F(OnnxParts, RefuseATensorOfUnknownTypeBeforeAnythingIsWritten) {
  onnx::ModelProto proto = empty_model();
  auto& graph = *proto.mutable_graph();
  set_type(*graph.add_input(), "x", {4});
  *graph.add_node() = make_node("SequenceConstruct", "a", {"x"}, {"s"});
  *graph.add_node() = make_node("SequenceLength", "b", {"s"}, {"y"});
  graph.add_output()->set_name("y");
  const std::string model = write(proto);
  const auto list = parts({{0}, {1}});
  try {
    split(model, list);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(HasSubstr("'s'"), HasSubstr("type")));
  }
  EXPECT_FALSE(file_exists(list[0].file));
}

TEST_F(OnnxParts, ThatAreNotTheModelAreFound) {
  onnx::ModelProto proto = conv_model();
  proto.mutable_graph()->mutable_initializer(0)->set_raw_data(std::string(432, 'w'));
  const std::string model = write(proto);
  auto list = parts({{0}, {1}});
  split(model, list);
  EXPECT_EQ(difference(model, list), "");

  const std::string conv = read_file(list[0].file), relu = read_file(list[1].file);
  onnx::ModelProto other = read(list[0].file);
  other.mutable_graph()->mutable_initializer(0)->mutable_raw_data()->back() = 'v';
  write_file(list[0].file, other.SerializeAsString());
  EXPECT_THAT(difference(model, list), HasSubstr("its weight 'w'"));

  write_file(list[0].file, conv);
  other = read(list[1].file);
  other.mutable_graph()->mutable_node(0)->set_op_type("Neg");
  write_file(list[1].file, other.SerializeAsString());
  EXPECT_THAT(difference(model, list), HasSubstr("its node 0 is not node 1"));

  write_file(list[1].file, relu);
  std::swap(list[0], list[1]);
  EXPECT_THAT(difference(model, list), HasSubstr("its input 'c' is not an output of an earlier part"));
  list.pop_back();
  EXPECT_THAT(difference(model, list),
              ::testing::AnyOf(HasSubstr("in no part"), HasSubstr("not an output of an earlier part")));
}

TEST_F(OnnxParts, NeverReplaceTheModelOrItsWeights) {
  onnx::ModelProto proto = conv_model();
  auto& weight = *proto.mutable_graph()->mutable_initializer(0);
  weight.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& location = *weight.add_external_data();
  location.set_key("location");
  location.set_value("weights.bin");
  write_file(folder_ / "weights.bin", std::string(432, 'w'));
  const std::string model = write(proto), before = read_file(model);
  for (const char* name : {"model.onnx", "weights.bin"}) {
    auto list = parts({{0}, {1}});
    list[1].file = folder_ / name;
    EXPECT_THROW(split(model, list), InputError) << name;
    EXPECT_FALSE(file_exists(list[0].file));
  }
  EXPECT_EQ(read_file(model), before);
  EXPECT_EQ(read_file(folder_ / "weights.bin"), std::string(432, 'w'));
}

TEST_F(OnnxParts, AreTheModelHoweverItIsCut) {
  EXPECT_TRUE(rc::check("write_onnx_parts", [&] {
    onnx::ModelProto proto = empty_model();
    auto& graph = *proto.mutable_graph();
    set_type(*graph.add_input(), "x0", {"N", 4});
    std::vector<std::string> values = {"x0"};
    const auto count = static_cast<std::uint32_t>(*rc::gen::inRange(1, 12));
    const auto part_count = static_cast<std::uint32_t>(*rc::gen::inRange(1, 5));
    std::vector<std::vector<std::uint32_t>> nodes(part_count);
    std::uint32_t part = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto any = [&] {
        return values[static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(values.size())))];
      };
      const std::string made = "y" + std::to_string(i);
      const bool weighted = *rc::gen::arbitrary<bool>();
      if (weighted) {
        auto& weight = *graph.add_initializer() = make_tensor("w" + std::to_string(i), {4});
        weight.set_raw_data(std::string(16, static_cast<char>('a' + i)));
      }
      *graph.add_node() = make_node("Add", *rc::gen::arbitrary<bool>() ? "n" + std::to_string(i) : "",
                                    {any(), weighted ? "w" + std::to_string(i) : any()}, {made});
      values.push_back(made);
      if (*rc::gen::arbitrary<bool>()) part = std::min(part + 1, part_count - 1);  // never back: parts in order
      nodes[part].push_back(i);
    }
    std::erase_if(nodes, [](const auto& each) { return each.empty(); });
    graph.add_output()->set_name(values.back());
    const std::string model = write(proto);
    const auto list = parts(nodes);
    split(model, list);
    check_onnx_parts(model, list, passes_);
    // Once more with other means: the nodes, weights and ends that libprotobuf reads.
    std::multiset<std::string> was, is;
    for (const auto& node : graph.node()) was.insert(node.SerializeAsString());
    for (const OnnxPart& each : list) {
      const onnx::ModelProto one = read(each.file);
      for (const auto& node : one.graph().node()) is.insert(node.SerializeAsString());
      RC_ASSERT(one.opset_import(0).version() == 13);
      RC_ASSERT(read_graph(each.file).ops.size() == each.nodes.size());
    }
    RC_ASSERT(was == is);
  }));
}

TEST_F(OnnxParts, OfRealModelsAreTheModels) {
  std::size_t files = 0;
  for (const std::string folder : {"onnx-with-weights", "onnx-light"}) {
    const std::string models = test::outside_file("models/") + folder;
    REQUIRE_OUTSIDE_FILE(models);
    for (const auto& entry : std::filesystem::directory_iterator(models)) {
      const std::string model = entry.path().string();
      const auto count = static_cast<std::uint32_t>(read_graph(model).ops.size());
      std::vector<std::vector<std::uint32_t>> nodes(3);  // thirds of the file, which is in topological order
      for (std::uint32_t i = 0; i < count; ++i) nodes[std::min(3 * i / count, 2U)].push_back(i);
      const auto list = parts(nodes);
      const auto ends = split(model, list);
      EXPECT_FALSE(ends[0].outputs.empty()) << model;
      EXPECT_EQ(difference(model, list), "") << model;
      ++files;
    }
  }
  EXPECT_EQ(files, 11U);
}

}  // namespace
}  // namespace emplace::formats::onnx_split_test
