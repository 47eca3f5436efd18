// scripts/methods-table: one command makes the table of all methods from problems.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::methods_table_test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class MethodsTable : public ::testing::Test {
 protected:
  void SetUp() override {
    write_file(chain_, example_problem);
    // A chain of 2 and 2 ms on two equal devices without routes: both ops on one of them, 4 ms.
    write_file(apart_, R"({"emplace": "problem/1", 
      "devices": [{"name": "a", "memory_bytes": null}, {"name": "b", "memory_bytes": null}],
      "ops": [{"name": "x", "seconds": [0.002, 0.002]}, {"name": "y", "seconds": [0.002, 0.002]}],
      "tensors": [{"from": 0, "bytes": 1, "to": [1]}]})");
  }
  Finished table(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"env", std::string("EMPLACE=") + EMPLACE_PROGRAM,
                                         std::string(EMPLACE_SOURCE) + "/scripts/methods-table", out_});
    return run(arguments);
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> list;
    std::string rest = read_file(out_ + "/methods.csv");
    for (std::size_t end = 0; (end = rest.find('\n')) != std::string::npos; rest.erase(0, end + 1))
      list.push_back(rest.substr(0, end));
    return list;
  }
  // The row of a method, without the problem's name; "" if there is none, "several" if it ran twice.
  std::string row(const std::string& problem, const std::string& method) const {
    const std::string start = problem + ",," + method + ",";
    std::string found;
    for (const std::string& line : lines())
      if (line.starts_with(start)) found = found.empty() ? line.substr(start.size()) : "several";
    return found;
  }
  TemporaryFolder folder_;
  std::string out_ = folder_ / "table", chain_ = folder_ / "chain.json", apart_ = folder_ / "apart.json";
};

TEST_F(MethodsTable, HoldsEveryPlacerOfEveryProblemAndRunsOnlyWhatIsMissing) {
  const std::vector<std::string> arguments = {"--seconds", "0.2", "--jobs", "2", chain_, apart_};
  const auto done = table(arguments);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "best is at least as good as every baseline on 2 of 2 problems.\n");

  const nlohmann::json placers = nlohmann::json::parse(emplace_run({"list", "placers", "--json"}).out);
  EXPECT_EQ(lines().size(), 1 + 2 * placers.size()) << "a header; the bound in place of `device`, which wants a name";
  for (const auto& placer : placers)
    if (placer["name"] != "device") {
      EXPECT_NE(row(chain_, placer["name"]), "") << placer["name"];
    }
  // 1 ms + 10 us + 4096 B / 12 GB/s + 10 ms, which is also the bound; on the CPU alone 20 ms, 81.65 % more.
  EXPECT_THAT(row(chain_, "best"), AllOf(HasSubstr("0.011010341333,true,0.011010341333,0.00,"), EndsWith(",ok")));
  EXPECT_THAT(row(chain_, "cpu-only"), HasSubstr("0.02,true,0.011010341333,81.65,"));
  EXPECT_THAT(row(chain_, "expert"), AllOf(HasSubstr(",unfit: "), HasSubstr("no expert's placement is known")));
  EXPECT_THAT(row(chain_, "dp"), HasSubstr("needs --objective pipeline; found step"));
  EXPECT_THAT(row(apart_, "best"), HasSubstr("0.004,true,0.004,0.00,"));
  EXPECT_THAT(row(apart_, "round-robin"), EndsWith(",infeasible")) << "x and y apart, no route between them";

  const std::string page = read_file(out_ + "/methods.md");
  EXPECT_THAT(page, AllOf(HasSubstr("| " + chain_ + " | 0.0110103 |"), HasSubstr("## " + apart_),
                          HasSubstr("| best | **0.0110103** | 0.00 |"), HasSubstr("| cpu-only | 0.02 | 81.65 |"),
                          HasSubstr("expert (unfit: ")));
  EXPECT_GT(page.find("| cpu-only | 0.02"), page.find("| best | **0.011")) << "sorted by step time";

  // As after an interrupted run: one row is missing, the last one is incomplete. Complete rows are kept as they are.
  std::string text = read_file(out_ + "/methods.csv");
  const std::size_t heft = text.find(chain_ + ",,heft,");
  text.erase(heft, text.find('\n', heft) + 1 - heft);
  const std::size_t greedy = text.find(chain_ + ",,greedy,0.0");
  ASSERT_NE(greedy, std::string::npos);
  text.replace(greedy, (chain_ + ",,greedy,0.0").size(), chain_ + ",,greedy,9.0");
  write_file(out_ + "/methods.csv", text.substr(0, text.size() - 10));
  const auto again = table(arguments);
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(row(chain_, "heft"), EndsWith(",ok"));
  EXPECT_THAT(row(chain_, "greedy"), HasSubstr("9.0"));
  EXPECT_EQ(lines().size(), 1 + 2 * placers.size());
}

TEST_F(MethodsTable, NamesTheProblemsWhereBestIsBehind) {
  ASSERT_EQ(table({"--seconds", "0.1", chain_}).exit_code, 0);
  std::string text = read_file(out_ + "/methods.csv");
  const std::string start = chain_ + ",,best,0.011010341333";
  text.replace(text.find(start), start.size(), chain_ + ",,best,0.022020682666");
  write_file(out_ + "/methods.csv", text);
  // The step of `best` is now twice the optimum: the methods that found the optimum save half of it, and the first of
  // them in the list is named.
  EXPECT_THAT(table({"--seconds", "0.1", chain_}).out,
              AllOf(HasSubstr("on 0 of 1 problems, not on: " + chain_ + " ("), HasSubstr(" is 50 % shorter).")));
}

TEST_F(MethodsTable, RefusesWhatItCannotDo) {
  EXPECT_EQ(run({std::string(EMPLACE_SOURCE) + "/scripts/methods-table"}).exit_code, 2);
  EXPECT_THAT(table({"--seconds", "x"}).err, HasSubstr("--seconds needs a number, got 'x'"));
  EXPECT_THAT(table({"--jobs", "0"}).err, HasSubstr("--jobs needs a whole number above zero, got '0'"));
  EXPECT_THAT(table({"--schedule", "lifo"}).err, HasSubstr("fifo, priority or in-order, got 'lifo'"));
  EXPECT_THAT(table({"a,b.json"}).err, HasSubstr("no commas"));
  EXPECT_THAT(table({"none.json"}).err, HasSubstr("none.json"));
  EXPECT_EQ(table({"none.json"}).exit_code, 2);
  EXPECT_THAT(table({"--sseconds", "1"}).err, HasSubstr("Usage"));
  ASSERT_EQ(table({"--seconds", "0.1", chain_}).exit_code, 0);
  const auto other = table({"--seconds", "0.2", chain_});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("table of other settings (--seconds 0.1 --schedule fifo)"));
}

}  // namespace
}  // namespace emplace::test::methods_table_test
