// Writes a probed host as a machine file, each figure with its source.
#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "base/text.hpp"
#include "emplace/machine/machine.hpp"
#include "machine/probe.hpp"

namespace emplace::machine {

namespace {

// GPUs for which a preset has figures. `whole`: the name must be equal, since "RTX 3060 Ti" is another product.
struct KnownGpu {
  const char* name;
  bool whole;
  const char* preset;
};
constexpr KnownGpu known_gpus[] = {{"GeForce RTX 4090", true, "rtx4090-desktop"},
                                   {"GeForce RTX 3060", true, "rtx3060-desktop"},
                                   {"GeForce RTX 4070 Laptop GPU", true, "rtx4070-laptop"},
                                   {"GeForce RTX 4060 Laptop GPU", true, "laptop"},
                                   {"1002:744c", true, "rx7900xtx-desktop"},
                                   {"H100", false, "h100-x1"},
                                   {"A100", false, "a100-nvlink-x1"},
                                   {"V100", false, "v100-nvlink-x1"},
                                   {"P100", false, "p100x1"},
                                   {"Tesla K80", false, "k80x1"},
                                   {"Tesla K40", false, "k40x1"}};

const KnownGpu* known_gpu(std::string name) {
  if (name.starts_with("NVIDIA ")) name.erase(0, 7);
  for (const KnownGpu& known : known_gpus)
    if (known.whole ? name == known.name : name.find(known.name) != std::string::npos) return &known;
  return nullptr;
}

MachineDevice gpu_of_preset(const char* preset) {
  const Machine machine = load_machine(preset);
  return *std::ranges::find(machine.devices, "gpu", &MachineDevice::kind);
}

std::string figure_table(const char* table, const std::map<std::string, double>& values) {
  if (values.empty()) return "";
  std::string text = fmt::format("\n[device.{}]\n", table);
  for (const auto& [name, value] : values) text += fmt::format("{} = {:.4g}\n", name, value);
  return text;
}

// The text of a file, and the guesses in it.
class ProbedText {
 public:
  explicit ProbedText(const ProbedHost& host) : host_(host) {}

  ProbedMachine write(const std::string& name) {
    toml_ =
        "# Described by `emplace machine probe`. A figure that could not be found out is marked GUESS; replace it by\n"
        "# the vendor's figure, or measure it with `emplace calibrate`.\n";
    for (const std::string& sentence : host_.left_out) comment(sentence);
    if (host_.gpus.size() > 1)
      comment(
          "links between GPUs, such as NVLink, were not looked for: copies between GPUs go through the host's memory");
    toml_ += fmt::format("name = \"{}\"\n", name);
    write_cpu();
    for (std::size_t i = 0; i < host_.gpus.size(); ++i) write_gpu(host_.gpus[i], gpu_name(i));
    if (!host_.gpus.empty()) write_links();
    return {std::move(toml_), std::move(guesses_)};
  }

 private:
  void comment(const std::string& text) { toml_ += "# " + printable(text) + "\n"; }
  std::string guess(const std::string& text) {
    guesses_.push_back(text);
    return "GUESS: " + printable(text);
  }
  // One key with its source as a comment.
  void line(const std::string& key, const std::string& value, const std::string& source) {
    toml_ += fmt::format("{} = {}  # {}\n", key, value, printable(source));
  }
  void memory_line(const std::optional<Bytes>& bytes, const std::string& source, Bytes otherwise,
                   const std::string& what) {
    if (bytes)
      line("memory_bytes", fmt::format("{}", std::max<Bytes>(1, *bytes)), source);
    else
      line("memory_bytes", fmt::format("{}", otherwise), guess(what));
  }
  [[nodiscard]] std::string gpu_name(std::size_t i) const {
    return host_.gpus.size() == 1 ? "gpu" : fmt::format("gpu:{}", i);
  }

