// What every exporter must keep, and what each writes.
#include "deploy/exporter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.hpp"
#include "deploy/device_names.hpp"
#include "emplace/base/error.hpp"
#include "formats/utf8.hpp"
#include "formats/writers.hpp"
#include "tests/formats/onnx_builder.hpp"
#include "tests/support/growth.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::deploy::exporters_test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* graphdef =
    "node { name: \"x\" op: \"Placeholder\" attr { key: \"dtype\" value { type: DT_FLOAT } } }\n"
    "node { name: \"a\" op: \"Relu\" input: \"x\" attr { key: \"T\" value { type: DT_FLOAT } } }\n"
    "node { name: \"b\" op: \"Relu\" input: \"a\" attr { key: \"T\" value { type: DT_FLOAT } } }\n";
constexpr const char* ir =
    "<?xml version=\"1.0\"?>\n<net name=\"m\" version=\"11\"><layers>"
    "<layer id=\"0\" name=\"x\" type=\"Parameter\"><data shape=\"1\" element_type=\"f32\"/><output><port id=\"0\" "
    "precision=\"FP32\"><dim>1</dim></port></output></layer>"
    "<layer id=\"1\" name=\"a\" type=\"ReLU\"><input><port id=\"0\"/></input><output><port id=\"1\" precision=\"FP32\">"
    "<dim>1</dim></port></output></layer>"
    "<layer id=\"2\" name=\"b\" type=\"ReLU\"><input><port id=\"0\"/></input><output><port id=\"1\" precision=\"FP32\">"
    "<dim>1</dim></port></output></layer></layers><edges>"
    "<edge from-layer=\"0\" from-port=\"0\" to-layer=\"1\" to-port=\"0\"/>"
    "<edge from-layer=\"1\" from-port=\"1\" to-layer=\"2\" to-port=\"0\"/></edges></net>";

// conv -> relu with the names that PyTorch's exporter gives.
std::string onnx_bytes() {
  onnx::ModelProto model = formats::conv_model({1, 3, 8, 8});
  auto& graph = *model.mutable_graph();
  graph.mutable_initializer(0)->set_name("features.0.weight");
  graph.mutable_initializer(1)->set_name("features.0.bias");
  *graph.mutable_node(0)->mutable_input(1) = "features.0.weight";
  *graph.mutable_node(0)->mutable_input(2) = "features.0.bias";
  return model.SerializeAsString();
}

struct Sample {
  const char *name, *model, *output;
};
constexpr Sample samples[] = {{"onnx", "m.onnx", "out.onnx"},
                              {"openvino", "m.xml", "out.xml"},
                              {"tensorflow", "m.pbtxt", "out.pbtxt"},
                              {"pytorch", "m.onnx", "out.json"},
                              {"json", "m.onnx", "out.json"}};
std::vector<Sample> framework_samples() {
  std::vector<Sample> list(std::begin(samples), std::end(samples));
  std::erase_if(list, [](const Sample& sample) { return std::string_view(sample.name) == "json"; });
  return list;
}

