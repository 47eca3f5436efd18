// The commands of README.md and TUTORIAL.md run as they are written, and the files that the pages name exist.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>

#include "base/files.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/small_gguf.hpp"
#include "tests/support/small_models.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::readme_test {
namespace {

// Lines of a page's shell blocks that are marked so ("sh"), comments removed.
std::vector<std::string> commands_of(const std::string& page, const std::string& mark) {
  std::istringstream text(read_file(page));
  std::vector<std::string> commands;
  std::string line;
  bool in_block = false;
  while (std::getline(text, line)) {
    if (line.starts_with("```")) {
      in_block = line == "```" + mark;
      continue;
    }
    if (const auto comment = line.find("  #"); comment != std::string::npos)
      line.resize(line.find_last_not_of(' ', comment) + 1);
    if (in_block && !line.empty()) commands.push_back(line);
  }
  return commands;
}

class Pages : public ::testing::Test {
 protected:
  // The folder in which a reader works: it has the programs and the recipes at the paths of the pages.
  Pages() {
    for (const char* name : {"configs", "scripts", "launch"})
      std::filesystem::create_directory_symlink(std::string(EMPLACE_SOURCE) + "/" + name, folder_ / name);
    make_folder(folder_ / "build/release");
    for (const char* end : {"", "-measure-onnx"})
      std::filesystem::create_symlink(std::string(EMPLACE_PROGRAM) + end,
                                      folder_ / (std::string("build/release/emplace") + end));
  }

  void expect_to_run(const std::vector<std::string>& commands) {
    const auto words = under_mpirun(1, {});  // sets the environment of Open MPI
    for (const std::string& line : commands) {
      const auto done = run({"sh", "-c", "cd '" + folder_.path() + "' && " + line});
      EXPECT_EQ(done.exit_code, 0) << line << "\n" << done.err;
    }
  }

  const TemporaryFolder folder_;
};

TEST_F(Pages, OfTheReadmeRunAsWritten) {
  std::vector<std::string> here;
  for (const std::string& line : commands_of("README.md", "sh")) {
    const std::string program = line.substr(0, line.find(' '));
    // They build and test the whole tree, or need a cluster: the test only checks that they exist.
    if (line.starts_with("scripts/") || program == "launch/ssh" || program == "launch/slurm")
      EXPECT_TRUE(file_exists(program)) << line;
    else
      here.push_back(line);
  }
  EXPECT_GE(here.size(), 7U);
  write_file(folder_ / "model.onnx", small_network(0));  // the page names a batch
  write_file(folder_ / "model.gguf", small_gguf());
  expect_to_run(here);
}

TEST_F(Pages, OfTheTutorialRunAsWritten) {
  const std::vector<std::string> commands = commands_of("TUTORIAL.md", "sh");
  EXPECT_GE(commands.size(), 12U);
  write_file(folder_ / "model.onnx", small_network());
  expect_to_run(commands);
}

TEST_F(Pages, OfTheTutorialMeasureAsWritten) {
  if (std::getenv("ONNXRUNTIME_LIBRARY") == nullptr) GTEST_SKIP() << "needs $ONNXRUNTIME_LIBRARY";
  const std::vector<std::string> commands = commands_of("TUTORIAL.md", "sh measured");
  EXPECT_GE(commands.size(), 8U);
  write_file(folder_ / "model.onnx", small_network());
  expect_to_run(commands);
}

// "0.1049", as tables print seconds.
std::string four_digits(double value) {
  return fmt::format("{:.{}f}", value, std::clamp(3 - static_cast<int>(std::floor(std::log10(value))), 0, 9));
}

// The fields of a line of a CSV file, of which only the first may be quoted.
std::vector<std::string> fields_of(const std::string& line) {
  const std::size_t end = line.starts_with('"') ? line.find("\",") : std::string::npos;
  if (end == std::string::npos) return split(line, ',');
  std::vector<std::string> fields = split(line.substr(end + 2), ',');
  fields.insert(fields.begin(), line.substr(1, end - 1));
  return fields;
}

// A table that `emplace reproduce` wrote, beside the tables of docs/results.md that show parts of it.
class ResultsTable {
 public:
  using Columns = std::vector<std::pair<std::string, std::string>>;  // method and part: published, ours or all

  explicit ResultsTable(const std::string& name) {
    for (const std::string& line : split(read_file("bench/results/table-" + name + ".csv"), '\n')) {
      const std::vector<std::string> fields = fields_of(line);
      if (fields.size() != 13 || fields[0] == "row") continue;
      if (rows_.empty() || rows_.back() != fields[0]) rows_.push_back(fields[0]);
      const auto seconds = [&](std::size_t field) {
        return fields[field].empty() ? fields[8] : four_digits(std::stod(fields[field]));
      };
      cells_[fields[0] + "." + fields[2]] = {fields[3].empty() ? fields[4] : fields[3], seconds(5),
                                             "[" + seconds(6) + ", " + seconds(7) + "]"};
    }
  }

