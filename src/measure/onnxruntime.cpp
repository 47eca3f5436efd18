#include "measure/onnxruntime.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

struct OrtSessionOptions;
struct OrtRunOptions;
struct OrtTypeInfo;
struct OrtTensorTypeAndShapeInfo;
struct OrtMemoryInfo;
struct OrtArenaCfg;

namespace emplace::measure {

namespace {

// Indices of functions in OrtApi (onnxruntime_c_api.h); the last one of version 5 is 149.
namespace place {
constexpr std::size_t get_error_message = 2, create_env = 3, disable_telemetry = 6, create_session = 7, run = 9,
                      create_session_options = 10, set_optimized_model_file_path = 11, enable_profiling = 14,
                      set_log_severity = 22, set_graph_optimization_level = 23, set_intra_op_threads = 24,
                      set_inter_op_threads = 25, get_input_count = 30, get_output_count = 31, get_input_type_info = 33,
                      get_input_name = 36, get_output_name = 37, create_tensor = 48, get_tensor_data = 51,
                      cast_to_tensor_info = 55, get_element_type = 60, get_dimensions_count = 61, get_dimensions = 62,
                      free = 76, create_cpu_memory_info = 69, get_default_allocator = 78, release_memory_info = 94,
                      add_config_entry = 130, create_and_register_allocator = 144, release_env = 92,
                      release_status = 93, release_session = 95, release_value = 96, release_type_info = 98,
                      release_session_options = 100, end_profiling = 110;
}

struct OrtApiBase {
  void* const* (*get_api)(std::uint32_t version);
  const char* (*version)();
};

// Bytes of an element, by TensorProto.DataType; 0 for types without plain values, such as strings.
constexpr std::size_t element_bytes[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8, 0, 0, 2};
constexpr int type_float = 1, type_double = 11;

}  // namespace

OnnxRuntime::OnnxRuntime(const std::string& library) {
  // Versions with telemetry start it when they are loaded: they write files to TMPDIR and /tmp, and a queue of events
  // to the home folder. The function disable_telemetry below is called too late to prevent this.
  ::setenv("ORT_DISABLE_TELEMETRY", "1", 1);
  void* const loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr)
    throw EnvironmentError("ONNX Runtime cannot be loaded: {}; name its shared library with --library", dlerror());
  auto* const base = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(loaded, "OrtGetApiBase"));
  if (base == nullptr) throw EnvironmentError("{} is not ONNX Runtime: it has no OrtGetApiBase", library);
  version_ = base()->version();
  table_ = base()->get_api(5);
  if (table_ == nullptr) throw EnvironmentError("{} ({}) does not have the interface of version 5", library, version_);
  constexpr int nothing = 4;  // log level: no messages, since errors are in the status
  check(at<OrtStatus*(int, const char*, OrtEnv**)>(place::create_env)(nothing, "emplace", &environment_),
        "ONNX Runtime");
  check(at<OrtStatus*(const OrtEnv*)>(place::disable_telemetry)(environment_), "ONNX Runtime");
  check(at<OrtStatus*(OrtAllocator**)>(place::get_default_allocator)(&allocator_), "ONNX Runtime");
  // One arena for all sessions, so that a segment reuses memory that an earlier one has just freed, as in a single
  // session.
  constexpr int arena = 1, by_default = 0;
  OrtMemoryInfo* memory = nullptr;
  check(at<OrtStatus*(int, int, OrtMemoryInfo**)>(place::create_cpu_memory_info)(arena, by_default, &memory),
        "ONNX Runtime");
  OrtStatus* const status = at<OrtStatus*(OrtEnv*, const OrtMemoryInfo*, const OrtArenaCfg*)>(
      place::create_and_register_allocator)(environment_, memory, nullptr);
  at<void(OrtMemoryInfo*)>(place::release_memory_info)(memory);
  check(status, "ONNX Runtime");
}

OnnxRuntime::~OnnxRuntime() { at<void(OrtEnv*)>(place::release_env)(environment_); }

