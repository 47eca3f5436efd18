// Reads /proc, /sys and the output of nvidia-smi. Every file may be missing or hold anything.
#include "machine/probe.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/text.hpp"

namespace emplace::machine {

namespace {

namespace fs = std::filesystem;

// At most `most` bytes of a file; "" if it cannot be read.
std::string text_of(const fs::path& file, std::size_t most = std::size_t{1} << 22) {
  std::ifstream in(file, std::ios::binary);
  std::string text(most, '\0');
  in.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(in.bad() ? 0 : static_cast<std::size_t>(std::max<std::streamsize>(0, in.gcount())));
  return text;
}

std::string stripped(std::string_view text) {
  while (!text.empty() && std::string_view(" \t\r\n").find(text.front()) != std::string_view::npos)
    text.remove_prefix(1);
  while (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  return std::string(text);
}

std::string line_of_file(const fs::path& file) { return stripped(split(text_of(file, 4096), '\n').front()); }

// The number at the start of a text such as "24054724 kB" or "16.0 GT/s PCIe"; 0 if there is none.
double leading_number(const std::string& text) {
  double value = 0;
  const std::string digits = text.substr(0, text.find_first_not_of("0123456789."));
  return parse_number(digits, value) && std::isfinite(value) ? value : 0;
}

// The "key : value" lines of one processor in /proc/cpuinfo.
using CpuLines = std::map<std::string, std::string>;
std::vector<CpuLines> processors_in(const std::string& cpuinfo) {
  std::vector<CpuLines> processors;
  for (const std::string& line : split(cpuinfo, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = stripped(line.substr(0, colon));
    if (key == "processor") processors.emplace_back();
    if (!processors.empty()) processors.back()[key] = stripped(line.substr(colon + 1));
  }
  return processors;
}

std::string value_in(const CpuLines& lines, const char* key) {
  const auto at = lines.find(key);
  return at == lines.end() ? "" : at->second;
}

// The base clock, since a step loads all cores for long.
void read_clock(ProbedHost& host, const CpuLines& first, const fs::path& sys) {
  const fs::path cpufreq = sys / "devices/system/cpu/cpu0/cpufreq";
  const auto take = [&](double hertz, const char* from) {
    if (host.hertz > 0 || !(hertz >= 1e8 && hertz <= 1e10)) return;
    host.hertz = hertz;
    host.hertz_from = from;
  };
  take(1e3 * leading_number(line_of_file(cpufreq / "base_frequency")), "base clock");
  const std::string model = value_in(first, "model name");
  if (const std::size_t at = model.rfind('@'); at != std::string::npos)
    take(1e9 * leading_number(stripped(model.substr(at + 1))), "clock in the model's name");
  take(0.8e3 * leading_number(line_of_file(cpufreq / "cpuinfo_max_freq")), "80 % of the highest clock");
  take(1e6 * leading_number(value_in(first, "cpu MHz")), "clock while it was probed");
}

void read_vector_units(ProbedHost& host, const CpuLines& first) {
  const std::string flags = " " + value_in(first, "flags") + " " + value_in(first, "Features") + " ";
  struct Units {
    const char* flag;
    int f32_per_cycle;
    const char* from;
  };
  // Two units of fused multiply-add are usual; SSE2 and AVX without FMA have one unit to multiply and one to add.
  static constexpr Units known[] = {{" avx512f ", 64, "2 FMA units x 16 lanes x 2 FLOPs (AVX-512)"},
                                    {" fma ", 32, "2 FMA units x 8 lanes x 2 FLOPs (AVX2)"},
                                    {" avx ", 16, "2 units x 8 lanes (AVX)"},
                                    {" sse2 ", 8, "2 units x 4 lanes (SSE2)"},
                                    {" asimd ", 16, "2 FMA units x 4 lanes x 2 FLOPs (NEON)"}};
  for (const Units& units : known)
    if (flags.find(units.flag) != std::string::npos) {
      host.f32_per_cycle = units.f32_per_cycle;
      host.f32_per_cycle_from = units.from;
      return;
    }
}

void read_cpu(ProbedHost& host, const fs::path& root) {
  const std::vector<CpuLines> processors = processors_in(text_of(root / "proc/cpuinfo"));
  if (processors.empty()) return;
  const CpuLines& first = processors.front();
  host.cpu = value_in(first, "model name");
  host.threads = processors.size();
  std::set<std::pair<std::string, std::string>> cores;
  for (const CpuLines& each : processors)
    if (each.contains("core id")) cores.emplace(value_in(each, "physical id"), value_in(each, "core id"));
  host.cores = cores.empty() ? host.threads : cores.size();
  read_clock(host, first, root / "sys");
  read_vector_units(host, first);
  for (int index = 0; index < 8; ++index) {
    const fs::path cache = root / "sys/devices/system/cpu/cpu0/cache" / fmt::format("index{}", index);
    const std::string size = line_of_file(cache / "size");
    if (!size.empty() && line_of_file(cache / "type") != "Instruction")
      host.caches.push_back(fmt::format("L{} {}", printable(line_of_file(cache / "level")), printable(size)));
  }
}

void read_memory_size(ProbedHost& host, const fs::path& root) {
  for (const std::string& line : split(text_of(root / "proc/meminfo"), '\n'))
    if (line.starts_with("MemTotal:")) {
      const double bytes = 1024 * leading_number(stripped(line.substr(9)));
      if (bytes >= 1 && bytes <= static_cast<double>(total_limit)) host.memory_bytes = std::llround(bytes);
    }
}

// What a container or a batch system leaves to this process.
void apply_limits(ProbedHost& host, const ProbeSources& sources) {
  if (sources.allowed_threads >= 1 && sources.allowed_threads < static_cast<double>(host.threads)) {
    const auto allowed = static_cast<std::size_t>(sources.allowed_threads);
    host.left_out.push_back(fmt::format(
        "this process may use {} of the host's {} hardware threads; the others are left out", allowed, host.threads));
    host.cores = std::min(host.cores, allowed);
  }
  if (sources.memory_limit >= 1 && host.memory_bytes &&
      sources.memory_limit < static_cast<double>(*host.memory_bytes)) {
    host.memory_bytes = std::llround(sources.memory_limit);
    host.memory_limited_by_group = true;
  }
}

double transfers_per_s_of(double generation) {
  constexpr std::array<double, 6> rates = {2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9};
  return generation >= 1 && generation <= 6 ? rates[static_cast<std::size_t>(generation) - 1] : 0;
}

int lanes_of(double lanes) { return lanes >= 1 && lanes <= 32 ? static_cast<int>(lanes) : 0; }

// The link of a PCI device. Idle devices lower the rate of their link, so the highest rate counts, that of the slot
// where it is lower; the width does not change.
ProbedLink link_of(const fs::path& device) {
  ProbedLink link;
  const auto rate = [](const fs::path& folder) {
    return 1e9 * std::min(leading_number(line_of_file(folder / "max_link_speed")), 64.0);
  };
  link.transfers_per_s = rate(device);
  std::error_code none;
  const fs::path real = fs::canonical(device, none);
  if (const double slot = none ? 0 : rate(real.parent_path()); slot > 0)
    link.transfers_per_s = std::min(link.transfers_per_s, slot);
  link.lanes = lanes_of(leading_number(line_of_file(device / "current_link_width")));
  if (link.lanes == 0) link.lanes = lanes_of(leading_number(line_of_file(device / "max_link_width")));
  return link;
}

// "00000000:01:00.0" of nvidia-smi and "0000:01:00.0" of /sys mean the same device.
std::string plain_address(std::string address) {
  std::ranges::transform(address, address.begin(), [](unsigned char c) { return std::tolower(c); });
  while (address.size() > 12 && address.front() == '0') address.erase(address.begin());
  return address;
}

// The graphics devices that can compute, in the order of their addresses.
void read_pci(ProbedHost& host, const fs::path& root) {
  constexpr std::size_t most_devices = 4096;
  std::error_code none;
  std::set<std::string> addresses;
  for (fs::directory_iterator at(root / "sys/bus/pci/devices", none), end; !none && at != end; at.increment(none))
    if (addresses.size() < most_devices) addresses.insert(at->path().filename().string());
  for (const std::string& address : addresses) {
    const fs::path device = root / "sys/bus/pci/devices" / address;
    if (!line_of_file(device / "class").starts_with("0x03")) continue;
    std::string vendor = line_of_file(device / "vendor"), model = line_of_file(device / "device");
    if (vendor != "0x10de" && vendor != "0x1002" && vendor != "0x8086") continue;
    ProbedGpu gpu;
    gpu.name = printable(vendor.substr(2) + ":" + (model.size() > 2 ? model.substr(2) : model));
    gpu.address = plain_address(address);
    if (const double vram = leading_number(line_of_file(device / "mem_info_vram_total")); vram >= 1 && vram < 1e15)
      gpu.memory_bytes = std::llround(vram);
    constexpr Bytes least_vram = Bytes{3} << 30;
    const bool integrated = (vendor == "0x8086" && gpu.address.starts_with("0000:00:")) ||
                            gpu.memory_bytes.value_or(least_vram) < least_vram;
    if (integrated) {
      host.left_out.push_back(fmt::format("the integrated graphics {} at {} shares the CPU's memory and is left out",
                                          gpu.name, printable(gpu.address)));
      continue;
    }
    gpu.link = link_of(device);
    host.gpus.push_back(std::move(gpu));
  }
}

void read_nvidia_smi(ProbedHost& host, const std::string& output) {
  constexpr std::size_t most_gpus = 64;
  for (const std::string& line : split(output, '\n')) {
    std::vector<std::string> cells = split(line, ',');
    if (cells.size() != 5) continue;
    for (std::string& cell : cells) cell = stripped(cell);
    const std::string address = plain_address(cells[1]);
    auto gpu = std::ranges::find(host.gpus, address, &ProbedGpu::address);
    if (gpu == host.gpus.end()) {
      if (host.gpus.size() == most_gpus) return;
      host.gpus.push_back({.name = {}, .address = address, .memory_bytes = {}, .link = {}});
      gpu = host.gpus.end() - 1;
    }
    gpu->name = printable(cells[0]);
    if (const double mebibytes = leading_number(cells[2]); mebibytes >= 1 && mebibytes < 1e9)
      gpu->memory_bytes = std::llround(mebibytes * 0x1p20);
    if (gpu->link.transfers_per_s == 0) gpu->link.transfers_per_s = transfers_per_s_of(leading_number(cells[3]));
    if (gpu->link.lanes == 0) gpu->link.lanes = lanes_of(leading_number(cells[4]));
  }
}

}  // namespace

double ProbedLink::bytes_per_s() const {
  // Up to 5 GT/s a byte takes 10 bits on the line; beyond, 128 bits take 130.
  const double share = transfers_per_s <= 5e9 ? 8.0 / 10 : 128.0 / 130;
  return transfers_per_s * lanes * share / 8;
}

ProbedHost probe_host(const ProbeSources& sources) {
  ProbedHost host;
  const fs::path root = sources.root.empty() ? fs::path("/") : fs::path(sources.root);
  read_cpu(host, root);
  read_memory_size(host, root);
  apply_limits(host, sources);
  read_pci(host, root);
  read_nvidia_smi(host, sources.nvidia_smi);
  host.copy_bytes_per_s = sources.copy_bytes_per_s;
  return host;
}

}  // namespace emplace::machine
