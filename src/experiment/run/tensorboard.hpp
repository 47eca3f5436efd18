// Writes the rows of metrics.csv as scalars for TensorBoard, which reads them while the training runs.
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
  // Makes the folder, if it does not exist, and a new file in it. TensorBoard then ignores the rows after `update` in
  // earlier files of the folder: a resumed run writes them again. InputError if the folder cannot be made,
  // EnvironmentError if the file cannot be written.
  TensorboardFile(const std::string& folder, std::uint64_t update);
  ~TensorboardFile();
  TensorboardFile(const TensorboardFile&) = delete;
  TensorboardFile& operator=(const TensorboardFile&) = delete;

  // Writes one scalar per column, at step `update`, and leaves out values that are not finite. They are on disk within
  // about a second.
  void add(std::uint64_t update, const std::vector<std::pair<std::string, double>>& row);

 private:
  void write(const std::string& event);
  void flush();

  std::string path_;
  std::FILE* file_ = nullptr;
  std::chrono::steady_clock::time_point flushed_;
};

}  // namespace emplace::experiment