  void write_cpu() {
    toml_ += "\n";
    comment(host_.cpu.empty() ? std::string("a CPU that does not tell its model") : host_.cpu);
    if (!host_.caches.empty()) comment("caches of the first core: " + join(host_.caches, ", "));
    toml_ += "[[device]]\nname = \"cpu\"\nkind = \"cpu\"\n";
    memory_line(host_.memory_bytes,
                host_.memory_limited_by_group ? "the limit of this control group (container)" : "/proc/meminfo",
                Bytes{16} << 30, "the memory of the host is not known; 16 GiB are usual");
    if (host_.copy_bytes_per_s > 0)
      line("memory_bytes_per_s", fmt::format("{:.3g}", host_.copy_bytes_per_s), "measured: copies by all cores");
    else
      line("memory_bytes_per_s", "3.6e10",
           guess("the memory bandwidth was not measured; 70 % of two channels DDR4-3200"));
    line("launch_overhead_s", "2e-6", "our estimate for a current runtime");
    const std::size_t cores = host_.cores > 0 ? host_.cores : 4;
    const double hertz = host_.hertz > 0 ? host_.hertz : 2.5e9;
    const int per_cycle = host_.f32_per_cycle > 0 ? host_.f32_per_cycle : 16;
    std::vector<std::string> from = {
        host_.cores > 0 ? fmt::format("{} cores", cores) : guess("the number of cores is not known; 4"),
        host_.hertz > 0 ? fmt::format("{:.3g} GHz ({})", 1e-9 * hertz, host_.hertz_from)
                        : guess("the clock is not known; 2.5 GHz"),
        host_.f32_per_cycle > 0 ? host_.f32_per_cycle_from
                                : guess("the vector units are not known; 16 FLOPs a cycle and core")};
    const double peak = static_cast<double>(cores) * hertz * per_cycle;
    toml_ += "\n";
    comment(join(from, " x ") + "; half for f64; integers one unit, no FMA");
    toml_ +=
        fmt::format("[device.peak_flops]\nf32 = {:.4g}\nf64 = {:.4g}\ndefault = {:.4g}\n", peak, peak / 2, peak / 4);
    toml_ +=
        "\n# our estimates for CPUs of few cores; `emplace calibrate` fits them to measured op times\n"
        "[device.efficiency]\ndefault = 0.1\nmatmul = 0.7\nconvolution = 0.5\ndepthwise = 0.15\nrecurrent = 0.4\n";
  }

  void write_gpu(const ProbedGpu& gpu, const std::string& name) {
    toml_ += "\n";
    comment(fmt::format("{} at {}", gpu.name, gpu.address));
    toml_ += fmt::format("[[device]]\nname = \"{}\"\nkind = \"gpu\"\n", name);
    const KnownGpu* known = known_gpu(gpu.name);
    const MachineDevice figures_of = gpu_of_preset(known != nullptr ? known->preset : "laptop");
    memory_line(gpu.memory_bytes, "as the driver tells",
                known != nullptr && figures_of.memory_limited ? figures_of.memory_bytes : Bytes{8} << 30,
                fmt::format("the memory of {} is not known", name));
    const std::string source =
        known != nullptr
            ? fmt::format("as in the preset {}, where the source stands", known->preset)
            : guess(fmt::format("the speed of {} ({}) is not known; that of a laptop's GPU of 2023 (preset "
                                "laptop)",
                                name, gpu.name));
    line("memory_bytes_per_s", fmt::format("{:.4g}", figures_of.memory_bytes_per_s), source);
    line("launch_overhead_s", fmt::format("{:.4g}", figures_of.launch_overhead_s),
         "our estimate: a kernel launch from a current runtime");
    toml_ += figure_table("peak_flops", figures_of.peak_flops) + figure_table("efficiency", figures_of.efficiency) +
             figure_table("memory_efficiency", figures_of.memory_efficiency) +
             figure_table("half_flops", figures_of.half_flops) + figure_table("half_bytes", figures_of.half_bytes);
  }

  void write_links() {
    // Pinned copies reach about four fifths of the data rate (12.5 of 15.75 GB/s, 25 of 31.5).
    constexpr double reached = 0.8;
    constexpr double guessed_bytes_per_s = 1.3e10;
    std::string links;
    toml_ += "\n# Pinned copies reach about 80 % of a link's data rate; 10 us for each copy in a current runtime.\n";
    for (std::size_t i = 0; i < host_.gpus.size(); ++i) {
      const ProbedLink& link = host_.gpus[i].link;
      const bool is_known = link.bytes_per_s() > 0;
      comment(is_known ? fmt::format("{}: {:.3g} GT/s x {} lanes, {:.4g} GB/s", gpu_name(i),
                                     1e-9 * link.transfers_per_s, link.lanes, 1e-9 * link.bytes_per_s())
                       : guess(fmt::format("the PCIe link of {} is not known; PCIe 4.0 x8", gpu_name(i))));
      links += fmt::format("  {{ devices = [\"{}\"], latency_s = 1e-5, bytes_per_s = {:.3g} }},\n", gpu_name(i),
                           is_known ? reached * link.bytes_per_s() : guessed_bytes_per_s);
    }
    toml_ +=
        fmt::format("[[topology]]\nkind = \"pcie-links\"\nname = \"pcie\"\nhost = \"cpu\"\nlinks = [\n{}]\n", links);
  }

  const ProbedHost& host_;
  std::string toml_;
  std::vector<std::string> guesses_;
};

}  // namespace

ProbedMachine probed_machine(const ProbedHost& host, const std::string& name) { return ProbedText(host).write(name); }

}  // namespace emplace::machine
