// The human-expert placements.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "emplace/base/registry.hpp"
#include "zoo/zoo.hpp"

namespace emplace::zoo::expert_test {
namespace {

std::map<std::string, std::size_t> expert(const std::string& model, const std::string& options, std::size_t devices) {
  const std::vector<std::string> layers = layers_of(build_zoo_model(model + options));
  const std::vector<std::size_t> device = find_entry(zoo(), model, "model").expert(layers, devices);
  std::map<std::string, std::size_t> placement;
  for (std::size_t i = 0; i < layers.size(); ++i) placement[layers[i]] = device.at(i);
  return placement;
}

TEST(Expert, PutsEachLstmLayerOnADeviceAndAttentionAndSoftmaxWithTheLast) {
  const auto at = expert("nmt", "?layers=4&sequence=2&hidden=8&vocabulary=20", 4);
  for (const char* side : {"encoder/", "decoder/"})
    for (std::size_t layer = 0; layer < 4; ++layer) EXPECT_EQ(at.at(side + std::to_string(layer)), layer);
  EXPECT_EQ(at.at("embedding/source"), 0U);
  EXPECT_EQ(at.at("embedding/target"), 0U);
  EXPECT_EQ(at.at("attention"), 3U);
  EXPECT_EQ(at.at("softmax"), 3U);
}

TEST(Expert, GoesRoundRobinWhereThereAreMoreLayersThanDevices) {
  // 5 layers on 2 devices: 0 1 0 1 0, so softmax goes with layer 4 to device 0.
  const auto at = expert("rnnlm", "?layers=5&sequence=2&hidden=8&vocabulary=20", 2);
  EXPECT_EQ(at.at("lstm/0"), 0U);
  EXPECT_EQ(at.at("lstm/1"), 1U);
  EXPECT_EQ(at.at("lstm/3"), 1U);
  EXPECT_EQ(at.at("lstm/4"), 0U);
  EXPECT_EQ(at.at("softmax"), 0U);
}

TEST(Expert, CutsAConvolutionalNetworkIntoPartsOfEqualDepth) {
  // Stem, 11 modules, classifier: 13 layers; i * 2 / 13 turns from 0 to 1 at the seventh, counted from 0.
  const auto at = expert("inception-v3", "?batch=1", 2);
  EXPECT_EQ(at.at("stem"), 0U);
  EXPECT_EQ(at.at("Mixed_6c"), 0U);
  EXPECT_EQ(at.at("Mixed_6d"), 1U);
  EXPECT_EQ(at.at("classifier"), 1U);
}

TEST(Expert, PutsAStackOfWavenetOnADevice) {
  const auto at = expert("wavenet", "?batch=1&sequence=100&stacks=2&layers=18", 2);
  EXPECT_EQ(at.at("stack0/layer0"), 0U);
  EXPECT_EQ(at.at("stack0/layer17"), 0U);
  EXPECT_EQ(at.at("stack1/layer0"), 1U);
  EXPECT_EQ(at.at("stack1/layer17"), 1U);
}

TEST(Expert, SpreadsExpertsOverAllDevices) {
  const auto at = expert("moe-transformer", "?layers=4&hidden=64&sequence=8&vocabulary=20&experts=8", 4);
  for (std::size_t e = 0; e < 8; ++e) EXPECT_EQ(at.at("decoder/1/expert/" + std::to_string(e)), e % 4);
  EXPECT_EQ(at.at("embedding"), 0U);
  EXPECT_EQ(at.at("softmax"), 3U);
}

TEST(Expert, UsesEveryDeviceForEveryModelOfThePapers) {
  for (const ZooEntry& entry : zoo())
    for (const std::size_t devices : {1U, 2U}) {
      std::set<std::size_t> used;
      for (const auto& [layer, device] : expert(entry.name, "?batch=2", devices)) used.insert(device);
      EXPECT_EQ(used.size(), devices) << entry.name;
      EXPECT_EQ(*used.rbegin(), devices - 1) << entry.name;
    }
}

}  // namespace
}  // namespace emplace::zoo::expert_test
