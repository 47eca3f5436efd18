#include "doctor/machine.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/cpu_levels.hpp"
#include "base/machine_limits.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "nn/kernels/kernel_set.hpp"

namespace emplace::doctor {

namespace {

using Level = Check::Level;

// The first line of a file of the kernel, which has no size and may be missing; "" if it is.
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The value in a line "key : value" (/proc/cpuinfo) or "key: value" (/proc/meminfo); "" if there is none.
std::string value_of(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (const auto colon = line.find(':'); line.starts_with(key) && colon != std::string::npos)
      return line.substr(std::min(line.size(), line.find_first_not_of(" \t", colon + 1)));
  return "";
}

std::string cpu_name() {
  const std::string name = value_of("/proc/cpuinfo", "model name");
  return name.empty() ? "this CPU" : name;
}

constexpr const char* compiler =
#if defined(__clang__)
    "clang " __clang_version__;
#else
    "g++ " __VERSION__;
#endif

Check check_tool(const std::string& name, std::span<const char* const> programs, const char* purpose, Level missing) {
  const char* const path = std::getenv("PATH");
  for (const char* program : programs)
    for (const std::string& folder : split(path == nullptr ? "" : path, ':'))
      if (const std::string file = folder + "/" + program; ::access(file.c_str(), X_OK) == 0)
        return {name, Level::ok, file};
  return {name, missing,
          fmt::format("{}: {}", missing == Level::ok ? "none found, and none is needed" : "not found", purpose)};
}

}  // namespace

std::string program_text() {
  const std::string march = instruction_set();
  std::error_code ignored;
  const auto bytes = std::filesystem::file_size("/proc/self/exe", ignored);
  return fmt::format("emplace {}, {}{}, {} bytes", version(), compiler, march.empty() ? "" : " -march=" + march,
                     ignored ? 0 : bytes);
}

Check check_program() {
  const std::string march = instruction_set();
  const std::string built = fmt::format("emplace {}, built by {} for {}", version(), compiler,
                                        march.empty() ? "the compiler's own instruction set" : "-march=" + march);
  const bool too_new =
      (march == "x86-64-v3" && !cpu_runs_x86_64_v3()) || (march == "x86-64-v4" && !cpu_runs_x86_64_v4());
  if (too_new)
    return {"program", Level::failure,
            fmt::format("{}, which {} lacks; build the preset `portable`", built, cpu_name())};
  return {"program", Level::ok,
          fmt::format("{}; {} runs the {} kernels", built, cpu_name(), nn::name_of(nn::kernel_set()))};
}

std::string core_list(std::span<const std::int32_t> cores) {
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t end = i + 1;
    while (end < cores.size() && cores[end] == cores[end - 1] + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", cores[i]);
    if (end - i > 1) text += fmt::format("-{}", cores[end - 1]);
    i = end;
  }
  return text;
}

Check check_cores(std::span<const std::int32_t> allowed, const GroupLimits& groups) {
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  const auto have = static_cast<double>(allowed.size());
  // Rank 0 sleeps while the others work, so it needs no core.
  const auto ranks = std::max(2L, std::lround(std::floor(std::min(groups.cores.value_or(have), have))) + 1);
  const std::string fit = fmt::format("{} ranks fit, including rank 0", ranks);
  const std::string cores = fmt::format("{} of {} cores ({})", allowed.size(), online, core_list(allowed));
  if (groups.cores && *groups.cores < have)
    return {"cores", Level::warning,
            fmt::format("{}, but the control group allows the time of only {:.3g} cores: {}; start no more", cores,
                        *groups.cores, fit)};
  return {"cores", Level::ok, fmt::format("{}: {}", cores, fit)};
}

Check check_memory(const GroupLimits& groups) {
  const std::optional<std::uint64_t> limit = least_of(groups.memory_bytes, address_space_limit());
  const auto total = kernel_bytes("/proc/meminfo", "MemTotal"),
             available = kernel_bytes("/proc/meminfo", "MemAvailable");
  const auto text = [](const std::optional<std::uint64_t>& bytes) {
    return bytes ? human_bytes(static_cast<Bytes>(*bytes)) : "an unknown amount";
  };
  std::string says = fmt::format("{} of {} available", text(available), text(total));
  if (limit && (!total || *limit < *total)) says += fmt::format(", limited to {}", text(limit));
  const std::optional<std::uint64_t> least = least_of(available, limit);
  constexpr std::uint64_t little = std::uint64_t{1} << 30;
  if (least && *least < little)
    return {"memory", Level::warning, says + ": start few ranks, because each holds its own copy of the problems"};
  return {"memory", Level::ok, says};
}

Check check_clock() {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t readings = 10'000;
  std::vector<Clock::time_point> times(readings);
  for (Clock::time_point& time : times) time = Clock::now();
  if (!std::is_sorted(times.begin(), times.end()))
    return {"clock", Level::failure, "the steady clock goes back: choose another clock source of the kernel"};
  Clock::duration smallest = Clock::duration::max();
  for (std::size_t i = 1; i < readings; ++i)
    if (times[i] > times[i - 1]) smallest = std::min(smallest, times[i] - times[i - 1]);
  const auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
  const double reading = seconds(times.back() - times.front()) / static_cast<double>(readings - 1);
  const std::string source = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const std::string says = fmt::format(
      "steady, it never went back in {} readings of {} each, steps of {}{}", readings, human_seconds(reading),
      smallest == Clock::duration::max() ? "nothing" : human_seconds(seconds(smallest)),
      source.empty() ? "" : ", source " + source);
  if (smallest > std::chrono::microseconds(10) || reading > 5e-6)
    return {"clock", Level::warning,
            says + ": measured times are coarse here; choose another clock source of the kernel"};
  return {"clock", Level::ok, says};
}

Checks check_tools() {
  constexpr const char* mpirun[] = {"mpirun"};
  constexpr const char* batch[] = {"sbatch", "qsub"};
  constexpr const char* browser[] = {"chromium", "google-chrome", "firefox"};
  return {check_tool("mpirun", mpirun, "install it (Debian: openmpi-bin) to use more than one process", Level::warning),
          check_tool("batch system", batch, "launch/slurm and launch/pbs are for machines with one", Level::ok),
          check_tool("browser", browser, "reports are pages for a browser, on this or another machine", Level::ok)};
}

Check check_onnx_runtime() {
  const char* const name = "ONNX Runtime";
  const char* const given = std::getenv("ONNXRUNTIME_LIBRARY");
  const std::string library = given != nullptr ? given : "libonnxruntime.so.1";
  // Without this, loading the library leaves a log in the temporary folder and a queue of events in the home folder.
  ::setenv("ORT_DISABLE_TELEMETRY", "1", 1);
  void* const loaded = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr && given == nullptr)
    return {name, Level::ok,
            "none found; only emplace-measure-onnx needs it: ONNXRUNTIME_LIBRARY names its shared library"};
  if (loaded == nullptr)
    return {name, Level::warning,
            fmt::format("cannot be loaded: {}; set ONNXRUNTIME_LIBRARY to its shared library", ::dlerror())};
  const bool is_runtime = ::dlsym(loaded, "OrtGetApiBase") != nullptr;
  ::dlclose(loaded);
  if (!is_runtime)
    return {
        name, Level::warning,
        fmt::format("{} is not ONNX Runtime: it has no OrtGetApiBase; set ONNXRUNTIME_LIBRARY to its shared library",
                    library)};
  return {name, Level::ok, library};
}

}  // namespace emplace::doctor