class Exporters : public ::testing::TestWithParam<Sample> {
 protected:
  void SetUp() override {
    write_file(folder_ / "m.onnx", onnx_bytes());
    write_file(folder_ / "m.xml", ir);
    write_file(folder_ / "m.pbtxt", graphdef);
  }
  [[nodiscard]] const ExportEntry& entry() const {
    return find_entry(exporters(), std::string_view(GetParam().name), "target");
  }
  // The model's last op on `last`, all others on `first`.
  ModelPlacement placement(const std::string& first, const std::string& last) {
    ModelPlacement result;
    result.model = folder_ / GetParam().model;
    result.graph = formats::read_graph(result.model);
    result.device_of_op.assign(result.graph.ops.size(), first);
    result.device_of_op.back() = last;
    result.reason_of_op.assign(result.graph.ops.size(), ModelPlacement::Reason::placed);
    result.passed.graph = result.graph;
    result.device_of_placed = result.device_of_op;
    for (std::size_t i = 0; i < result.graph.ops.size(); ++i) result.passed.became.emplace_back(i);
    return result;
  }
  std::string refusal(const ModelPlacement& placed, std::map<std::string, std::string> renamed) {
    try {
      entry().write({placed, std::move(renamed), folder_ / GetParam().output});
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }
  test::TemporaryFolder folder_;
};

TEST_P(Exporters, WriteTheFileThatWasAskedForAndAModelThatReadsAsBefore) {
  const ModelPlacement placed = placement("cpu:0", "gpu:1");
  const std::string output = folder_ / GetParam().output;
  const Exported exported = entry().write({placed, {}, output});
  ASSERT_FALSE(exported.files.empty());
  EXPECT_EQ(exported.files.front(), output);
  for (const std::string& file : exported.files) EXPECT_TRUE(file_exists(file)) << file;
  if (output.ends_with(".json")) return;
  const Graph again = formats::read_graph(output);
  ASSERT_EQ(again.ops.size(), placed.graph.ops.size());
  for (std::size_t i = 0; i < again.ops.size(); ++i) {
    EXPECT_EQ(again.ops[i].name, placed.graph.ops[i].name);
    EXPECT_EQ(again.ops[i].inputs, placed.graph.ops[i].inputs);
  }
}

TEST_P(Exporters, WriteTheNewNamesOfRenamedDevices) {
  const ModelPlacement placed = placement("cpu:0", "gpu:1");
  const Exported exported =
      entry().write({placed, {{"gpu:1", "my-device"}, {"cpu:0", "my-cpu"}}, folder_ / GetParam().output});
  std::string written;
  for (const std::string& file : exported.files) written += read_file(file);
  EXPECT_THAT(written, HasSubstr("my-cpu"));
  EXPECT_THAT(written, HasSubstr("my-device"));
}

// All but json, which takes every name.
class FrameworkExporters : public Exporters {};

TEST_P(FrameworkExporters, RefuseDevicesThatTheFrameworkHasNoNameFor) {
  const std::string message = refusal(placement("cpu:0", "abacus"), {});
  EXPECT_THAT(message, ::testing::AllOf(HasSubstr("'abacus'"), HasSubstr("--rename abacus=")));
  EXPECT_FALSE(file_exists(folder_ / GetParam().output));
}

TEST_P(FrameworkExporters, RefuseNamesThatTheFrameworkWouldMisread) {
  for (const char* name : {"../../x y;(", "a;b", "a(b)", "a=b", "a,b", "a b", "\xc3\xa4"})
    EXPECT_THAT(refusal(placement("cpu:0", "gpu:1"), {{"gpu:1", name}}),
                ::testing::AllOf(HasSubstr("--rename"), HasSubstr("letters, digits"), HasSubstr("'gpu:1'")))
        << name;
  EXPECT_FALSE(file_exists(folder_ / GetParam().output));
}

TEST_P(Exporters, WriteUtf8WhereTheModelsFileNameIsNone) {
  ModelPlacement placed = placement("cpu:0", "gpu:1");
  const std::string odd = folder_ / ("\xff" + std::string(GetParam().model));
  write_file(odd, read_file(placed.model));
  placed.model = odd;
  const Exported exported = entry().write({placed, {}, folder_ / GetParam().output});
  for (const std::string& file : exported.files) {
    if (file.ends_with(".onnx")) continue;  // not a text
    const std::string text = read_file(file);
    EXPECT_TRUE(formats::is_utf8(text)) << file;
    EXPECT_EQ(json::accept(text), file.ends_with(".json")) << file;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Exporters, ::testing::ValuesIn(samples),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(Every, FrameworkExporters, ::testing::ValuesIn(framework_samples()),
                         [](const auto& each) { return each.param.name; });

// Relu after Relu, and an unused constant, which no placement knows.
class OnnxParts : public ::testing::Test {
 protected:
  ModelPlacement placement(const std::vector<std::string>& devices) {
    onnx::ModelProto model = formats::empty_model();
    auto& graph = *model.mutable_graph();
    formats::set_type(*graph.add_input(), "t0", {1, 4});
    for (std::size_t i = 0; i < devices.size(); ++i)
      *graph.add_node() = devices[i].empty()
                              ? formats::make_node("Constant", "unused", {}, {"c"})
                              : formats::make_node("Relu", "relu" + std::to_string(i), {"t" + std::to_string(i)},
                                                   {"t" + std::to_string(i + 1)});
    for (auto& node : *graph.mutable_node())
      if (node.op_type() == "Constant")
        *formats::add_attribute(node, "value", onnx::AttributeProto::TENSOR).mutable_t() =
            formats::make_vector("", {4});
    formats::set_type(*graph.add_output(), "t" + std::to_string(devices.size() - (devices.back().empty() ? 1 : 0)),
                      {1, 4});
    write_file(folder_ / "m.onnx", model.SerializeAsString());
    write_file(folder_ / "p.json", "{}");
    ModelPlacement result;
    result.model = folder_ / "m.onnx";
    result.file = folder_ / "p.json";
    result.graph = formats::read_graph(result.model);
    result.device_of_op = devices;
    for (const std::string& device : devices)
      result.reason_of_op.push_back(device.empty() ? ModelPlacement::Reason::none : ModelPlacement::Reason::placed);
    return result;
  }
  Exported write(const ModelPlacement& placed, const std::string& output = "out.onnx") {
    return find_entry(exporters(), std::string_view("onnx"), "target").write({placed, {}, folder_ / output});
  }
  std::vector<std::string> files() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      names.push_back(entry.path().filename().string());
    return names;
  }
  test::TemporaryFolder folder_;
};

TEST_F(OnnxParts, AnOpThatNothingPlacesIsInAPartOfADeviceThatThereIs) {
  write(placement({"cpu:0", "gpu:0", ""}));
  std::set<std::string> devices;
  const json list = json::parse(read_file(folder_ / "out.segments.json"));
  for (const json& segment : list["segments"]) devices.insert(segment["device"]);
  EXPECT_THAT(devices, ElementsAre("cpu:0", "gpu:0"));
}

TEST_F(OnnxParts, OfAnEarlierExportGoAndNothingElseDoes) {
  write(placement({"cpu:0", "gpu:0", "cpu:0"}));
  write_file(folder_ / "out.7.gpu_0.onnx", "not in the list");
  json list = json::parse(read_file(folder_ / "out.segments.json"));
  write_file(folder_ / "kept.onnx", "in the list, but not under a name of ours");
  list["segments"].push_back({{"file", "kept.onnx"}, {"device", "gpu:0"}});
  write_file(folder_ / "out.segments.json", list.dump());
  write(placement({"cpu:0", "cpu:0", "cpu:0"}));
  EXPECT_THAT(files(), ::testing::UnorderedElementsAre("m.onnx", "p.json", "out.onnx", "out.segments.json",
                                                       "out.0.cpu_0.onnx", "out.7.gpu_0.onnx", "kept.onnx"));
}

TEST_F(OnnxParts, AreNotThereWhereALaterFileCannotBeWritten) {
  const ModelPlacement placed = placement({"cpu:0", "gpu:0"});
  make_folder(folder_ / "out.onnx");
  EXPECT_THROW(write(placed), EnvironmentError);
  EXPECT_THAT(files(), ::testing::UnorderedElementsAre("m.onnx", "p.json", "out.onnx"));
  make_folder(folder_ / "other.1.gpu_0.onnx");
  EXPECT_THROW(write(placed, "other.onnx"), EnvironmentError);
  EXPECT_FALSE(file_exists(folder_ / "other.0.cpu_0.onnx"));
}

// Each part is a file: a placement that alternates between devices would write one for each op.
TEST_F(OnnxParts, OfWhichThereAreTooManyAreCountedAndRefused) {
  std::vector<std::string> devices;
  for (std::size_t i = 0; i < 1001; ++i) devices.emplace_back(i % 2 == 0 ? "cpu:0" : "gpu:0");
  const ModelPlacement placed = placement(devices);
  const std::vector<std::string> before = files();
  try {
    write(placed);
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("falls into 1001 parts"));
    EXPECT_THAT(error.what(), HasSubstr("at most 1000"));
    EXPECT_THAT(error.what(), HasSubstr("--max-cuts 100"));
    EXPECT_THAT(error.what(), HasSubstr("--for json"));
  }
  EXPECT_THAT(files(), ::testing::UnorderedElementsAreArray(before));
}

TEST_F(OnnxParts, AreRemovedWhenTheExportIsStopped) {
  const ModelPlacement placed = placement({"cpu:0", "gpu:0", "cpu:0", "gpu:0"});
  const std::vector<std::string> before = files();
  for (const int files_until_stop : {0, 2, 4}) {
    int asked = 0;
    const auto stop = [&] { return asked++ == files_until_stop; };
    const ExportEntry& onnx = find_entry(exporters(), std::string_view("onnx"), "target");
    EXPECT_THROW(onnx.write({placed, {}, folder_ / "out.onnx", stop}), formats::WritingStopped) << files_until_stop;
    EXPECT_THAT(files(), ::testing::UnorderedElementsAreArray(before)) << files_until_stop;
  }
}

// y = relu(x), and the model gives its input x and its weight w too.
TEST_F(OnnxParts, LeaveOutputsThatNoNodeMakesToTheirListAndTheNotes) {
  ModelPlacement placed = placement({"cpu:0"});
  EXPECT_THAT(write(placed).notes.front(), ::testing::EndsWith("together they equal the model"));
  EXPECT_EQ(json::parse(read_file(folder_ / "out.segments.json"))["passes"], json::array());
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(read_file(placed.model)));
  *model.mutable_graph()->add_initializer() = formats::make_vector("w", {1, 2});
  for (const char* name : {"w", "t0"}) model.mutable_graph()->add_output()->set_name(name);
  write_file(placed.model, model.SerializeAsString());
  EXPECT_THAT(write(placed).notes.front(),
              HasSubstr("but for its outputs that are inputs of it ('t0') and that are weights of it ('w')"));
  EXPECT_EQ(json::parse(read_file(folder_ / "out.segments.json"))["passes"],
            json::parse(R"([{"output": "w", "is": "weight"}, {"output": "t0", "is": "input"}])"));
}