void OnnxRuntime::check(OrtStatus* status, const std::string& what, bool is_input) const {
  if (status == nullptr) return;
  const std::string message = at<const char*(const OrtStatus*)>(place::get_error_message)(status);
  at<void(OrtStatus*)>(place::release_status)(status);
  if (is_input) throw InputError(what, "ONNX Runtime {} refuses it: {}", version_, printable(message));
  throw EnvironmentError("{}: {}", what, printable(message));
}

void ReleaseValue::operator()(OrtValue* value) const { runtime->at<void(OrtValue*)>(place::release_value)(value); }

Value make_input(const OnnxRuntime& runtime, const Port& port) {
  const auto type = static_cast<std::size_t>(port.element_type);
  if (type >= std::size(element_bytes) || element_bytes[type] == 0)
    throw InputError(port.name, "an input of element type {} cannot be made up", port.element_type);
  OrtValue* raw = nullptr;
  runtime.check(
      runtime.at<OrtStatus*(OrtAllocator*, const std::int64_t*, std::size_t, int, OrtValue**)>(place::create_tensor)(
          runtime.allocator(), port.dims.data(), port.dims.size(), port.element_type, &raw),
      port.name);
  Value value(raw, ReleaseValue{&runtime});
  std::size_t count = 1;
  for (const std::int64_t size : port.dims) count *= static_cast<std::size_t>(size);
  void* data = nullptr;
  runtime.check(runtime.at<OrtStatus*(OrtValue*, void**)>(place::get_tensor_data)(raw, &data), port.name);
  std::memset(data, 0, count * element_bytes[type]);
  std::minstd_rand random(1);
  std::uniform_real_distribution<float> uniform(0, 1);
  for (std::size_t i = 0; i < count && port.element_type == type_float; ++i)
    static_cast<float*>(data)[i] = uniform(random);
  for (std::size_t i = 0; i < count && port.element_type == type_double; ++i)
    static_cast<double*>(data)[i] = uniform(random);
  return value;
}

Session::Session(const OnnxRuntime& runtime, const std::string& model, const SessionOptions& options)
    : runtime_(runtime), model_(model) {
  OrtSessionOptions* raw = nullptr;
  runtime.check(runtime.at<OrtStatus*(OrtSessionOptions**)>(place::create_session_options)(&raw), model);
  const auto release = [&runtime](OrtSessionOptions* each) {
    runtime.at<void(OrtSessionOptions*)>(place::release_session_options)(each);
  };
  const std::unique_ptr<OrtSessionOptions, decltype(release)> held(raw, release);
  const auto set = [&](std::size_t function, int value) {
    runtime.check(runtime.at<OrtStatus*(OrtSessionOptions*, int)>(function)(raw, value), model);
  };
  const auto name = [&](std::size_t function, const std::string& value) {
    if (!value.empty())
      runtime.check(runtime.at<OrtStatus*(OrtSessionOptions*, const char*)>(function)(raw, value.c_str()), model);
  };
  set(place::set_log_severity, 4);
  runtime.check(runtime.at<OrtStatus*(OrtSessionOptions*, const char*, const char*)>(place::add_config_entry)(
                    raw, "session.use_env_allocators", "1"),
                model);
  set(place::set_graph_optimization_level, options.basic_passes ? 1 : 0);
  set(place::set_intra_op_threads, 1);
  set(place::set_inter_op_threads, 1);
  name(place::set_optimized_model_file_path, options.write_optimized);
  name(place::enable_profiling, options.profile);
  runtime.check(runtime.at<OrtStatus*(const OrtEnv*, const char*, const OrtSessionOptions*, OrtSession**)>(
                    place::create_session)(runtime.environment(), model.c_str(), raw, &session_),
                model, true);
}

Session::~Session() {
  if (session_ != nullptr) runtime_.at<void(OrtSession*)>(place::release_session)(session_);
}

