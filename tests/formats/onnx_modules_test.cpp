#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/base/error.hpp"
#include "formats/onnx/module_scopes.hpp"
#include "tests/formats/onnx_builder.hpp"
#include "tests/formats/proto_bytes.hpp"

namespace emplace::formats::onnx_modules_test {
namespace {

using ::testing::ElementsAre;

// A Relu node with an entry in its metadata_props.
std::string relu(const std::string& key, const std::string& value) {
  return proto::field(1, proto::field(1, "x") + proto::field(2, "y") + proto::field(3, "r") + proto::field(4, "Relu") +
                             proto::field(9, proto::field(1, key) + proto::field(2, value)));
}
std::vector<std::string> modules_of_nodes(const std::string& nodes) {
  const TemporaryFile file(proto::field(1, 8) + proto::field(7, nodes + proto::field(2, "g")) +
                           proto::field(8, proto::field(2, 18)));
  return read_onnx_modules(file.path());
}

TEST(OnnxModules, AreTheInnermostOnesThatPyTorchNames) {
  const std::string key = "pkg.torch.onnx.name_scopes";
  EXPECT_THAT(modules_of_nodes(relu(key, "['', 'layers.0', 'layers.0.q', 'linear_1']") + relu(key, "['', 'view']") +
                               relu("other", "['', 'a', 'b']")),
              ElementsAre("layers.0.q", "", ""));
}

TEST(OnnxModules, OfBrokenListsAreNone) {
  const std::string key = "pkg.torch.onnx.name_scopes";
  EXPECT_THAT(modules_of_nodes(relu(key, "") + relu(key, "'") + relu(key, "['a") + relu(key, "['a', 'b'") +
                               relu(key, "['a', 'b', '")),
              ElementsAre("", "", "", "a", ""));
}

TEST(OnnxModules, AreRefusedOfOtherFiles) {
  const TemporaryFile file("no model");
  EXPECT_THROW(read_onnx_modules(file.path()), InputError);
}

}  // namespace
}  // namespace emplace::formats::onnx_modules_test
