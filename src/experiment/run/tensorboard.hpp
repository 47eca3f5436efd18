// What TensorBoard reads while a training goes on: the rows of metrics.csv as scalars.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emplace::experiment {

// An event file: records of TFRecord (length, its masked CRC-32C, data, that of the data), each an Event message of
// TensorFlow's event.proto.
class TensorboardFile {
 public:
  // A file of its own in the folder, which is made. Rows that earlier files of the folder have behind `update` are
  // void: a run that is resumed makes them again. InputError where the folder cannot be made, EnvironmentError where
  // the file cannot be written.
  TensorboardFile(const std::string& folder, std::uint64_t update);
  ~TensorboardFile();
  TensorboardFile(const TensorboardFile&) = delete;
  TensorboardFile& operator=(const TensorboardFile&) = delete;

  // One scalar a column, at step `update`; what is not a number is left out. On disk within a second or so.
  void add(std::uint64_t update, const std::vector<std::pair<std::string, double>>& row);

 private:
  void write(const std::string& event);
  void flush();

  std::string path_;
  std::FILE* file_ = nullptr;
  std::chrono::steady_clock::time_point flushed_;
};

}  // namespace emplace::experiment
