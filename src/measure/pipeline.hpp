// Runs the segments of an exported placement: a session for each segment, a pinned thread for each device.
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
// The segments of a FILE.segments.json ("emplace export --for onnx"), or one segment for a model file. InputError if
// the file is neither.
std::vector<SegmentFile> read_segments(const std::string& file);

class Pipeline {
 public:
  // `shapes`: sizes of inputs by name. Dimensions that neither the model nor `shapes` fixes are 1, and `made_up` lists
  // their inputs. `profile`: the beginning of the names of the sessions' traces of kernels, or "". InputError for
  // segments or shapes that do not fit.
  Pipeline(const OnnxRuntime& runtime, const std::vector<SegmentFile>& segments,
           const std::map<std::string, std::vector<std::int64_t>>& shapes, const std::string& profile = {});

  // Devices in the order of their cores: the i-th runs on the i-th core that this process may use. InputError if there
  // are more devices than cores.
  [[nodiscard]] const std::vector<std::string>& devices() const { return devices_; }
  [[nodiscard]] const std::vector<std::string>& made_up() const { return made_up_; }

  // Seconds of each run, from the moment at which all devices may begin to the end of the last segment. A segment
  // begins when its inputs are ready; tensors go from device to device without a copy.
  std::vector<double> run(std::size_t warm_up, std::size_t runs);

  // Ends the trace of the first segment and returns the name of its file.
  std::string end_profile() { return steps_.front().front().session.end_profile(); }

 private:
  struct Step {
    Session session;
    std::vector<const char*> input_names, output_names;
    std::vector<std::size_t> inputs, outputs;  // slots
    std::vector<Value> made;
  };
  // A tensor: an input of the model, set once, or the output of a segment, made anew in each run.
  struct Slot {
    std::string name;
    const OrtValue* value = nullptr;
    std::atomic<std::uint64_t> run{0};  // the last run in which it was made
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
  std::atomic<std::uint64_t> started_{0};  // number of the run that may begin
  std::atomic<std::size_t> finished_{0};   // devices that have finished this run
  std::atomic<bool> failed_{false};
  std::vector<std::string> errors_;  // per device
};

}  // namespace emplace::measure
