// The tables of src/zoo/README.md say what the models are.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "base/text.hpp"
#include "emplace/base/registry.hpp"
#include "tests/zoo/figures.hpp"
#include "zoo/language_presets.hpp"
#include "zoo/models.hpp"

namespace emplace::zoo::readme_test {
namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t at = 1; at < line.size();) {
    const std::size_t end = std::min(line.find('|', at), line.size());
    std::string cell = line.substr(at, end - at);
    cell.erase(0, cell.find_first_not_of(' '));
    cell.erase(cell.find_last_not_of(' ') + 1);
    cells.push_back(std::move(cell));
    at = end + 1;
  }
  return cells;
}

// The rows of the table whose head begins with `head`.
std::vector<std::vector<std::string>> table(const std::string& head) {
  std::ifstream file("src/zoo/README.md");
  std::vector<std::vector<std::string>> rows;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| " + head)) {
      inside = true;
    } else if (!line.starts_with("|")) {
      inside = false;
    } else if (inside && !line.starts_with("|---")) {
      rows.push_back(cells_of(line));
    }
  }
  return rows;
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string size_of(const GraphStatistics& sums) {
  return grouped(static_cast<std::int64_t>(sums.ops)) + " / " + grouped(static_cast<std::int64_t>(sums.edges));
}

std::string in_si(double value) {
  const char* unit = value >= 1e12 ? "T" : value >= 1e9 ? "G" : "M";
  return fmt::format("{:.4g} {}", value / (value >= 1e12 ? 1e12 : value >= 1e9 ? 1e9 : 1e6), unit);
}

std::size_t trained_models() {
  return static_cast<std::size_t>(std::ranges::count_if(zoo(), [](const ZooEntry& entry) { return entry.trains; }));
}

// "`nmt?layers=4`" -> "nmt?layers=4&training=true&detail=op"
std::string training_step(const std::string& cell, const std::string& detail) {
  const std::string model = cell.substr(1, cell.size() - 2);
  return model + (model.find('?') == std::string::npos ? "?" : "&") + "training=true&detail=" + detail;
}

TEST(ZooReadme, ListsEveryModelInTheTableOfTrainingSteps) {
  std::string all;
  for (const auto& row : table("training step")) all += row.at(0) + " ";
  for (const ZooEntry& entry : zoo())
    if (entry.trains) EXPECT_NE(all.find("`" + entry.name), std::string::npos) << entry.name;
}

TEST(ZooReadme, GivesTheSizesOfTrainingStepsAtEachDetail) {
  const auto rows = table("training step");
  ASSERT_GE(rows.size(), trained_models());
  for (const auto& row : rows) {
    ASSERT_EQ(row.size(), 8U) << row.at(0);
    const GraphStatistics layer = statistics(build_zoo_model(training_step(row[0], "layer")));
    const GraphStatistics op = statistics(build_zoo_model(training_step(row[0], "op")));
    const GraphStatistics framework = statistics(build_zoo_model(training_step(row[0], "framework")));
    EXPECT_EQ(row[1], size_of(layer)) << row[0];
    EXPECT_EQ(row[2], size_of(op)) << row[0];
    EXPECT_EQ(row[3], size_of(framework)) << row[0];
    EXPECT_EQ(row[4], grouped(op.parameters)) << row[0];
    EXPECT_EQ(layer.parameters, op.parameters) << row[0];
    EXPECT_NEAR(layer.flops, op.flops, 1e-9 * op.flops) << row[0];
    EXPECT_EQ(layer.bytes, op.bytes) << row[0];
    EXPECT_EQ(row[5], in_si(op.flops)) << row[0];
    EXPECT_EQ(row[6], in_si(static_cast<double>(op.bytes)) + "B") << row[0];
    EXPECT_LE(framework.flops, 1.001 * op.flops) << row[0];
    EXPECT_LE(static_cast<double>(framework.bytes), 1.01 * static_cast<double>(op.bytes)) << row[0];
  }
}

TEST(ZooReadme, GivesTheParametersAndMultiplyAddsOfForwardGraphs) {
  const auto rows = table("inference");
  ASSERT_GE(rows.size(), trained_models());
  for (const auto& row : rows) {
    ASSERT_EQ(row.size(), 6U) << row.at(0);
    const GraphStatistics sums = statistics(build_zoo_model(row[0].substr(1, row[0].size() - 2)));
    EXPECT_EQ(row[1], size_of(sums)) << row[0];
    EXPECT_EQ(row[2], grouped(sums.parameters)) << row[0];
    std::string multiply_adds = row[3];
    multiply_adds.erase(std::remove(multiply_adds.begin(), multiply_adds.end(), ','), multiply_adds.end());
    EXPECT_EQ(multiply_adds, fmt::format("{:.2f}", sums.flops / 2e9)) << row[0];
  }
}

TEST(ZooReadme, NamesTheExpertPlacementOfEveryModel) {
  using Rule = std::vector<std::size_t> (*)(LayerNames, std::size_t);
  const std::map<std::string, Rule> rules{
      {"in parts", expert_in_parts}, {"by number", expert_by_number}, {"with experts", expert_with_experts}};
  std::set<std::string> named;
  for (const auto& row : table("inference")) {
    const std::string model = row.at(0).substr(1, row[0].find_first_of("?`", 1) - 1);
    named.insert(model);
    const Rule* rule = find_entry(zoo(), model, "model").expert.target<Rule>();
    ASSERT_NE(rule, nullptr) << model;
    EXPECT_EQ(*rule, rules.at(row.at(4))) << model;
  }
  EXPECT_EQ(named.size(), trained_models());
}

TEST(ZooReadme, GivesTheSizesOfEveryLanguageModel) {
  const auto rows = table("language model");
  std::size_t presets = 0;
  for (const LanguagePreset& preset : language_presets()) {
    const std::string name = fmt::format("`{}?size={}`", preset.family, preset.size);
    EXPECT_TRUE(std::ranges::any_of(rows, [&](const auto& row) { return row.at(0) == name; })) << name;
    ++presets;
  }
  ASSERT_EQ(rows.size(), presets);
  for (const auto& row : rows) {
    ASSERT_EQ(row.size(), 7U) << row.at(0);
    const std::string model = row[0].substr(1, row[0].size() - 2) + "&context=8192&type=Q4_K";
    const Graph graph = build_zoo_model(model);
    Bytes cache = 0, weights = 0;
    for (const GraphOp& op : graph.ops) cache += op.state_bytes;
    for (const GraphParameter& parameter : graph.parameters) weights += *parameter.bytes();
    const GraphStatistics sums = statistics(graph);
    EXPECT_EQ(row[1], size_of(sums)) << row[0];
    EXPECT_EQ(row[2], grouped(sums.parameters)) << row[0];
    EXPECT_EQ(row[3], human_bytes(weights)) << row[0];
    EXPECT_EQ(row[4], human_bytes(cache)) << row[0];
    EXPECT_EQ(row[5], in_si(sums.flops)) << row[0];
  }
}

}  // namespace
}  // namespace emplace::zoo::readme_test
