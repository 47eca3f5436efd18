// ONNX Runtime (https://onnxruntime.ai) through its C interface, from a shared library loaded at run time. Its headers
// are not needed: it returns a table of functions to which new versions only append.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct OrtEnv;
struct OrtSession;
struct OrtValue;
struct OrtStatus;
struct OrtAllocator;

namespace emplace::measure {

class OnnxRuntime {
 public:
  // EnvironmentError if the library cannot be loaded or is not ONNX Runtime.
  explicit OnnxRuntime(const std::string& library);
  ~OnnxRuntime();
  OnnxRuntime(const OnnxRuntime&) = delete;
  OnnxRuntime& operator=(const OnnxRuntime&) = delete;

  [[nodiscard]] const std::string& version() const { return version_; }

  // The function at this index of the table; onnxruntime.cpp has the indices.
  template <class Function>
  [[nodiscard]] Function* at(std::size_t place) const {
    return reinterpret_cast<Function*>(table_[place]);
  }
  // If `status` is not null, throws its message, beginning with `what`, as InputError if `is_input`, else as
  // EnvironmentError.
  void check(OrtStatus* status, const std::string& what, bool is_input = false) const;

  [[nodiscard]] OrtEnv* environment() const { return environment_; }
  [[nodiscard]] OrtAllocator* allocator() const { return allocator_; }

 private:
  void* const* table_ = nullptr;
  std::string version_;
  OrtEnv* environment_ = nullptr;
  OrtAllocator* allocator_ = nullptr;
};

struct ReleaseValue {
  const OnnxRuntime* runtime;
  void operator()(OrtValue* value) const;
};
using Value = std::unique_ptr<OrtValue, ReleaseValue>;

struct Port {
  std::string name;
  int element_type = 0;            // TensorProto.DataType
  std::vector<std::int64_t> dims;  // -1: not fixed by the model
};

// A tensor of this shape: random floating-point numbers between 0 and 1, integers 0. InputError for other element
// types.
Value make_input(const OnnxRuntime& runtime, const Port& port);

struct SessionOptions {
  // Whether to run those of ONNX Runtime's graph passes that keep ONNX's operators (they fold constants and remove
  // identities and batch normalisations); otherwise no passes run.
  bool basic_passes = false;
  std::string write_optimized = {};  // file to write the graph after the passes to as a model, or ""
  std::string profile = {};          // beginning of the name of the file for a trace of every kernel, or ""
};

// A loaded model, which runs on the calling thread.
class Session {
 public:
  Session(const OnnxRuntime& runtime, const std::string& model, const SessionOptions& options = {});
  ~Session();
  Session(Session&& other) noexcept
      : runtime_(other.runtime_), model_(std::move(other.model_)), session_(std::exchange(other.session_, nullptr)) {}
  Session& operator=(Session&&) = delete;

  [[nodiscard]] std::vector<Port> inputs() const;
  [[nodiscard]] std::vector<std::string> outputs() const;
  // Runs the model once and sets `outputs`, in the order of their names. If they are those of an earlier run, the
  // results are written into their memory: fresh memory is mapped page by page, which takes longer than many ops.
  void run(const std::vector<const char*>& input_names, const std::vector<const OrtValue*>& inputs,
           const std::vector<const char*>& output_names, std::vector<Value>& outputs) const;
  // Ends the trace and returns the name of its file.
  [[nodiscard]] std::string end_profile();

 private:
  [[nodiscard]] std::string name_at(std::size_t function, std::size_t index) const;

  const OnnxRuntime& runtime_;
  std::string model_;
  OrtSession* session_ = nullptr;
};

}  // namespace emplace::measure
