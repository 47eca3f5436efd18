#include <fmt/core.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

#include "base/files.hpp"
#include "base/text.hpp"
#include "doctor/machine.hpp"
#include "experiment/run/checkpoint.hpp"

namespace emplace::doctor {

namespace {

using Level = Check::Level;

// A checkpoint with every element type, with numbers that are easily lost (-0, denormals), and with more bytes than one
// block of a file.
experiment::Checkpoint sample(std::uint64_t update) {
  experiment::Checkpoint checkpoint;
  std::vector<float> parameters(1 << 16);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    parameters[i] = std::ldexp(static_cast<float>(i % 4093) - 2046.5F, -static_cast<int>(i % 140));
  put(checkpoint.arrays, "policy/parameters", parameters, {256, 256});
  put(checkpoint.arrays, "history/mean_reward", std::vector<double>{-1.0 / 3, -0.0, 5e-324});
  put(checkpoint.arrays, "learner/window", std::vector<std::int64_t>{-1, 0, 1});
  put_scalar(checkpoint.arrays, "trainer/update", update);
  put(checkpoint.arrays, "best/placement", std::vector<std::uint8_t>{0, 1, 255});
  checkpoint.attributes = {{"update", fmt::format("{}", update)}};
  return checkpoint;
}

bool same(const experiment::Checkpoint& a, const experiment::Checkpoint& b) {
  return a.arrays == b.arrays && a.attributes == b.attributes;
}

// Changes one byte in the middle of a file.
void damage(const std::string& path) {
  std::string content = read_file(path);
  content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 0x10);
  std::ofstream(path, std::ios::binary) << content;
}

Check judge_checkpoints(const std::string& folder) {
  const auto failure = [](const std::string& what) { return Check{"checkpoints", Level::failure, what}; };
  const std::string newest = folder + "/checkpoint.h5";
  const experiment::Checkpoint first = sample(1), second = sample(2);
  experiment::save_checkpoint(folder, first);
  experiment::save_checkpoint(folder, second);
  if (!same(experiment::load_checkpoint(newest), second))
    return failure("a checkpoint read back differs from what was written: do not trust this file system, or this HDF5");
  damage(newest);
  try {
    static_cast<void>(experiment::load_checkpoint(newest));
    return failure("a damaged checkpoint was read without an error: this build is broken, report it");
  } catch (const InputError&) {
    // as expected: the damage was detected
  }
  if (!same(experiment::load_checkpoint(folder + "/checkpoint.previous.h5"), first))
    return failure("the previous checkpoint differs from what was written: do not trust this file system");
  return {"checkpoints", Level::ok,
          "written, flushed and read back; a damaged byte is detected, and the previous checkpoint is kept"};
}

}  // namespace

Check check_checkpoints(const std::string& folder) {
  try {
    return judge_checkpoints(folder);
  } catch (const std::exception& error) {
    return {"checkpoints", Level::failure, fmt::format("{}: choose another TMPDIR", error.what())};
  }
}

Check check_folder(const std::string& name, const std::string& path) {
  if (::access(path.c_str(), W_OK | X_OK) != 0)
    return {name, Level::warning,
            fmt::format("{} cannot be written to ({}): give run=FOLDER elsewhere", path, std::strerror(errno))};
  struct statvfs disk {};
  if (::statvfs(path.c_str(), &disk) != 0) return {name, Level::ok, path};
  const double free = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  const std::string says = fmt::format("{}: {} free", path, human_bytes(static_cast<Bytes>(std::min(free, 0x1p62))));
  constexpr double little = 1e9;
  if (free < little) return {name, Level::warning, says + ": a run keeps two checkpoints and one more while it writes"};
  return {name, Level::ok, says};
}

}  // namespace emplace::doctor
