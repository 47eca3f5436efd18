// The environment that a user's program gets, and the search for the program's file.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "evaluate/command/program_run.hpp"

namespace emplace::evaluate {

namespace {

// Environment variables of the launchers of Open MPI 4 and 5, PMIx, PMI, MPICH and SimGrid, and those that Slurm sets
// for each task.
constexpr std::array launcher_prefixes = {
    "OMPI_",   "OPAL_", "ORTE_", "PRTE_",         "PMIX_",          "PMI_",       "HYDRA_",        "HYDI_",
    "MPIEXEC", "MPI_L", "SMPI_", "SLURM_PROCID=", "SLURM_LOCALID=", "SLURM_STEP", "SLURM_NTASKS=", "SLURM_NPROCS="};

// Why this file cannot be executed, or "" if it can.
std::string why_not_executable(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return why_unreadable(path, errno);
  if (S_ISDIR(info.st_mode)) return "is a folder, wanted a program";
  if (!S_ISREG(info.st_mode)) return "is not a regular file, wanted a program";
  if (::access(path.c_str(), X_OK) != 0) return fmt::format("cannot be executed: {}", std::strerror(errno));
  return {};
}

}  // namespace

std::vector<std::string> environment_without_mpi() {
  std::vector<std::string> kept;
  for (char** each = environ; *each != nullptr; ++each)
    if (std::ranges::none_of(launcher_prefixes,
                             [&](const char* prefix) { return std::string_view(*each).starts_with(prefix); }))
      kept.emplace_back(*each);
  return kept;
}

std::string find_program(const std::string& program, const std::string& folder, const std::string& place) {
  if (program.find('/') != std::string::npos) {
    const std::string path = (std::filesystem::path(folder) / program).string();
    if (const std::string why = why_not_executable(path); !why.empty())
      throw InputError(place, "{}: {}", quote(path), why);
    return path;
  }
  const char* const search = std::getenv("PATH");
  for (const std::string& each : split(search == nullptr ? "/usr/bin:/bin" : search, ':')) {
    const std::string path = (std::filesystem::path(folder) / each / program).string();
    if (!program.empty() && why_not_executable(path).empty()) return path;
  }
  const std::string here = (std::filesystem::path(folder) / program).string();
  throw InputError(place, "no program {} in the folders of PATH{}", quote(program),
                   !program.empty() && why_not_executable(here).empty()
                       ? fmt::format(" (did you mean {}?)", quote("./" + program))
                       : "");
}

}  // namespace emplace::evaluate
