// The record of a sweep: a file to which events are appended, one in each line. After a kill, the state of the sweep is
// restored from it alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiment/run/run_folder.hpp"
#include "experiment/sweep/strategy.hpp"

namespace emplace::experiment {

struct TrialResult {
  std::optional<double> objective = {};  // seconds; none: failed
  std::string error = {};                // the reason, if it failed
  double seconds = 0;                    // wall clock of this work only
  std::uint64_t updates = 0;             // of all trainings of the trial, including earlier rungs
  std::uint64_t evaluations = 0;
};

struct SweepEvent {
  enum class Kind : std::uint8_t { begin, end };
  Kind kind = Kind::begin;
  Work work;
  std::map<std::string, std::string> values = {};  // for `begin`: the trial's values by key (Parameter::text)
  TrialResult result = {};                         // for `end`
};

// The content of the complete lines of a record.
struct RecordedEvents {
  std::vector<SweepEvent> events;
  std::uint64_t check = 0;   // checksum of the last line
  std::uint64_t length = 0;  // bytes of complete lines
};
// An incomplete last line, from a kill or because it is just being written, is ignored. InputError with the number of
// the line for damage elsewhere.
RecordedEvents read_record(const std::string& path);
// "record.jsonl:7": file and line of the event at `position` of a record.
std::string place_in_record(const std::string& path, std::size_t position);

// Each line has one JSON object, which is on disk when add() returns. It ends with a checksum (XXH3-64, seeded with
// that of the line before), which detects a line that was changed, lost or moved.
class SweepRecord {
 public:
  // Reads the file if it exists, else creates it. An incomplete last line is removed. Throws InUse if another process
  // has it open for appending.
  explicit SweepRecord(std::string path);
  ~SweepRecord();
  SweepRecord(const SweepRecord&) = delete;
  SweepRecord& operator=(const SweepRecord&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  // The events that were in the file when it was opened.
  [[nodiscard]] const std::vector<SweepEvent>& events() const { return read_.events; }

  void add(const SweepEvent& event);

 private:
  void append(const std::string& body);

  std::string path_;
  FileLock lock_;
  RecordedEvents read_;
  int fd_ = -1;
};

}  // namespace emplace::experiment
