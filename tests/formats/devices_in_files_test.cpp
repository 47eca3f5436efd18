// Devices written into GraphDefs and OpenVINO IRs: everything else must be there, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <filesystem>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "formats/writers.hpp"
#include "tests/formats/proto_bytes.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::formats::devices_in_files_test {
namespace {

using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

class DevicesInFiles : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    write_file(folder_ / name, content);
    return folder_ / name;
  }
  std::string with_devices(const std::string& name, const std::string& content, const Texts& devices) {
    const std::string out = folder_ / ("out-" + name);
    if (name.ends_with(".xml"))
      write_openvino_affinity(file(name, content), out, devices);
    else
      write_graphdef_devices(file(name, content), out, devices);
    return read_file(out);
  }
  test::TemporaryFolder folder_;
};

TEST_F(DevicesInFiles, ATextNodeGetsItsDeviceFirstOrWhereItHadOne) {
  const std::string text =
      "node {\n  name: \"a\"  # device: \"no\"\n  op: \"NoOp\"\n}\n"
      "node { name: 'b' op: \"NoOp\" device: \"/job:old\" attr { key: \"device\" value { s: \"device: {\" } } }\n"
      "versions { producer: 22 }\nnode: [{name: \"c\" op: \"NoOp\"}, <name: \"d\" op: \"NoOp\">]\n";
  EXPECT_EQ(
      with_devices("m.pbtxt", text, {"/device:GPU:0", "/device:CPU:0", "", "a \"quoted\" one"}),
      "node {\n  device: \"/device:GPU:0\"\n  name: \"a\"  # device: \"no\"\n  op: \"NoOp\"\n}\n"
      "node { name: 'b' op: \"NoOp\" device: \"/device:CPU:0\" attr { key: \"device\" value { s: \"device: {\" } } }\n"
      "versions { producer: 22 }\nnode: [{name: \"c\" op: \"NoOp\"}, <\n  device: \"a \\\"quoted\\\" one\"name: \"d\" "
      "op: "
      "\"NoOp\">]\n");
}

TEST_F(DevicesInFiles, ATextNodeWithoutADeviceKeepsItsSeparators) {
  EXPECT_EQ(with_devices("m.pbtxt", "node { name: \"k\", device: \"/old\", op: \"NoOp\" }", {""}),
            "node { name: \"k\", device: \"\", op: \"NoOp\" }");
}

TEST_F(DevicesInFiles, ABinaryNodeGetsItsDeviceInPlaceOfTheOneItHad) {
  using namespace proto;
  const std::string big(300, 'x');
  const auto node = [&](const std::string& name, const std::string& device) {
    return field(1,
                 field(1, name) + field(2, "NoOp") + field(3, "^a" + big) + (device.empty() ? "" : field(4, device)));
  };
  const std::string a = field(1, field(1, "a" + big) + field(2, "NoOp"));
  const std::string was = a + node("b", "") + field(4, field(1, 22)),
                    is = a + node("b", "/device:GPU:1") + field(4, field(1, 22));
  EXPECT_EQ(with_devices("m.pb", was, {"", "/device:GPU:1"}), is);
  EXPECT_EQ(with_devices("m.pb", is, {"", ""}), was);
}

TEST_F(DevicesInFiles, AGraphDefStaysTheSameGraphHoweverItWasWritten) {
  EXPECT_TRUE(rc::check("write_graphdef_devices", [&] {
    const int count = *rc::gen::inRange(1, 8);
    std::string text, bytes;
    Texts devices;
    for (int i = 0; i < count; ++i) {
      const std::string name = "n" + std::to_string(i), had = *rc::gen::element<std::string>("", "/old");
      const std::string input = i == 0 ? "" : "n" + std::to_string(*rc::gen::inRange(0, i));
      devices.push_back(*rc::gen::element<std::string>("", "/device:GPU:0", "/device:CPU:0"));
      text += "node { name: \"" + name + "\" op: \"AddN\" " + (input.empty() ? "" : "input: \"" + input + "\" ") +
              (had.empty() ? "" : "device: \"" + had + "\" ") + "}\n";
      using namespace proto;
      bytes += field(1, field(1, name) + field(2, "AddN") + (input.empty() ? "" : field(3, input)) +
                            (had.empty() ? "" : field(4, had)));
    }
    for (const auto& [name, content] : {std::pair("m.pbtxt", text), std::pair("m.pb", bytes)}) {
      const std::string out = with_devices(name, content, devices);
      const Graph was = read_graph(folder_ / name), is = read_graph(folder_ / (std::string("out-") + name));
      RC_ASSERT(was.ops.size() == is.ops.size());
      for (std::size_t i = 0; i < was.ops.size(); ++i) {
        RC_ASSERT(was.ops[i].name == is.ops[i].name);
        RC_ASSERT(was.ops[i].inputs == is.ops[i].inputs);
      }
      RC_ASSERT(out.find("/old") == std::string::npos);
      // Writing them once more changes nothing.
      RC_ASSERT(with_devices(name, out, devices) == out);
    }
  }));
}

