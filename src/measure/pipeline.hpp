// The segments of an exported placement, each a session, on one pinned thread a device.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "measure/onnxruntime.hpp"

namespace emplace::measure {

struct SegmentFile {
  std::string file, device;
  std::vector<std::string> inputs, outputs;
};
// Of a FILE.segments.json ("emplace export --for onnx"), or one segment for a model file. InputError.
std::vector<SegmentFile> read_segments(const std::string& file);

class Pipeline {
 public:
  // Sizes of open dimensions by input name; others are 1, and `made_up` says so. `profile`: where the traces of the
  // sessions' kernels begin, or "". InputError.
  Pipeline(const OnnxRuntime& runtime, const std::vector<SegmentFile>& segments,
           const std::map<std::string, std::vector<std::int64_t>>& shapes, const std::string& profile = {});

  // Devices in the order of their cores: the i-th runs on the i-th core that this process may use. InputError if there
  // are more devices than cores.
  [[nodiscard]] const std::vector<std::string>& devices() const { return devices_; }
  [[nodiscard]] const std::vector<std::string>& made_up() const { return made_up_; }

  // Seconds of each run, from the moment at which all devices may begin to the end of the last segment. A segment
  // begins when its inputs are there; tensors change devices without a copy.
  std::vector<double> run(std::size_t warm_up, std::size_t runs);

  // Ends the trace of the first segment and says what its file is called.
  std::string end_profile() { return steps_.front().front().session.end_profile(); }

 private:
  struct Step {
    Session session;
    std::vector<const char*> input_names, output_names;
    std::vector<std::size_t> inputs, outputs;  // slots
    std::vector<Value> made;
  };
  // A tensor: the model's input from the start, else what a segment makes in each run anew.
  struct Slot {
    std::string name;
    const OrtValue* value = nullptr;
    std::atomic<std::uint64_t> run{0};  // the last one in which it was made
    bool is_input = false;
  };

  [[nodiscard]] std::size_t slot(const std::string& name);
  void add_input(const Port& port, const std::map<std::string, std::vector<std::int64_t>>& shapes);
  void work(std::size_t device, std::int32_t core, std::size_t runs);
  void do_step(Step& step, std::uint64_t run);

  const OnnxRuntime& runtime_;
  std::vector<std::string> devices_, made_up_;
  std::vector<std::int32_t> cores_;
  std::vector<std::vector<Step>> steps_;  // per device, in the order of the list
  std::vector<std::unique_ptr<Slot>> slots_;
  std::map<std::string, std::size_t> slot_of_;
  std::vector<Value> inputs_;
  std::atomic<std::uint64_t> started_{0};  // the run that may begin
  std::atomic<std::size_t> finished_{0};   // devices that have ended it
  std::atomic<bool> failed_{false};
  std::vector<std::string> errors_;  // per device
};

}  // namespace emplace::measure
