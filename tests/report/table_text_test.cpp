// Tables as texts: what a table's file says must not break them.
#include "report/table_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiment/tables/published_table.hpp"

namespace emplace::report::table_text_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

experiment::Reproduction reproduction_of(const std::string& label) {
  experiment::Reproduction made;
  made.table = experiment::parse_table(
      "title = \"A \\u001b[31m title\"\nsource = \"nobody\"\nmethods = [\"single\"]\n"
      "[method.single]\nlabel = \"" +
          label +
          "\"\n[[row]]\nmodel = \"m\"\ngraph = \"zoo:rnnlm\"\nmachine = \"laptop\"\npublished = { single = 1 }\n",
      "small", "small.toml");
  experiment::RowFigures row;
  row.label = made.table.rows[0].label;
  experiment::CellFigures cell;
  cell.method = "single";
  cell.published = made.table.rows[0].published.at("single");
  row.cells.push_back(cell);
  made.rows.push_back(row);
  made.fidelity = experiment::fidelity_of(made.rows);
  return made;
}

// Three methods: published 1, 2 and 3 s; ours 0.5, 0.4 and, calibrated, 0.1 s.
experiment::Reproduction three_methods() {
  experiment::Reproduction made;
  made.table = experiment::parse_table(
      "title = \"t\"\nsource = \"s\"\nmethods = [\"single\", \"scotch\", \"metis\"]\n"
      "[method.single]\nlabel = \"A\"\n[method.scotch]\nlabel = \"B\"\n[method.metis]\nlabel = \"C\"\n"
      "[[row]]\nmodel = \"m\"\ngraph = \"zoo:rnnlm\"\nmachine = \"laptop\"\n"
      "published = { single = 1, scotch = 2, metis = 3 }\n",
      "small", "small.toml");
  experiment::RowFigures row;
  row.label = made.table.rows[0].label;
  const auto add = [&](const char* method, double ours) {
    experiment::CellFigures cell;
    cell.method = method;
    cell.published = made.table.rows[0].published.at(method);
    cell.status = experiment::CellStatus::ok;
    cell.ours = cell.low = cell.high = ours;
    cell.seeds = 1;
    row.cells.push_back(cell);
  };
  add("single", 0.5);
  add("scotch", 0.4);
  add("metis", 0.1);
  row.cells.back().calibrates = true;
  made.rows.push_back(row);
  made.fidelity = experiment::fidelity_of(made.rows);
  return made;
}

TEST(TableTexts, MarkTheFastestMethodOfEachLine) {
  const std::string markdown = table_markdown(three_methods());
  EXPECT_THAT(markdown, HasSubstr("| m | published | **1** | 2 | 3 |"));
  EXPECT_THAT(markdown, HasSubstr("| 0.5000 | **0.4000** | 0.1000* |")) << "a cell of calibration is no result";
  EXPECT_THAT(markdown, HasSubstr("- bold: the fastest method of its line"));
  EXPECT_THAT(table_latex(three_methods()), HasSubstr("0.5000 & \\textbf{0.4000} & 0.1000*"));
  const std::string text = table_text(three_methods());
  EXPECT_THAT(text, HasSubstr("0.4000 (1st)"));
  EXPECT_THAT(text, HasSubstr("\n(1st): the fastest method of its line\n"));
  EXPECT_THAT(table_markdown(reproduction_of("a")), Not(HasSubstr("**1**"))) << "one method alone wins nothing";
}

TEST(TableTexts, ExplainBestFoundBoundAndTheOrderingsThatAgree) {
  const experiment::Reproduction made = three_methods();
  for (const std::string& text : {table_text(made), table_markdown(made), table_latex(made)}) {
    EXPECT_THAT(text, HasSubstr("best found: the fastest placement that \"emplace place best\" finds"));
    EXPECT_THAT(text, HasSubstr("bound: a proof that no placement is faster"));
    EXPECT_THAT(text, HasSubstr("orderings of two methods that agree: 0 of 1 (of all pairs of methods"));
    EXPECT_THAT(text, Not(HasSubstr("decide nothing")));
  }
}

TEST(TableTexts, SayThatQuickNumbersDecideNothing) {
  experiment::Reproduction made = three_methods();
  made.quick = true;
  for (const std::string& text : {table_text(made), table_markdown(made), table_latex(made)})
    EXPECT_THAT(text, HasSubstr("budgets are far too small, so the numbers decide nothing"));
}

TEST(TableTexts, KeepABarInALabelWithinItsCell) {
  EXPECT_THAT(table_markdown(reproduction_of("a|b")), HasSubstr("| model | | a\\|b |"));
}

TEST(TableTexts, SayWhichCommandMadeThem) {
  experiment::Reproduction made = reproduction_of("a");
  EXPECT_THAT(table_text(made), HasSubstr("\nmade by emplace reproduce small\n"));
  made.quick = true;
  made.table.methods[0].quick.evaluations = 30;
  for (const std::string& text : {table_text(made), table_markdown(made), table_latex(made)}) {
    EXPECT_THAT(text, HasSubstr("made by emplace reproduce small --quick"));
    EXPECT_THAT(text, HasSubstr("budgets: a 30 evaluations"));
  }
}

TEST(TableTexts, NameAFileAsAShellReadsItAndTheFolderOfProblemsThatAreFiles) {
  experiment::Reproduction made = reproduction_of("a");
  made.table.called = "my tables/small.toml";
  EXPECT_THAT(table_text(made), HasSubstr("made by emplace reproduce 'my tables/small.toml'\n"));
  made.table.rows[0].problem = "p.json";
  EXPECT_THAT(table_text(made), HasSubstr("small.toml' --files FOLDER\n"));
}

TEST(TableTexts, GiveLatexNoLineThatTheCommandBeforeItWouldRead) {
  experiment::Reproduction made = reproduction_of("a");
  made.rows[0].label = "[8-layer GNMT]";
  made.table.calibration["cpu"] = "single";
  EXPECT_THAT(table_latex(made), HasSubstr("\n{}[8-layer GNMT] & published"));
  EXPECT_THAT(table_latex(made), HasSubstr("\n{}* the machine is calibrated with this cell"));
}

TEST(TableTexts, SayWhatARowIsLearnedWith) {
  experiment::Reproduction made = reproduction_of("a");
  made.table.rows[0].keys.set("groups", {std::int64_t{150}, "test"});
  EXPECT_THAT(table_text(made), HasSubstr("m: learned with groups = 150\n"));
}

TEST(TableTexts, HaveNoControlCharactersOfTheirFile) {
  for (const std::string& text :
       {table_text(reproduction_of("x\\u001b[0m")), table_markdown(reproduction_of("x\\u001b[0m"))}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, HasSubstr("[31m title"));
  }
}

}  // namespace
}  // namespace emplace::report::table_text_test
