#include "measure/pipeline.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/cores.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::measure {

namespace {

void pin_to(std::int32_t core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

// Waits in a loop, because a sleep would take longer than most segments. It yields the core from time to time.
template <class Ready>
void wait_until(Ready&& ready) {
  for (unsigned spins = 0; !ready(); ++spins)
    if (spins % 4096 == 4095) std::this_thread::yield();
}

std::vector<std::string> texts(const nlohmann::json& list) { return list.get<std::vector<std::string>>(); }

}  // namespace

std::vector<SegmentFile> read_segments(const std::string& file) {
  if (!std::filesystem::is_regular_file(file))
    throw InputError(file, "{}", std::filesystem::exists(file) ? "is not a file" : why_unreadable(file, ENOENT));
  if (!file.ends_with(".json")) return {{.file = file, .device = "cpu:0", .inputs = {}, .outputs = {}}};
  const auto json = nlohmann::json::parse(read_file(file, std::uint64_t{64} << 20), nullptr, false);
  std::vector<SegmentFile> segments;
  try {
    if (json.at("emplace") != "segments/1") throw InputError(file, "is not of the kind segments/1");
    for (const auto& each : json.at("segments"))
      segments.push_back({.file = parent_folder(file) + "/" + each.at("file").get<std::string>(),
                          .device = each.at("device").get<std::string>(),
                          .inputs = texts(each.at("inputs")),
                          .outputs = texts(each.at("outputs"))});
  } catch (const nlohmann::json::exception&) {
    throw InputError(file, "is not a list of segments; `emplace export --for onnx` writes one");
  }
  if (segments.empty()) throw InputError(file, "has no segments");
  return segments;
}

Pipeline::Pipeline(const OnnxRuntime& runtime, const std::vector<SegmentFile>& segments,
                   const std::map<std::string, std::vector<std::int64_t>>& shapes, const std::string& profile)
    : runtime_(runtime), cores_(allowed_cores()) {
  // Sorted by name: cpu:0 is on the first core even if the first segment is of another device.
  std::set<std::string> names;
  for (const SegmentFile& segment : segments) names.insert(segment.device);
  devices_.assign(names.begin(), names.end());
  if (devices_.size() > cores_.size())
    throw InputError("devices",
                     "the segments have {}, each needs a core for its pinned thread, and there are only {} cores",
                     devices_.size(), cores_.size());
  steps_.resize(devices_.size());
  errors_.resize(devices_.size());

  std::set<std::string> made;
  for (const SegmentFile& segment : segments) {
    Step step{.session = Session(runtime, segment.file, {.profile = profile}),
              .input_names = {},
              .output_names = {},
              .inputs = {},
              .outputs = {},
              .made = {}};
    const auto declared = [&](const std::vector<std::string>& list, const std::string& name, const char* what) {
      if (!list.empty() && std::ranges::find(list, name) == list.end())
        throw InputError(segment.file, "its {} {} is not in the list of segments", what, quote(name));
    };
    for (const Port& port : step.session.inputs()) {
      declared(segment.inputs, port.name, "input");
      if (!made.contains(port.name)) add_input(port, shapes);
      step.inputs.push_back(slot(port.name));
    }
    for (const std::string& name : step.session.outputs()) {
      declared(segment.outputs, name, "output");
      if (!made.insert(name).second) throw InputError(segment.file, "its output {} is made twice", quote(name));
      step.outputs.push_back(slot(name));
      if (slots_[step.outputs.back()]->is_input)
        throw InputError(segment.file, "its output {} is an input of a segment before it in the list", quote(name));
    }
    const auto name_of = [&](std::size_t at) { return slots_[at]->name.c_str(); };
    std::ranges::transform(step.inputs, std::back_inserter(step.input_names), name_of);
    std::ranges::transform(step.outputs, std::back_inserter(step.output_names), name_of);
    const auto device = std::ranges::find(devices_, segment.device) - devices_.begin();
    steps_[static_cast<std::size_t>(device)].push_back(std::move(step));
  }
  for (const auto& [name, sizes] : shapes)
    if (!slot_of_.contains(name) || !slots_[slot_of_[name]]->is_input)
      throw InputError("--shape", "the model has no input {}", quote(name));
}

std::size_t Pipeline::slot(const std::string& name) {
  const auto [known, is_new] = slot_of_.emplace(name, slots_.size());
  if (is_new) {
    slots_.push_back(std::make_unique<Slot>());
    slots_.back()->name = name;
  }
  return known->second;
}

void Pipeline::add_input(const Port& port, const std::map<std::string, std::vector<std::int64_t>>& shapes) {
  Slot& input = *slots_[slot(port.name)];
  if (input.is_input) return;
  input.is_input = true;
  Port fixed = port;
  if (const auto given = shapes.find(port.name); given != shapes.end()) {
    if (given->second.size() != port.dims.size())
      throw InputError("--shape", "the input {} has {} dimensions, found {}", quote(port.name), port.dims.size(),
                       given->second.size());
    fixed.dims = given->second;
  }
  for (std::int64_t& size : fixed.dims)
    if (size < 0) {
      size = 1;
      if (made_up_.empty() || made_up_.back() != port.name) made_up_.push_back(port.name);
    }
  constexpr double most_elements = 1e9;
  double elements = 1;
  for (const std::int64_t size : fixed.dims) elements *= static_cast<double>(size);
  if (elements > most_elements)
    throw InputError("--shape", "the input {} would have {:.3g} elements, wanted at most {:.0e}", quote(port.name),
                     elements, most_elements);
  inputs_.push_back(make_input(runtime_, fixed));
  input.value = inputs_.back().get();
}

void Pipeline::do_step(Step& step, std::uint64_t run) {
  std::vector<const OrtValue*> values;
  for (const std::size_t input : step.inputs) {
    const Slot& slot = *slots_[input];
    if (!slot.is_input)
      wait_until(
          [&] { return slot.run.load(std::memory_order_acquire) == run || failed_.load(std::memory_order_relaxed); });
    values.push_back(slot.value);
  }
  if (failed_) return;
  step.session.run(step.input_names, values, step.output_names, step.made);
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    Slot& slot = *slots_[step.outputs[i]];
    slot.value = step.made[i].get();
    slot.run.store(run, std::memory_order_release);
  }
}

