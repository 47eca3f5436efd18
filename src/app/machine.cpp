// emplace machine probe [-o FILE]
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include "app/command.hpp"
#include "app/result_json.hpp"
#include "base/text.hpp"
#include "doctor/machine.hpp"
#include "emplace/machine/machine.hpp"
#include "machine/probe.hpp"

namespace emplace::app {

namespace machine_command {

struct Arguments {
  std::string action, output, name = "this-host";
  bool json = false;
};

// What a program prints, at most 64 KiB; "" if it cannot be run.
std::string output_of(const char* command) {
  const auto close = [](std::FILE* pipe) { pclose(pipe); };
  const std::unique_ptr<std::FILE, decltype(close)> pipe(popen(command, "r"), close);
  std::string text;
  std::array<char, 4096> part{};
  constexpr std::size_t longest = 1 << 16;
  while (pipe && text.size() < longest)
    if (const std::size_t read = std::fread(part.data(), 1, part.size(), pipe.get()); read > 0)
      text.append(part.data(), read);
    else
      break;
  return text;
}

// Bytes per second that copies by `threads` threads read and write. The buffers together are larger than caches, and at
// most an eighth of the free memory; `memory_limit` is that of this process, 0: none.
double copy_bytes_per_s(std::size_t threads, double memory_limit) {
  double memory = static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (memory_limit > 0) memory = std::min(memory, memory_limit);
  const auto all_bytes = static_cast<std::size_t>(std::clamp(memory / 8, 0x1p24, 0x1p29));
  constexpr double least_seconds = 0.2;
  using Clock = std::chrono::steady_clock;
  const std::size_t half = all_bytes / threads / 2;
  std::vector<double> rates(threads, 0);
  std::vector<std::thread> team;
  for (std::size_t t = 0; t < threads; ++t)
    team.emplace_back([&rates, half, t] {
      std::vector<char> from(half, 1), to(half, 2);
      double copied = 0, seconds = 0;
      const auto start = Clock::now();
      do {
        std::memcpy(to.data(), from.data(), half);
        std::swap(from, to);
        copied += 2 * static_cast<double>(half);
        seconds = std::chrono::duration<double>(Clock::now() - start).count();
      } while (seconds < least_seconds);
      rates[t] = copied / seconds;
    });
  for (std::thread& thread : team) thread.join();
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

void print_probed(const Arguments& arguments, const machine::Machine& machine, const machine::ProbedMachine& probed) {
  if (arguments.json) {
    Json devices = Json::array();
    for (const machine::MachineDevice& device : machine.devices) devices.push_back(device.name);
    print_json({{"output", arguments.output}, {"devices", devices}, {"guesses", probed.guesses}});
    return;
  }
  fmt::print("{} device{} written to {}\n", machine.devices.size(), machine.devices.size() == 1 ? "" : "s",
             arguments.output);
  for (const std::string& guess : probed.guesses) fmt::print("guess: {}\n", printable(guess));
  fmt::print("`emplace inspect {}` shows them\n", arguments.output);
}

ExitCode run_machine(const Arguments& arguments) {
  if (arguments.action != "probe")
    throw InputError("machine", "unknown action {}; there is: probe", quote(arguments.action));
  if (arguments.json && arguments.output.empty()) throw InputError("--json", "needs -o, where the machine is written");
  constexpr std::size_t most_threads = 64;
  machine::ProbeSources sources{.root = "/", .nvidia_smi = output_of(machine::nvidia_smi_command)};
  const GroupLimits limits = group_limits();
  const double threads = std::max(1U, std::thread::hardware_concurrency());
  sources.allowed_threads = std::max(1.0, std::min(threads, limits.cores.value_or(threads)));
  sources.memory_limit = static_cast<double>(limits.memory_bytes.value_or(0));
  sources.copy_bytes_per_s =
      copy_bytes_per_s(std::min(static_cast<std::size_t>(sources.allowed_threads), most_threads), sources.memory_limit);
  const machine::ProbedMachine probed = machine::probed_machine(machine::probe_host(sources), arguments.name);
  // Also refuses a name that is none.
  const machine::Machine machine =
      machine::parse_machine(probed.toml, arguments.output.empty() ? "--name" : arguments.output);
  write_output(arguments.output, probed.toml);
  if (!arguments.output.empty()) print_probed(arguments, machine, probed);
  return ExitCode::done;
}

}  // namespace machine_command

Action add_machine(CommandLine& cli) {
  using namespace machine_command;
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("action", arguments->action, "probe: describe this host as a machine file")
      .type_name("probe")
      .required();
  cli.add_option("-o,--output", arguments->output, "Write the machine here (TOML); standard output without it")
      .type_name("FILE")
      .not_empty();
  cli.add_option("--name", arguments->name, "Name of the machine (default this-host)").type_name("NAME").not_empty();
  cli.add_flag("--json", arguments->json, "Print the devices and the guesses as one JSON object (needs -o)");
  cli.footer(
      "Reads cores, clock, vector units, caches and memory from /proc and /sys, PCIe links and GPUs from /sys, and "
      "what "
      "nvidia-smi\n"
      "says of NVIDIA's GPUs if it is installed; copies memory for 0.2 s to measure its bandwidth. GPUs that a preset "
      "describes get\n"
      "its figures. What cannot be found out is a guess, marked GUESS in the file with what to replace it by. "
      "Integrated "
      "graphics\n"
      "and NVLink are left out; the file is meant to be edited (configs/machines/README.md).\n\n"
      "Example:\n"
      "  emplace machine probe -o mine.toml\n"
      "  emplace inspect mine.toml\n"
      "  emplace cost model.onnx mine.toml -o problem.json");
  return [arguments](dist::World*) { return run_machine(*arguments); };
}

}  // namespace emplace::app