constexpr const char* ir =
    "\xef\xbb\xbf<?xml version=\"1.0\"?>\n<net name=\"m\" version=\"11\"><layers>\n"
    "<layer id=\"0\" name=\"a > b\" type=\"Parameter\"><data shape=\"1,3\" element_type=\"f32\"/>"
    "<output><port id=\"0\" precision=\"FP32\"><dim>1</dim><dim>3</dim></port></output></layer>\n"
    "<layer id='1' name='r' type='ReLU'>{}<input><port id=\"0\"/></input>"
    "<output><port id=\"1\" precision=\"FP32\"><dim>1</dim><dim>3</dim></port></output></layer>\n"
    "</layers><edges><edge from-layer=\"0\" from-port=\"0\" to-layer=\"1\" to-port=\"0\"/></edges></net>\n";

std::string ir_with(const std::string& first, const std::string& second) {
  std::string text = fmt::format(fmt::runtime(ir), second);
  return text.insert(text.find("<data shape"), first);
}
std::string affinity(const std::string& device) {
  return "<user_data name=\"affinity\" version=\"0\" value=\"" + device + "\"/>";
}

TEST_F(DevicesInFiles, ALayerGetsItsAffinityAndKeepsWhatElseItsRtInfoSays) {
  const std::string info = "<attribute name=\"fused_names\" version=\"0\" value=\"x>y\"/>";
  const std::string was = ir_with("", "<rt_info>" + info + "</rt_info>");
  const std::string is =
      ir_with("<rt_info>" + affinity("GPU.0") + "</rt_info>", "<rt_info>" + affinity("A&amp;B") + info + "</rt_info>");
  EXPECT_EQ(with_devices("m.xml", was, {"GPU.0", "A&B"}), is);
  EXPECT_EQ(with_devices("m.xml", is, {"GPU.0", "A&B"}), is);
  EXPECT_EQ(with_devices("m.xml", is, {"", ""}), ir_with("<rt_info></rt_info>", "<rt_info>" + info + "</rt_info>"));
  EXPECT_EQ(with_devices("m.xml", ir_with("", "<rt_info/>"), {"", "CPU"}),
            ir_with("", "<rt_info>" + affinity("CPU") + "</rt_info>"));
}

TEST_F(DevicesInFiles, OthersThanTheirFormatAreRefused) {
  const auto refusal = [](auto&& write) -> std::string {
    try {
      write();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string graphdef = file("m.pbtxt", "node { name: \"a\" op: \"NoOp\" }");
  EXPECT_THAT(refusal([&] { write_openvino_affinity(graphdef, folder_ / "o", {"d"}); }),
              HasSubstr("the model to copy must be an OpenVINO IR"));
  const std::string xml = file("m.xml", ir_with("", ""));
  EXPECT_THAT(refusal([&] { write_graphdef_devices(xml, folder_ / "o", {"d"}); }),
              HasSubstr("the model to copy must be a GraphDef"));
  EXPECT_THAT(refusal([&] {
                write_graphdef_devices(graphdef, folder_ / "o", {"d", "e"});
              }),
              HasSubstr("has changed since it was read"));
  EXPECT_FALSE(file_exists(folder_ / "o"));
}

TEST_F(DevicesInFiles, RealModelsReadAsBefore) {
  std::size_t files = 0;
  for (const auto& [folder, ending] : {std::pair("tf-graphdef", ".pbtxt"), std::pair("openvino-ir", ".xml")}) {
    const std::string models = test::outside_file("models/") + folder;
    REQUIRE_OUTSIDE_FILE(models);
    for (const auto& entry : std::filesystem::directory_iterator(models)) {
      const std::string model = entry.path().string(), out = folder_ / (std::string("out") + ending);
      Graph was = read_graph(model);
      Texts devices;
      for (std::size_t i = 0; i < was.ops.size(); ++i) devices.push_back(i % 3 == 0 ? "CPU" : "GPU.1");
      if (std::string_view(ending) == ".xml")
        write_openvino_affinity(model, out, devices);
      else
        write_graphdef_devices(model, out, devices);
      Graph is = read_graph(out);
      ++files;
      ASSERT_EQ(was.ops.size(), is.ops.size());
      EXPECT_EQ(was.edge_count(), is.edge_count());
      for (std::size_t i = 0; i < was.ops.size(); ++i) {
        EXPECT_EQ(was.ops[i].name, is.ops[i].name);
        EXPECT_EQ(was.ops[i].inputs, is.ops[i].inputs);
        if (std::string_view(ending) == ".pbtxt") {
          EXPECT_EQ(std::get<std::string>(is.ops[i].attributes.at("device")), devices[i]);
        }
        was.ops[i].attributes.erase("device");
        is.ops[i].attributes.erase("device");
        EXPECT_EQ(was.ops[i].attributes, is.ops[i].attributes);
      }
    }
  }
  EXPECT_EQ(files, 7U);
}

}  // namespace
}  // namespace emplace::formats::devices_in_files_test