std::string Session::name_at(std::size_t function, std::size_t index) const {
  char* name = nullptr;
  runtime_.check(runtime_.at<OrtStatus*(const OrtSession*, std::size_t, OrtAllocator*, char**)>(function)(
                     session_, index, runtime_.allocator(), &name),
                 model_);
  std::string copy = name;
  runtime_.check(runtime_.at<OrtStatus*(OrtAllocator*, void*)>(place::free)(runtime_.allocator(), name), model_);
  return copy;
}

std::vector<Port> Session::inputs() const {
  std::size_t count = 0;
  runtime_.check(runtime_.at<OrtStatus*(const OrtSession*, std::size_t*)>(place::get_input_count)(session_, &count),
                 model_);
  std::vector<Port> ports;
  for (std::size_t i = 0; i < count; ++i) {
    Port port{.name = name_at(place::get_input_name, i), .dims = {}};
    OrtTypeInfo* raw = nullptr;
    runtime_.check(runtime_.at<OrtStatus*(const OrtSession*, std::size_t, OrtTypeInfo**)>(place::get_input_type_info)(
                       session_, i, &raw),
                   model_);
    const auto release = [this](OrtTypeInfo* each) { runtime_.at<void(OrtTypeInfo*)>(place::release_type_info)(each); };
    const std::unique_ptr<OrtTypeInfo, decltype(release)> held(raw, release);
    const OrtTensorTypeAndShapeInfo* tensor = nullptr;
    runtime_.check(runtime_.at<OrtStatus*(const OrtTypeInfo*, const OrtTensorTypeAndShapeInfo**)>(
                       place::cast_to_tensor_info)(raw, &tensor),
                   model_);
    if (tensor == nullptr) throw InputError(model_, "its input {} is not a tensor", port.name);
    using Info = const OrtTensorTypeAndShapeInfo*;
    runtime_.check(runtime_.at<OrtStatus*(Info, int*)>(place::get_element_type)(tensor, &port.element_type), model_);
    std::size_t rank = 0;
    runtime_.check(runtime_.at<OrtStatus*(Info, std::size_t*)>(place::get_dimensions_count)(tensor, &rank), model_);
    port.dims.resize(rank);
    runtime_.check(runtime_.at<OrtStatus*(Info, std::int64_t*, std::size_t)>(place::get_dimensions)(
                       tensor, port.dims.data(), rank),
                   model_);
    ports.push_back(std::move(port));
  }
  return ports;
}

std::vector<std::string> Session::outputs() const {
  std::size_t count = 0;
  runtime_.check(runtime_.at<OrtStatus*(const OrtSession*, std::size_t*)>(place::get_output_count)(session_, &count),
                 model_);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(name_at(place::get_output_name, i));
  return names;
}

void Session::run(const std::vector<const char*>& input_names, const std::vector<const OrtValue*>& inputs,
                  const std::vector<const char*>& output_names, std::vector<Value>& outputs) const {
  std::vector<OrtValue*> made(output_names.size(), nullptr);
  for (std::size_t i = 0; i < outputs.size(); ++i) made[i] = outputs[i].get();
  runtime_.check(runtime_.at<OrtStatus*(OrtSession*, const OrtRunOptions*, const char* const*, const OrtValue* const*,
                                        std::size_t, const char* const*, std::size_t, OrtValue**)>(place::run)(
                     session_, nullptr, input_names.data(), inputs.data(), inputs.size(), output_names.data(),
                     output_names.size(), made.data()),
                 model_);
  outputs.resize(made.size());
  for (std::size_t i = 0; i < made.size(); ++i)
    if (outputs[i] == nullptr) outputs[i] = Value(made[i], ReleaseValue{&runtime_});
}

std::string Session::end_profile() {
  char* name = nullptr;
  runtime_.check(runtime_.at<OrtStatus*(OrtSession*, OrtAllocator*, char**)>(place::end_profiling)(
                     session_, runtime_.allocator(), &name),
                 model_);
  std::string copy = name;
  runtime_.check(runtime_.at<OrtStatus*(OrtAllocator*, void*)>(place::free)(runtime_.allocator(), name), model_);
  return copy;
}

}  // namespace emplace::measure
