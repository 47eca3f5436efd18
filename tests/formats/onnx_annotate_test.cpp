// ONNX files with a placement in them: everything else must be there, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "formats/writers.hpp"
#include "tests/formats/onnx_builder.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::formats::onnx_annotate_test {
namespace {

using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

class AnnotatedOnnx : public ::testing::Test {
 protected:
  std::string write(const onnx::ModelProto& model, const std::string& name = "model.onnx") {
    write_file(folder_ / name, model.SerializeAsString());
    return folder_ / name;
  }
  static onnx::ModelProto read(const std::string& path) {
    onnx::ModelProto model;
    EXPECT_TRUE(model.ParseFromString(read_file(path)));
    return model;
  }
  std::string error_of(const std::string& model, const std::string& output, const Texts& devices) {
    try {
      write_annotated_onnx(model, output, {.device_of_node = devices});
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }
  test::TemporaryFolder folder_;
};

TEST_F(AnnotatedOnnx, PutsTheDeviceBeforeTheDocumentationOfANodeAndCountsIntoTheModel) {
  onnx::ModelProto model = conv_model();
  model.mutable_graph()->mutable_node(0)->set_doc_string("from model.py:12");
  const std::string path = write(model), out = folder_ / "placed.onnx";
  write_annotated_onnx(path, out, {.device_of_node = {"gpu:0", "cpu:0"}, .metadata = {{"emplace.schedule", "fifo"}}});
  const onnx::ModelProto placed = read(out);
  EXPECT_EQ(placed.graph().node(0).doc_string(), "emplace device: gpu:0\nfrom model.py:12");
  EXPECT_EQ(placed.graph().node(1).doc_string(), "emplace device: cpu:0");
  ASSERT_EQ(placed.metadata_props_size(), 1);
  EXPECT_EQ(placed.metadata_props(0).key(), "emplace.schedule");
  EXPECT_EQ(placed.metadata_props(0).value(), "fifo");
}

TEST_F(AnnotatedOnnx, ReplacesWhatAnEarlierRunWroteAndTakesItBackByteForByte) {
  onnx::ModelProto model = conv_model();
  model.mutable_graph()->mutable_node(0)->set_doc_string("kept");
  auto& own = *model.add_metadata_props();
  own.set_key("author");
  own.set_value("somebody");
  const std::string path = write(model), before = read_file(path);
  write_annotated_onnx(path, path,
                       {.device_of_node = {"gpu:0",
                                           "a device with a name of more than a hundred and twenty-eight characters, "
                                           "so that the lengths around it need another byte of their own, too"},
                        .metadata = {{"emplace.problem", "first"}}});  // onto itself
  write_annotated_onnx(path, path, {.device_of_node = {"cpu:0", ""}, .metadata = {{"emplace.problem", "second"}}});
  const onnx::ModelProto placed = read(path);
  EXPECT_EQ(placed.graph().node(0).doc_string(), "emplace device: cpu:0\nkept");
  EXPECT_EQ(placed.graph().node(1).doc_string(), "");
  ASSERT_EQ(placed.metadata_props_size(), 2);
  EXPECT_EQ(placed.metadata_props(1).value(), "second");
  write_annotated_onnx(path, path, {.device_of_node = {"", ""}});
  onnx::ModelProto after = read(path);
  EXPECT_EQ(after.SerializeAsString(), before);  // the texts may stand elsewhere in the file, not in the message
}

// NodeProto.metadata_props is younger than the libonnx of Debian 12, which keeps the field without knowing it.
std::string metadata_of(const onnx::NodeProto& node) {
  std::string text;
  const auto& fields = node.GetReflection()->GetUnknownFields(node);
  for (int i = 0; i < fields.field_count(); ++i) {
    onnx::StringStringEntryProto entry;
    EXPECT_EQ(fields.field(i).number(), 9);
    EXPECT_TRUE(entry.ParseFromString(fields.field(i).length_delimited()));
    text += entry.key() + "=" + entry.value() + ";";
  }
  return text;
}

TEST_F(AnnotatedOnnx, GivesNodesTheLayersThatOnnxRuntimePlacesBy) {
  const std::string path = write(conv_model());
  write_annotated_onnx(path, path, {.device_of_node = {"a", "b"}, .layer_of_node = {"first", ""}});
  write_annotated_onnx(path, path, {.device_of_node = {"a", "b"}, .layer_of_node = {"second", "third"}});
  EXPECT_EQ(metadata_of(read(path).graph().node(0)), "layer_ann=second;");
  EXPECT_EQ(metadata_of(read(path).graph().node(1)), "layer_ann=third;");
  write_annotated_onnx(path, path, {.device_of_node = {"", ""}});  // none asked for: none touched
  EXPECT_EQ(metadata_of(read(path).graph().node(0)), "layer_ann=second;");
}

TEST_F(AnnotatedOnnx, KeepsEverythingElseOfAnyModel) {
  EXPECT_TRUE(rc::check("write_annotated_onnx", [&] {
    onnx::ModelProto model = empty_model();
    const auto text = [] { return *rc::gen::container<std::string>(rc::gen::inRange<char>('a', 'z')); };
    auto& graph = *model.mutable_graph();
    graph.set_doc_string(text());
    const int nodes = *rc::gen::inRange(0, 6);
    Texts devices;
    for (int i = 0; i < nodes; ++i) {
      auto& node = *graph.add_node() = make_node("Relu", "n" + std::to_string(i), {"x"}, {"y" + std::to_string(i)});
      if (*rc::gen::arbitrary<bool>()) node.set_doc_string("doc " + text());
      add_attribute(node, "a", onnx::AttributeProto::STRING).set_s(text());
      auto& weight = *graph.add_initializer() = make_tensor("w" + std::to_string(i), {4});
      weight.set_raw_data(std::string(static_cast<std::size_t>(*rc::gen::inRange(0, 300)), 'w'));
      devices.push_back(*rc::gen::arbitrary<bool>() ? "d" + text() : "");
    }
    const std::string path = write(model), out = folder_ / "out.onnx";
    write_annotated_onnx(path, out, {.device_of_node = devices, .metadata = {{"emplace.a", "b"}}});
    onnx::ModelProto placed = read(out);
    for (int i = 0; i < nodes; ++i) {
      const std::string& was = model.graph().node(i).doc_string();
      const std::string& device = devices[static_cast<std::size_t>(i)];
      const std::string line = device.empty() ? "" : "emplace device: " + device + (was.empty() ? "" : "\n");
      RC_ASSERT(placed.graph().node(i).doc_string() == line + was);
      placed.mutable_graph()->mutable_node(i)->clear_doc_string();
      model.mutable_graph()->mutable_node(i)->clear_doc_string();
    }
    placed.clear_metadata_props();
    RC_ASSERT(placed.SerializeAsString() == model.SerializeAsString());
  }));
}

TEST_F(AnnotatedOnnx, KeepsTheWeightsOfRealModels) {
  const std::string models = test::outside_file("models/onnx-with-weights/");
  REQUIRE_OUTSIDE_FILE(models);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(models)) {
    ++files;
    const std::string path = entry.path().string(), out = folder_ / "out.onnx";
    const Texts devices(read_graph(path).ops.size(), "gpu:0");
    write_annotated_onnx(path, out, {.device_of_node = devices, .metadata = {{"emplace.problem", "p"}}});
    onnx::ModelProto was = read(path), placed = read(out);
    EXPECT_EQ(placed.graph().node(0).doc_string().substr(0, 21), "emplace device: gpu:0");
    for (onnx::ModelProto* model : {&was, &placed}) {
      for (auto& node : *model->mutable_graph()->mutable_node()) node.clear_doc_string();
      model->clear_metadata_props();
    }
    EXPECT_TRUE(was.SerializeAsString() == placed.SerializeAsString()) << path;
  }
  EXPECT_EQ(files, 4U);
}

TEST_F(AnnotatedOnnx, RefusesAnotherFolderWhereWeightsLieBesideTheModel) {
  onnx::ModelProto model = conv_model();
  auto& weight = *model.mutable_graph()->mutable_initializer(0);
  weight.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& location = *weight.add_external_data();
  location.set_key("location");
  location.set_value("weights.bin");
  const std::string path = write(model);
  write_file(folder_ / "weights.bin", std::string(432, 'w'));
  make_folder(folder_ / "elsewhere");
  EXPECT_THAT(error_of(path, folder_ / "elsewhere/out.onnx", {"d", "d"}), HasSubstr("should be in the folder of"));
  EXPECT_FALSE(file_exists(folder_ / "elsewhere/out.onnx"));
  EXPECT_EQ(error_of(path, folder_ / "out.onnx", {"d", "d"}), "no error");
  EXPECT_EQ(read(folder_ / "out.onnx").graph().initializer(0).external_data(0).value(), "weights.bin");
  EXPECT_THAT(files_of_model(path), ::testing::ElementsAre(path, folder_ / "weights.bin"));
}

TEST_F(AnnotatedOnnx, RefusesWhatIsNoOnnxModelOrHasOtherNodes) {
  const std::string path = write(conv_model()), out = folder_ / "out.onnx";
  EXPECT_THAT(error_of(path, out, {"d"}), HasSubstr("has 2 nodes now; 1 were read before"));
  write_file(folder_ / "graph.pbtxt", "node { name: \"a\" op: \"Relu\" }\n");
  EXPECT_THAT(error_of(folder_ / "graph.pbtxt", out, {"d"}), HasSubstr("the model to copy must be an ONNX model"));
  const std::string whole = read_file(path);
  write_file(path, whole.substr(0, whole.size() - 3));
  EXPECT_THAT(error_of(path, out, {"d", "d"}), HasSubstr("truncated"));
  EXPECT_THAT(error_of(folder_ / "missing.onnx", out, {}), HasSubstr("cannot be read"));
  EXPECT_FALSE(file_exists(out));
}

}  // namespace
}  // namespace emplace::formats::onnx_annotate_test