void Pipeline::work(std::size_t device, std::int32_t core, std::size_t runs) {
  pin_to(core);
  for (std::uint64_t run = 1; run <= runs; ++run) {
    wait_until([&] { return started_.load(std::memory_order_acquire) >= run; });
    try {
      for (Step& step : steps_[device])
        if (!failed_) do_step(step, run);
    } catch (const std::exception& error) {
      errors_[device] = error.what();
      failed_ = true;
    }
    finished_.fetch_add(1, std::memory_order_release);
    finished_.notify_one();
  }
}

std::vector<double> Pipeline::run(std::size_t warm_up, std::size_t runs) {
  using Clock = std::chrono::steady_clock;
  started_ = 0;
  for (const auto& slot : slots_) slot->run = 0;
  std::vector<std::thread> threads;
  for (std::size_t device = 0; device < devices_.size(); ++device)
    threads.emplace_back([this, device, runs, warm_up] { work(device, cores_[device], warm_up + runs); });
  std::vector<double> seconds;
  for (std::uint64_t run = 1; run <= warm_up + runs; ++run) {
    finished_ = 0;
    const auto begin = Clock::now();
    started_.store(run, std::memory_order_release);
    for (std::size_t done = 0; done < devices_.size(); done = finished_.load(std::memory_order_acquire))
      finished_.wait(done, std::memory_order_acquire);
    const std::chrono::duration<double> time = Clock::now() - begin;
    if (run > warm_up) seconds.push_back(time.count());
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors_)
    if (!error.empty()) throw EnvironmentError("{}", error);
  return seconds;
}

}  // namespace emplace::measure
