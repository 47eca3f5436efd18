// scripts/tables: which cells it hands to `emplace reproduce`, and what it keeps. The program is replaced by a script
// that lists the cells that it was given and makes one more.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::tables_script_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TablesScript : public ::testing::Test {
 protected:
  TablesScript() {
    fs::create_directories(tree_ + "/scripts");
    fs::create_directories(tree_ + "/configs/tables");
    fs::create_directories(tree_ + "/bench/results/cells");
    fs::create_directories(folder_ / "bin");
    for (const char* file : {"/scripts/tables", "/scripts/command_line.py"})
      fs::copy_file(std::string(EMPLACE_SOURCE) + file, tree_ + file);
    table("one", "zoo:a");
    table("two", "zoo:a");
    table("three", "zoo:b");
    program("0");
  }
  // A table of one row and the method HDP.
  void table(const std::string& name, const std::string& graph) const {
    write_file(tree_ + "/configs/tables/" + name + ".toml",
               "methods = [\"hierarchical:tuned\"]\n[[row]]\nlabel = \"2-layer A\"\n" +
                   ("graph = \"" + graph + "\"\nmachine = \"p100x2\"\n"));
  }
  void program(const std::string& exit_code) const {
    const std::string file = folder_ / "bin/emplace";
    write_file(file, R"(#!/bin/sh
ls "$4/cells" > "$4/given"
cp "$4/cells/2-layer-a.hierarchical-tuned.0.json" "$4/copy" 2>/dev/null
echo '{"task": {"problem": "zoo:a@p100x2", "seed": 7}, "result": {"time_ps": 7}, "state": 1}' > "$4/cells/2-layer-a.best.0.json"
echo csv > "$4/table.csv"; echo md > "$4/table.md"
exit )" + exit_code + "\n");
    fs::permissions(file, fs::perms::owner_all);
  }
  Finished tables(const std::string& table) const {
    return run({"env", "PATH=" + (folder_ / "bin") + ":" + std::getenv("PATH"), tree_ + "/scripts/tables",
                folder_ / "work", table});
  }
  void kept(const std::string& table, const std::string& line) const {
    write_file(tree_ + "/bench/results/cells/" + table + ".jsonl", line + "\n");
  }
  [[nodiscard]] std::string given(const std::string& table) const {
    return read_file(folder_ / ("work/" + table + "/given"));
  }
  static constexpr const char* hdp_cell =
      R"({"id": "2-layer-a.hierarchical-tuned.0", "result": {"time_ps": 5}, "task": {"problem": "zoo:a@p100x2", "seed": 0}})";
  TemporaryFolder folder_;
  const std::string tree_ = folder_ / "tree";
};

TEST_F(TablesScript, KeepsWhatWasMadeAndCopiesAFinishedTable) {
  kept("one", hdp_cell);
  const Finished made = tables("one");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(given("one"), "2-layer-a.hierarchical-tuned.0.json\n");
  EXPECT_EQ(read_file(tree_ + "/bench/results/cells/one.jsonl"),
            R"({"id": "2-layer-a.best.0", "result": {"time_ps": 7}, "task": {"problem": "zoo:a@p100x2", "seed": 7}})"
            "\n" +
                std::string(hdp_cell) + "\n");
  EXPECT_EQ(read_file(tree_ + "/bench/results/table-one.csv"), "csv\n");
  EXPECT_EQ(read_file(tree_ + "/bench/results/table-one.md"), "md\n");
}

TEST_F(TablesScript, TakesCellsOfOtherTablesWithTheSameRowMethodAndProblem) {
  kept("one", hdp_cell);
  ASSERT_EQ(tables("two").exit_code, 0);
  EXPECT_EQ(given("two"), "2-layer-a.hierarchical-tuned.0.json\n");
  EXPECT_THAT(read_file(tree_ + "/bench/results/cells/two.jsonl"), HasSubstr(hdp_cell));
  ASSERT_EQ(tables("three").exit_code, 0);
  EXPECT_EQ(given("three"), "") << "the row has the same label, but another model";
}

TEST_F(TablesScript, KeepsTheCellsOfATableThatEndedEarlyAndCopiesNoTable) {
  program("75");
  const Finished made = tables("one");
  EXPECT_EQ(made.exit_code, 75);
  EXPECT_THAT(read_file(tree_ + "/bench/results/cells/one.jsonl"),
              AllOf(HasSubstr("2-layer-a.best.0"), Not(HasSubstr("state"))));
  EXPECT_FALSE(fs::exists(tree_ + "/bench/results/table-one.csv"));
}

}  // namespace
}  // namespace emplace::test::tables_script_test
