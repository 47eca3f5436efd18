// `emplace completion`, loaded by bash as for a user, and `emplace manual`.
#include <gmock/gmock.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::completion_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// The completions that bash offers for the last word. `words`: the line as bash splits it, also at = : and @; a word
// that follows without a blank begins with '+'.
std::vector<std::string> in_bash(const std::vector<std::string>& words) {
  std::string line = EMPLACE_PROGRAM, list = EMPLACE_PROGRAM;
  for (const std::string& word : words) {
    const bool glued = word.starts_with('+');
    line += (glued ? "" : " ") + word.substr(glued ? 1 : 0);
    list += " '" + word.substr(glued ? 1 : 0) + "'";
  }
  const std::string script =
      "source <('" EMPLACE_PROGRAM "' completion bash); COMP_WORDS=(" + list +
      "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_LINE='" + line +
      "'; COMP_POINT=${#COMP_LINE}; _emplace; printf '%s\\n' \"${COMPREPLY[@]}\"; complete -p emplace";
  const Finished done = run({"bash", "--norc", "-c", script});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.err, "");
  std::vector<std::string> lines = split(done.out, '\n');
  lines.pop_back();  // after the last newline
  EXPECT_EQ(lines.back(), "complete -F _emplace emplace");
  lines.pop_back();
  if (lines == std::vector<std::string>{""}) lines.clear();
  return lines;
}

const std::string recipe = "configs/recipes/quickstart.toml";

TEST(Completion, KnowsCommandsAndOptions) {
  EXPECT_THAT(in_bash({"si"}), ElementsAre("simulate"));
  EXPECT_THAT(in_bash({""}), AllOf(Contains("train"), Contains("doctor"), Contains("manual")));
  EXPECT_THAT(in_bash({"bound", "--sec"}), ElementsAre("--seconds"));
  EXPECT_THAT(in_bash({"nonsense", ""}), IsEmpty());
}

TEST(Completion, KnowsChoicesAndNames) {
  EXPECT_THAT(in_bash({"simulate", "p.json", "--schedule", ""}), ElementsAre("fifo", "priority", "in-order"));
  EXPECT_THAT(in_bash({"simulate", "--schedule", "+=", "+p"}), ElementsAre("priority"));
  EXPECT_THAT(in_bash({"list", "le"}), ElementsAre("learners"));
  EXPECT_THAT(in_bash({"place", "hef"}), ElementsAre("heft"));
  EXPECT_THAT(in_bash({"cost", "m.onnx", "two-ho"}), ElementsAre("two-hosts"));
  EXPECT_THAT(in_bash({"reproduce", "hsd"}), UnorderedElementsAre("hsdag", "hsdag-openvino"));
  EXPECT_THAT(in_bash({"export", "p.json", "--for", "openv"}), ElementsAre("openvino"));
}

TEST(Completion, KnowsTheKeysOfTheNamedMethodsAndTheirValues) {
  EXPECT_THAT(in_bash({"train", recipe, "post.clip_r"}), ElementsAre("post.clip_ratio="));
  EXPECT_THAT(in_bash({"train", recipe, "ppo."}), IsEmpty());  // the recipe names another learner
  EXPECT_THAT(in_bash({"train", recipe, "learner", "+=", "+ppo", "ppo.clip_r"}), ElementsAre("ppo.clip_ratio="));
  EXPECT_THAT(in_bash({"train", recipe, "post.form", "+="}), UnorderedElementsAre("kl", "clip"));
  EXPECT_THAT(in_bash({"train", recipe, "policy", "+=", "+gd"}), ElementsAre("gdp"));
  EXPECT_THAT(in_bash({"train", recipe, "roofline.fuse", "+=", "+t"}), ElementsAre("true"));
  EXPECT_THAT(in_bash({"place", "anneal", "p.json", "chai"}), ElementsAre("chains="));
  EXPECT_THAT(in_bash({"sweep", "configs/sweeps/gdp-hyperband.toml", "space.gdp.hid"}),
              ElementsAre("space.gdp.hidden="));
  EXPECT_THAT(in_bash({"sweep", "configs/sweeps/gdp-hyperband.toml", "hyperband.red"}),
              ElementsAre("hyperband.reduction="));
}

