// The record of a sweep: a file of events, one a line, that is only ever added to. What a sweep knows after a kill is
// what stands there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emplace/experiment/run_folder.hpp"
#include "experiment/sweep/strategy.hpp"

namespace emplace::experiment {

struct TrialResult {
  std::optional<double> objective = {};  // seconds; none: failed
  std::string error = {};                // why, if it failed
  double seconds = 0;                    // wall clock of this work alone
  std::uint64_t updates = 0;             // of all the trial's trainings, earlier rungs included
  std::uint64_t evaluations = 0;
};

struct SweepEvent {
  enum class Kind : std::uint8_t { begin, end };
  Kind kind = Kind::begin;
  Work work;
  std::map<std::string, std::string> values = {};  // begin: what the trial tries, by key, as Parameter::text
  TrialResult result = {};                         // end
};

// What stands in a record's whole lines.
struct RecordedEvents {
  std::vector<SweepEvent> events;
  std::uint64_t check = 0;   // of the last line
  std::uint64_t length = 0;  // bytes of whole lines
};
// A last line that a kill tore off, or that is just being written, is left out; InputError with the line's number for
// damage elsewhere.
RecordedEvents read_record(const std::string& path);
// "record.jsonl:7", where the event at `position` of a record stands.
std::string place_in_record(const std::string& path, std::size_t position);

// One JSON object a line, on disk when add() returns. Each line ends with a checksum (XXH3-64, seeded with that of the
// line before), so that a line that is changed, lost or moved is noticed.
class SweepRecord {
 public:
  // Reads the file if it is there and begins one if not. A last line that a kill tore off is dropped. InUse if another
  // process adds to it.
  explicit SweepRecord(std::string path);
  ~SweepRecord();
  SweepRecord(const SweepRecord&) = delete;
  SweepRecord& operator=(const SweepRecord&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  // Those that were there when it was opened.
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
