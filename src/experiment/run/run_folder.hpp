// A run folder: config.toml, checkpoints, metrics.csv, best.placement.json, log.txt, status (docs/formats.md).
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "emplace/base/config.hpp"
#include "emplace/base/error.hpp"

namespace emplace::experiment {

// Another process works in a folder, or with a file, for longer than this one would wait.
class InUse : public InputError {
 public:
  using InputError::InputError;
};

// Held until it is destroyed or the process dies: the kernel releases it, so it never goes stale.
class FileLock {
 public:
  // Of the file, which is made if it is not there. InUse, with `says`, if another holds it for so long.
  FileLock(const std::string& path, double patience_s, const std::string& place, const std::string& says);
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;

 private:
  int fd_ = -1;
};

// Whether another process holds the lock of this file now; false where there is no such file.
bool is_locked(const std::string& path);

// A folder as errors and commands name it.
std::string without_trailing_slash(std::string path);

// The ranks of a killed job end by themselves within seconds, and hold its folders' locks until then.
inline constexpr double lock_patience_s = 60;

// The best placement of a run's problem: "best.placement.json" of one, "best.2.placement.json" of several.
std::string best_placement_file(std::size_t problem, std::size_t problems);

class RunFolder {
 public:
  // A new run. A finished or abandoned run that is already there is moved aside to PATH.1, PATH.2, ...: nothing is
  // lost. InputError if a live process works in the folder.
  static RunFolder create(const std::string& path, const ConfigTable& config);
  // An existing run; InputError if it is none, InUse if a live process works in it for so long.
  static RunFolder open(const std::string& path, double patience_s = 0);

  RunFolder(RunFolder&&) noexcept = default;
  RunFolder& operator=(RunFolder&&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] ConfigTable config() const;
  // Writes config.toml, unless it says the same already.
  void set_config(const ConfigTable& config) const;
  // Where an earlier run was moved to; "" if there was none.
  [[nodiscard]] const std::string& moved_aside() const { return moved_aside_; }

  // "running", "finished", "interrupted" or "failed".
  void set_status(const std::string& status) const;
  // Where an error is on its way already, which must not be lost to that of a full disk.
  void try_set_status(const std::string& status) const noexcept;
  [[nodiscard]] std::string status() const;
  // The same of a folder that somebody else works in, "unknown" where there is none; and whether somebody does.
  static std::string status_of(const std::string& path);
  static bool in_use(const std::string& path);
  // The status as it is now: what says "running" and is worked in by nobody was interrupted. `was_in_use` is in_use,
  // asked before: who ends meanwhile has written a status by then.
  static std::string status_now(const std::string& path, bool was_in_use);
  static ConfigTable config_of(const std::string& path);

 private:
  RunFolder(std::string path, FileLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  std::string moved_aside_;
  FileLock lock_;  // of PATH/lock
};

// metrics.csv: one row an update. Columns are fixed by the first row; clock columns start with "wall_".
class MetricsFile {
 public:
  // Keeps the first `rows` rows that are there (those up to the checkpoint that a resumed run starts from).
  MetricsFile(std::string path, std::size_t rows);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  void add(const std::vector<std::pair<std::string, double>>& row);

 private:
  std::string path_;
  std::string header_;
  std::FILE* file_ = nullptr;
};

}  // namespace emplace::experiment
