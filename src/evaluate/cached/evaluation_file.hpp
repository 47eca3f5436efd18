// Evaluations in a file that only grows: each record has a key and its outcome, and is checked when it is read. After a
// kill, with a full disk or a failing one, records may be missing, but no wrong outcome is returned.
//
// A record: "EVAL", length of the payload u32, payload, XXH3 of length and payload u64. The payload of the first record
// is the identity (cached_evaluator.hpp). The others have: problem u32, ops u32, ids in the order u32 (ops or 0),
// device u8 x ops, order u32 x ids, makespan i64, overflow i64, subject u32, why u8, device u8, message to the end.
// Numbers in the machine's byte order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"

namespace emplace::evaluate {

struct KeptEvaluation {
  Outcome outcome;
  std::string message;
};

class EvaluationFile {
 public:
  // Opens or makes the file. Drops a record at the end that a kill cut short; skips damaged ones in the middle with a
  // warning. Renames a file of another `identity` and logs that.
  EvaluationFile(std::string path, std::string_view identity);
  ~EvaluationFile();
  EvaluationFile(const EvaluationFile&) = delete;
  EvaluationFile& operator=(const EvaluationFile&) = delete;

  // The evaluation that was added for exactly this placement, by this or an earlier process.
  [[nodiscard]] std::optional<KeptEvaluation> find(std::uint32_t problem, const Placement& placement) const;
  // find() returns it after the next write(). Does nothing if there are most_entries already.
  void add(std::uint32_t problem, const Placement& placement, const KeptEvaluation& evaluation);
  // Writes what was added, so that it survives this process; at most once a second, and at the end, also flushes it to
  // the disk, so that it survives a crash of the system. EnvironmentError if that fails.
  void write();

  [[nodiscard]] std::size_t size() const { return offsets_.size(); }

  // Memory holds a hash and an offset for each, 64 bytes: 64 MiB at most. Placements stay in the file.
  static constexpr std::size_t most_entries = std::size_t{1} << 20;

 private:
  [[nodiscard]] std::optional<std::string> payload_at(std::uint64_t offset) const;
  [[nodiscard]] std::uint64_t next_record(std::uint64_t from) const;
  bool begins_with(std::string_view identity);
  void set_aside();
  void open(int flags);
  void scan(std::uint64_t offset);
  void remember(std::string_view key, std::uint64_t offset);
  void sync();

  std::string path_;
  int fd_ = -1;
  std::uint64_t end_ = 0;                                          // of the file's records
  std::string pending_;                                            // records to be written there
  std::unordered_multimap<std::uint64_t, std::uint64_t> offsets_;  // of records by the hash of their key
  double synced_at_ = 0;
  bool unsynced_ = false;
};

}  // namespace emplace::evaluate
