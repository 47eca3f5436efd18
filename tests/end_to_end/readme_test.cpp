// The commands of README.md run as they are written.
#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>

#include "emplace/base/files.hpp"
#include "program.hpp"
#include "support/temporary_folder.hpp"

namespace emplace::test {
namespace {

// Lines of the README's shell blocks, comments removed.
std::vector<std::string> readme_commands() {
  std::istringstream text(read_file("README.md"));
  std::vector<std::string> commands;
  std::string line;
  bool in_block = false;
  while (std::getline(text, line)) {
    if (line.starts_with("```")) {
      in_block = line == "```sh";
      continue;
    }
    if (const auto comment = line.find("  #"); comment != std::string::npos)
      line.resize(line.find_last_not_of(' ', comment) + 1);
    if (in_block && !line.empty()) commands.push_back(line);
  }
  return commands;
}

TEST(Readme, ItsCommandsRunAsWritten) {
  const std::string model = "../shared/models/onnx-light/light_squeezenet.onnx";
  if (!file_exists(model)) GTEST_SKIP() << "no model file here";
  const TemporaryFolder folder;
  // The reader's folder: the program where the README has it, the recipes, and a model.
  for (const char* name : {"configs", "scripts", "launch"})
    std::filesystem::create_directory_symlink(std::string(EMPLACE_SOURCE) + "/" + name, folder / name);
  make_folder(folder / "build/release");
  std::filesystem::create_symlink(EMPLACE_PROGRAM, folder / "build/release/emplace");
  std::filesystem::copy_file(model, folder / "model.onnx");

  std::size_t count = 0;
  for (const std::string& line : readme_commands()) {
    if (line.starts_with("scripts/")) {  // they build and test the whole tree: here only that they exist
      EXPECT_TRUE(file_exists(line.substr(0, line.find(' ')))) << line;
      continue;
    }
    if (line.starts_with("launch/ssh ") || line.starts_with("launch/slurm ")) {  // a cluster is not here
      EXPECT_TRUE(file_exists(line.substr(0, line.find(' ')))) << line;
      continue;
    }
    const auto words = under_mpirun(1, {});  // sets the environment of Open MPI
    const auto done = run({"sh", "-c", "cd '" + folder.path() + "' && " + line});
    EXPECT_EQ(done.exit_code, 0) << line << "\n" << done.err;
    ++count;
  }
  EXPECT_GE(count, 7U);
}

}  // namespace
}  // namespace emplace::test