TEST(Completion, KnowsModelsOptionsAndMachines) {
  EXPECT_THAT(in_bash({"bound", "zoo", "+:", "+nm"}), ElementsAre("nmt"));
  EXPECT_THAT(in_bash({"bound", "zoo", "+:", "+nmt?lay"}), ElementsAre("nmt?layers="));
  EXPECT_THAT(in_bash({"bound", "zoo", "+:", "+nmt?layers", "+=", "+2", "+@", "+two-h"}), ElementsAre("two-hosts"));
  EXPECT_THAT(in_bash({"train", recipe, "zoo", "+:", "+nm"}), ElementsAre("nmt"));
}

TEST(Completion, GivesFilesWhereFilesAreWanted) {
  EXPECT_THAT(in_bash({"train", "configs/recipes/quick"}), ElementsAre(recipe));
  EXPECT_THAT(in_bash({"train", recipe, "problem", "+=", "+configs/problems/tw"}),
              ElementsAre("configs/problems/two-branches.json"));
  EXPECT_THAT(in_bash({"cost", "m.onnx", "laptop", "-o", "READ"}), ElementsAre("README.md"));
  EXPECT_THAT(in_bash({"simulate", "--schedule", "READ"}), IsEmpty());
}

TEST(Completion, KnowsWhatEveryCommandBeginsWith) {
  const std::string refusal = emplace_run({}).err;  // "... there are: train, sweep, ... (see ...)"
  const std::size_t begin = refusal.find("there are: ") + 11;
  const std::vector<std::string> names = split(refusal.substr(begin, refusal.find(" (", begin) - begin), ',');
  ASSERT_GE(names.size(), 17U);
  for (const std::string& name : names) {
    const std::string command = name.substr(name.find_first_not_of(' '));
    if (command == "manual") continue;  // has no argument
    EXPECT_NE(emplace_run({"completion", "bash", "--", command, ""}).out, "") << command;
  }
}

TEST(Completion, IsWrittenForThreeShells) {
  for (const char* shell : {"bash", "zsh", "fish"})
    EXPECT_THAT(emplace_run({"completion", shell}).out, HasSubstr(std::string("completion ") + shell + " --"));
  const Finished other = emplace_run({"completion", "tcsh"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("bash, zsh, fish"));
}

TEST(Manual, SaysWhatTheRecordsSay) {
  const Finished done = emplace_run({"manual"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr(".SS train\n"), HasSubstr("\\fB\\-\\-time\\-limit\\fR \\fITIME\\fR"),
                              HasSubstr("\\fBpost.clip_ratio\\fR=\\fInumber\\fR"), HasSubstr("\\fB75\\fR\n")));
}

TEST(Manual, TroffHasNothingToWarnOf) {
  const bool has_man = run({"sh", "-c", "command -v man && man --version"}).exit_code == 0;
  if (!has_man && run({"sh", "-c", "command -v groff"}).exit_code != 0) GTEST_SKIP() << "neither man nor groff is here";
  const TemporaryFolder folder;
  const std::string page = folder / "emplace.1";
  write_file(page, emplace_run({"manual"}).out);
  const auto check = [&] {
    return has_man ? run({"env", "LC_ALL=C.UTF-8", "MANWIDTH=80", "man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8",
                          "-Z", page})
                   : run({"groff", "-man", "-ww", "-z", "-Tutf8", page});
  };
  const Finished done = check();
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.err, "");
  write_file(page, read_file(page) + ".nosuchmacro\n");
  EXPECT_THAT(check().err, HasSubstr("nosuchmacro"));  // the check finds errors
}

}  // namespace
}  // namespace emplace::test::completion_test