TEST_F(OnnxParts, DoNotReplaceThePlacementNorTheModel) {
  ModelPlacement placed = placement({"cpu:0", "gpu:0"});
  placed.file = folder_ / "keep.segments.json";
  write_file(placed.file, "{}");
  EXPECT_THROW(write(placed, "keep.onnx"), InputError);
  EXPECT_EQ(read_file(placed.file), "{}");
  placed.file = folder_ / "keep2.0.cpu_0.onnx";
  write_file(placed.file, "{}");
  EXPECT_THROW(write(placed, "keep2.onnx"), InputError);
  EXPECT_EQ(read_file(placed.file), "{}");
}

// fc is x -> MatMul -> Add -> MatMul of the next module; the Constant in front is folded away before placing.
TEST(PytorchExporter, WritesTheOpsOfSplitModulesAndWhereToCutTheGraph) {
  const test::TemporaryFolder folder;
  write_file(folder / "model", "names no modules");
  ModelPlacement placed;
  placed.model = folder / "model";
  TensorId last = placed.graph.add_input("x", DType::f32, {4, 4});
  const auto add = [&](const std::string& name, const std::string& weight, const std::string& device,
                       ModelPlacement::Reason reason = ModelPlacement::Reason::placed) {
    GraphOp op;
    op.name = name;
    op.type = "MatMul";
    const bool trainable = reason == ModelPlacement::Reason::placed;
    op.inputs = {Operand::of(last), Operand::of(placed.graph.add_parameter(weight, DType::f32, {4, 4}, trainable))};
    last = placed.graph.add_output(placed.graph.add_op(std::move(op)), name + ":0", DType::f32, {4, 4});
    placed.device_of_op.push_back(device);
    placed.reason_of_op.push_back(reason);
  };
  add("/fc/Constant", "c", "gpu:1", ModelPlacement::Reason::follows);
  add("/fc/MatMul", "fc.weight", "gpu:1");
  add("/fc/Add", "fc.bias", "cpu:0");
  add("/head/MatMul", "head.weight", "cpu:0");
  const Exported exported =
      find_entry(exporters(), std::string_view("pytorch"), "target").write({placed, {}, folder / "out.json"});
  json written = json::parse(read_file(folder / "out.json"));
  EXPECT_EQ(written["model"], placed.model);
  written.erase("model");
  EXPECT_EQ(written, json::parse(R"({
    "emplace": "pytorch/1", "problem": "",
    "device_map": {"head": "cpu"},
    "split_modules": {"fc": {"/fc/MatMul": "cuda:1", "/fc/Add": "cpu"}},
    "segments": [{"device": "cuda:1", "ops": ["/fc/MatMul"]}, {"device": "cpu", "ops": ["/fc/Add", "/head/MatMul"]}],
    "module_of_op": {"/fc/MatMul": "fc", "/fc/Add": "fc", "/head/MatMul": "head"}})"));
  EXPECT_THAT(exported.notes, ::testing::Contains(HasSubstr("on several devices: 'fc'")));
}

