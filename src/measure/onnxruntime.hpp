// ONNX Runtime (https://onnxruntime.ai) by its C interface, from a shared library that is loaded: no headers of it are
// needed, for the table of functions that it hands out only ever grows at its end.
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
  // EnvironmentError if the library cannot be loaded or is none.
  explicit OnnxRuntime(const std::string& library);
  ~OnnxRuntime();
  OnnxRuntime(const OnnxRuntime&) = delete;
  OnnxRuntime& operator=(const OnnxRuntime&) = delete;

  [[nodiscard]] const std::string& version() const { return version_; }

  // The function at a place of the table; onnxruntime.cpp has the places.
  template <class Function>
  [[nodiscard]] Function* at(std::size_t place) const {
    return reinterpret_cast<Function*>(table_[place]);
  }
  // EnvironmentError, or InputError, with what it says, beginning with `what`, if it is not null.
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
  std::vector<std::int64_t> dims;  // -1: open
};

// A tensor of this shape with plain values: numbers between 0 and 1, whole numbers 0.
Value make_input(const OnnxRuntime& runtime, const Port& port);

struct SessionOptions {
  // Of ONNX Runtime's own passes over the graph: those that keep to ONNX's operators (constants folded, identities and
  // batch normalisations away), or none.
  bool basic_passes = false;
  std::string write_optimized = {};  // the graph after the passes as a model, or ""
  std::string profile = {};          // where a trace of every kernel begins, or ""
};

// One model on the thread that calls it.
class Session {
 public:
  Session(const OnnxRuntime& runtime, const std::string& model, const SessionOptions& options = {});
  ~Session();
  Session(Session&& other) noexcept
      : runtime_(other.runtime_), model_(std::move(other.model_)), session_(std::exchange(other.session_, nullptr)) {}
  Session& operator=(Session&&) = delete;

  [[nodiscard]] std::vector<Port> inputs() const;
  [[nodiscard]] std::vector<std::string> outputs() const;
  // `outputs` are made, in the order of their names.
  void run(const std::vector<const char*>& input_names, const std::vector<const OrtValue*>& inputs,
           const std::vector<const char*>& output_names, std::vector<Value>& outputs) const;
  // Ends the trace and says what its file is called.
  [[nodiscard]] std::string end_profile();

 private:
  [[nodiscard]] std::string name_at(std::size_t function, std::size_t index) const;

  const OnnxRuntime& runtime_;
  std::string model_;
  OrtSession* session_ = nullptr;
};

}  // namespace emplace::measure
