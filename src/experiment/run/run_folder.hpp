// A run folder: config.toml, checkpoints, metrics.csv, best.placement.json, log.txt, status (docs/formats.md).
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "emplace/base/config.hpp"
#include "emplace/base/error.hpp"

namespace emplace::experiment {

// Another process still works in a folder, or with a file, after this process has waited for it.
class InUse : public InputError {
 public:
  using InputError::InputError;
};

// A lock that is held until this object is destroyed or the process dies. The kernel releases it, so no stale lock can
// remain.
class FileLock {
 public:
  // Locks the file that has this path now, which is made if it does not exist: a file that was renamed or removed while
  // this process waited for its lock does not count. InUse, with the message `says`, if another process still holds the
  // lock after `patience_s` seconds.
  FileLock(const std::string& path, double patience_s, const std::string& place, const std::string& says);
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;

 private:
  int fd_ = -1;
};

// Whether another process holds the lock of this file now; false if there is no such file.
bool is_locked(const std::string& path);

// The folder's path as messages and commands print it.
std::string without_trailing_slash(std::string path);

// The ranks of a killed job end by themselves within seconds, and hold its folders' locks until then.
inline constexpr double lock_patience_s = 60;

// The file of the best placement for a problem: "best.placement.json" if the run has one problem, else
// "best.2.placement.json" for problem 2.
std::string best_placement_file(std::size_t problem, std::size_t problems);

// What create() does with a run that is already in the folder.
enum class IfThere : std::uint8_t {
  move_aside,  // renames its folder to PATH.1, PATH.2, ...: nothing is lost
  refuse       // InputError with what the folder holds
};

class RunFolder {
 public:
  // Makes the folder of a new run. InUse if a live process works in the folder. Of several processes that call it at
  // the same time one gets the folder.
  static RunFolder create(const std::string& path, const ConfigTable& config, IfThere there = IfThere::move_aside);
  // Opens the folder of an existing run; InputError if it is none, InUse if a live process still works in it after
  // `patience_s` seconds.
  static RunFolder open(const std::string& path, double patience_s = 0);

  RunFolder(RunFolder&&) noexcept = default;
  RunFolder& operator=(RunFolder&&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] ConfigTable config() const;
  // Writes config.toml, unless it has the same content already.
  void set_config(const ConfigTable& config) const;
  // The new path of an earlier run's folder; "" if there was none.
  [[nodiscard]] const std::string& moved_aside() const { return moved_aside_; }

  // "running", "finished", "interrupted" or "failed".
  void set_status(const std::string& status) const;
  // The same without exceptions; for callers that handle an error already, which an error of a full disk must not
  // replace.
  void try_set_status(const std::string& status) const noexcept;
  [[nodiscard]] std::string status() const;
  // The status of a folder that another process may work in, "unknown" if there is none; and whether another process
  // works in it.
  static std::string status_of(const std::string& path);
  static bool in_use(const std::string& path);
  // The present status: "interrupted" if the file says "running" and no process works in the folder. `was_in_use` must
  // be the result of in_use() from before this call, so that a process that ends in between has already written its
  // status.
  static std::string status_now(const std::string& path, bool was_in_use);
  static ConfigTable config_of(const std::string& path);
  // InputError, with what the folder holds, if there is a run or a sweep in it; InUse if a live process works in it.
  static void refuse_if_there(const std::string& path);

 private:
  RunFolder(std::string path, FileLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  std::string moved_aside_;
  FileLock lock_;  // of PATH/lock
};

}  // namespace emplace::experiment