TEST(JsonExporter, WritesLargeModelsInLessThanQuadraticTime) {
  const auto write_with = [](int ops) {
    const auto count = static_cast<std::size_t>(ops);
    ModelPlacement placed;
    for (std::size_t i = 0; i < count; ++i) {
      GraphOp op;
      op.name = "op" + std::to_string(i);
      placed.graph.ops.push_back(std::move(op));
      placed.passed.became.emplace_back(i);
    }
    placed.device_of_op.assign(count, "gpu:0");
    placed.reason_of_op.assign(count, ModelPlacement::Reason::placed);
    placed.passed.graph = placed.graph;
    placed.device_of_placed = placed.device_of_op;
    const test::TemporaryFolder folder;
    find_entry(exporters(), std::string_view("json"), "target").write({placed, {}, folder / "out.json"});
    const json written = json::parse(read_file(folder / "out.json"));
    EXPECT_EQ(written["ops"].size(), count);
    EXPECT_EQ(written["ops"]["op" + std::to_string(count - 1)], "gpu:0");
  };
  test::expect_less_than_quadratic_time(write_with, 20'000);
}

TEST(ExporterList, IsAllTested) { EXPECT_EQ(exporters().size(), std::size(samples)); }

TEST(DeviceNamesOfFrameworks, CountFromTheKindsNumberAndTakeTheUsersNameFirst) {
  const DeviceNames names({{"cpu", "CPU"}, {"gpu", "GPU.{}"}}, {{"npu:0", "NPU"}}, "OpenVINO", "_-.");
  EXPECT_THAT(names.of({"cpu:0", "gpu", "gpu:3", "npu:0", ""}), ElementsAre("CPU", "GPU.0", "GPU.3", "NPU", ""));
  EXPECT_THROW(static_cast<void>(names.of("cpu:1")), InputError);
  EXPECT_THROW(parse_renames({"gpu:0"}), InputError);
  EXPECT_THROW(parse_renames({"a=b", "a=c"}), InputError);
  EXPECT_THROW(parse_renames({"a=b\nc"}), InputError) << "text formats have no way to say it";
  EXPECT_THROW(parse_renames({"a=\xff"}), InputError) << "nor has JSON";
}

}  // namespace
}  // namespace emplace::deploy::exporters_test