  [[nodiscard]] const std::vector<std::string>& rows() const { return rows_; }
  void expect_on_page(const Columns& columns) const { expect_on_page(rows_, columns); }
  void expect_on_page(const std::vector<std::string>& rows, const Columns& columns) const {
    std::string table;
    for (const std::string& row : rows) table += line_of(row, columns);
    EXPECT_THAT(read_file("docs/results.md"), ::testing::HasSubstr("\n" + table + "\n"));
  }

 private:
  struct Cell {
    std::string published, ours, interval;
  };

  [[nodiscard]] std::string line_of(const std::string& row, const Columns& columns) const {
    std::vector<std::string> texts = {row};
    for (const auto& [method, part] : columns) {
      const auto found = cells_.find(row + "." + method);  // none: the row does not have the method
      const Cell cell = found == cells_.end() ? Cell{} : found->second;
      texts.push_back(part == "published" ? cell.published
                      : part == "ours"    ? cell.ours
                                          : cell.ours + " " + cell.interval);
    }
    return "| " + join(texts, " | ") + " |\n";
  }

  std::map<std::string, Cell> cells_;  // by "row.method"
  std::vector<std::string> rows_;      // in the order of the file
};

TEST(ResultsPage, HasTheHierarchicalPlannersTableAndItsAblations) {
  const ResultsTable table("hierarchical");
  ASSERT_EQ(table.rows().size(), 6U);
  table.expect_on_page({{"expert", "published"},
                        {"scotch", "published"},
                        {"mincut", "published"},
                        {"hierarchical", "published"},
                        {"expert", "ours"},
                        {"scotch", "ours"},
                        {"mincut", "ours"},
                        {"hierarchical", "ours"},
                        {"hierarchical:tuned", "ours"},
                        {"best", "ours"},
                        {"bound", "ours"}});
  table.expect_on_page({table.rows()[0], table.rows()[2], table.rows()[3]},
                       {{"hierarchical", "ours"},
                        {"hierarchical:no-grouping", "ours"},
                        {"hierarchical:random-grouping", "ours"},
                        {"hierarchical:tuned", "ours"},
                        {"hierarchical:tuned-no-grouping", "ours"},
                        {"hierarchical:tuned-random-grouping", "ours"}});
}

// Lines of docs/results.md with cells that are done of a table that is not: seconds of seed 0, where there are any.
void expect_kept_on_page(const std::string& name, const std::vector<std::string>& rows, std::size_t published,
                         const std::vector<std::string>& methods) {
  std::map<std::string, std::string> seconds;  // by "row.method.seed"
  for (const std::string& line : split(read_file("bench/results/cells/" + name + ".jsonl"), '\n')) {
    if (line.empty()) continue;
    const nlohmann::json cell = nlohmann::json::parse(line);
    if (cell["result"]["feasible"].get<bool>() && cell["result"]["time_ps"].is_number())
      seconds[cell["id"]] = four_digits(cell["result"]["time_ps"].get<double>() * 1e-12);
  }
  const std::string page = read_file("docs/results.md");
  for (const std::string& row : rows) {
    std::string id = row, line = "\n[|] " + row;
    for (char& letter : id) letter = letter == ' ' ? '-' : static_cast<char>(std::tolower(letter));
    for (std::size_t i = 0; i < published; ++i) line += " [|] [0-9.]+";
    for (const std::string& method : methods) line += " [|] " + seconds[id + "." + method + ".0"];
    EXPECT_THAT(page, ::testing::ContainsRegex(line + " [|]\n"));
  }
}

TEST(ResultsPage, HasWhatIsDoneOfGdpsTable) {
  const std::vector<std::string> rows = {
      "2-layer RNNLM",           "4-layer RNNLM",          "2-layer GNMT", "4-layer GNMT", "2-layer Transformer-XL",
      "4-layer Transformer-XL",  "8-layer Transformer-XL", "Inception",    "AmoebaNet",    "2-stack 18-layer WaveNet",
      "4-stack 36-layer WaveNet"};
  expect_kept_on_page("gdp", rows, 3,
                      {"gdp", "expert", "metis", "hierarchical", "gdp-tuned", "hierarchical-tuned", "best", "bound"});
  std::vector<std::string> all = rows;
  all.push_back("8-layer GNMT");
  expect_kept_on_page(
      "gdp", all, 0,
      {"gdp-tuned", "gdp-tuned-batch", "gdp-tuned-zero-shot", "gdp-tuned-fine-tuned", "gdp-tuned-fresh"});
  expect_kept_on_page("gdp", {rows[0], rows[4], rows[7], rows[9]}, 0,
                      {"gdp", "gdp-no-attention", "gdp-no-superposition", "gdp-tuned", "gdp-tuned-no-attention",
                       "gdp-tuned-no-superposition"});
}

TEST(ResultsPage, HasColocrlsTable) {
  const ResultsTable table("colocrl");
  ASSERT_EQ(table.rows().size(), 6U);
  table.expect_on_page({{"device:gpu:0", "published"},
                        {"mincut", "published"},
                        {"expert", "published"},
                        {"colocrl", "published"},
                        {"mincut", "ours"},
                        {"expert", "ours"},
                        {"colocrl", "ours"},
                        {"colocrl:tuned", "ours"},
                        {"best", "ours"},
                        {"bound", "ours"}});
}

TEST(ResultsPage, HasHsdagsTableOnOpenvinosGraphs) {
  const ResultsTable table("hsdag-openvino");
  ASSERT_EQ(table.rows().size(), 3U);
  table.expect_on_page({{"device:gpu", "ours"},
                        {"placeto", "ours"},
                        {"colocrl", "ours"},
                        {"hsdag", "ours"},
                        {"hsdag:code", "ours"},
                        {"hsdag:tuned", "ours"},
                        {"best", "ours"},
                        {"bound", "ours"}});
}

TEST(ResultsPage, HasHsdagsTableAndItsAblations) {
  const ResultsTable table("hsdag");
  ASSERT_EQ(table.rows().size(), 3U);
  table.expect_on_page({{"cpu-only", "published"},
                        {"device:gpu", "published"},
                        {"placeto", "published"},
                        {"colocrl", "published"},
                        {"hsdag", "published"},
                        {"placeto", "all"},
                        {"colocrl", "all"},
                        {"hsdag", "all"},
                        {"hsdag:tuned", "all"},
                        {"best", "ours"},
                        {"bound", "ours"}});
  table.expect_on_page({{"hsdag", "all"},
                        {"hsdag:no-shape", "all"},
                        {"hsdag:no-position", "all"},
                        {"hsdag:no-structure", "all"},
                        {"hsdag:gat", "all"},
                        {"hsdag:gin", "all"},
                        {"hsdag:4-epochs", "all"}});
  table.expect_on_page({{"hsdag:tuned", "all"},
                        {"hsdag:tuned-no-shape", "all"},
                        {"hsdag:tuned-no-position", "all"},
                        {"hsdag:tuned-no-structure", "all"}});
}

TEST(ResultsPage, HasTheTableOfExactSplits) {
  const ResultsTable table("exact");
  ASSERT_EQ(table.rows().size(), 7U);
  table.expect_on_page({{"dp", "published"},
                        {"milp", "published"},
                        {"expert", "ours"},
                        {"pipedream-like", "ours"},
                        {"steepest-descent", "ours"},
                        {"dpl", "ours"},
                        {"dp", "ours"},
                        {"milp", "ours"},
                        {"best", "ours"},
                        {"bound", "ours"}});
}

TEST(ResultsPage, HasPostsTable) {
  const ResultsTable table("post");
  ASSERT_EQ(table.rows().size(), 4U);
  table.expect_on_page({{"single", "ours"},
                        {"expert", "ours"},
                        {"colocrl", "ours"},
                        {"post:proximal", "ours"},
                        {"post:cross-entropy", "ours"},
                        {"post", "ours"},
                        {"post:2400", "ours"},
                        {"colocrl:tuned", "ours"},
                        {"post:tuned-proximal", "ours"},
                        {"post:tuned-cross-entropy", "ours"},
                        {"post:tuned", "ours"},
                        {"best", "ours"},
                        {"bound", "ours"}});
}

TEST(ResultsPage, HasPlacetosTable) {
  const ResultsTable table("placeto");
  ASSERT_EQ(table.rows().size(), 6U);
  table.expect_on_page({{"expert", "published"},
                        {"placeto", "published"},
                        {"colocrl", "published"},
                        {"device:gpu:0", "ours"},
                        {"expert", "ours"},
                        {"scotch", "ours"},
                        {"placeto", "ours"},
                        {"colocrl", "ours"},
                        {"placeto:tuned", "ours"},
                        {"colocrl:tuned", "ours"},
                        {"best", "ours"},
                        {"bound", "ours"}});
}

TEST(ResultsPage, HasGosTable) {
  const ResultsTable table("go");
  ASSERT_EQ(table.rows().size(), 14U);
  table.expect_on_page({{"go", "published"},
                        {"expert", "published"},
                        {"metis", "published"},
                        {"hierarchical", "published"},
                        {"go", "ours"},
                        {"go:scheduled", "ours"},
                        {"expert", "ours"},
                        {"metis", "ours"},
                        {"hierarchical", "ours"},
                        {"go:tuned", "ours"},
                        {"hierarchical:tuned", "ours"},
                        {"best", "ours"},
                        {"bound", "ours"}});
}

TEST(PagesAboutThePapers, NameFilesThatAreThere) {
  const std::regex file("`((?:src|include|tests|configs|bench|scripts)/[A-Za-z0-9_./-]+)`");
  for (const char* paper : {"colocrl", "hierarchical", "post", "placeto", "gdp", "hsdag", "tarnawski"}) {
    const std::string page = read_file(fmt::format("docs/papers/{}.md", paper));
    std::size_t count = 0;
    for (std::sregex_iterator at(page.begin(), page.end(), file), end; at != end; ++at, ++count)
      EXPECT_TRUE(file_exists((*at)[1])) << paper << ": " << (*at)[1];
    EXPECT_GE(count, 25U) << paper;
  }
}

}  // namespace
}  // namespace emplace::test::readme_test
