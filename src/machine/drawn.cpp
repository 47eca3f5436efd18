#include "machine/drawn.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/base/random.hpp"

namespace emplace::machine {

namespace {

// Figures of vendors' data sheets, rounded; the draws around them are far wider than their errors.
struct Model {
  double f32, f16;  // FLOP/s
  double memory_bytes_per_s;
  double gigabytes;
};
constexpr Model gpus[] = {
    {4.3e12, 4.3e12, 2.3e11, 12},    // K40, 2013
    {9.3e12, 1.9e13, 5.5e11, 16},    // P100, 2016
    {8.1e12, 6.5e13, 2.6e11, 16},    // T4, 2018
    {1.57e13, 1.25e14, 8e11, 32},    // V100, 2017
    {1.27e13, 2.5e13, 3e11, 12},     // GeForce RTX 3060, 2021
    {1.95e13, 3.12e14, 1.7e12, 80},  // A100, 2020
    {8.26e13, 1.65e14, 8.5e11, 24},  // GeForce RTX 4090, 2022
    {6.7e13, 9.9e14, 2.8e12, 80},    // H100, 2022
};
constexpr Model cpus[] = {
    {1.2e12, 1.2e12, 5.5e10, 128},   // 18 cores, Haswell, 2014
    {1.5e12, 1.5e12, 6.1e10, 256},   // 22 cores, Broadwell, 2016
    {2.3e12, 2.3e12, 5.8e10, 64},    // 16 cores, Zen 4 on a desktop, 2022
    {5.0e12, 5.0e12, 1.5e11, 512},   // 64 cores, Zen 2, 2019
    {9.0e12, 2.2e13, 2.5e11, 1024},  // 56 cores, Sapphire Rapids, 2023
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : stream_({.seed = seed, .purpose = Purpose::draw_machine}) {}

  double between(double least, double most) { return least * std::pow(most / least, stream_.uniform()); }
  double around(double figure) { return figure * between(0.5, 2); }
  bool chance(double share) { return stream_.uniform() < share; }
  std::uint32_t below(std::size_t count) { return stream_.below(static_cast<std::uint32_t>(count)); }
  template <class T, std::size_t N>
  const T& one_of(const T (&list)[N]) {
    return list[below(N)];
  }

 private:
  Stream stream_;
};

// One kind of device of a machine; its devices are equal.
struct Kind {
  const char* name;
  Model model;
  double matmul, convolution, depthwise, recurrent;  // efficiencies
};

Kind draw_kind(const char* name, Model model, double least_efficiency, Draw& draw) {
  const double speed = draw.between(0.5, 2);
  model.f32 *= speed;
  model.f16 *= speed;
  model.memory_bytes_per_s = draw.around(model.memory_bytes_per_s);
  model.gigabytes = std::max(4.0, std::round(draw.around(model.gigabytes)));
  const double matmul = draw.between(least_efficiency, 0.85), convolution = draw.between(least_efficiency, 0.7),
               depthwise = draw.between(0.05, 0.2), recurrent = draw.between(least_efficiency, 0.7);
  return {name, model, matmul, convolution, depthwise, recurrent};
}
Kind draw_cpu(Draw& draw) { return draw_kind("cpu", draw.one_of(cpus), 0.15, draw); }
Kind draw_gpu(Draw& draw) { return draw_kind("gpu", draw.one_of(gpus), 0.35, draw); }

std::string device_text(const std::string& name, const Kind& kind, double overhead_s) {
  const Model& of = kind.model;
  return fmt::format(
      "[[device]]\nname = \"{}\"\nkind = \"{}\"\nmemory_bytes = {}\nmemory_bytes_per_s = {:.4g}\n"
      "launch_overhead_s = {:.4g}\n"
      "peak_flops = {{ f32 = {:.4g}, f16 = {:.4g}, f64 = {:.4g}, default = {:.4g} }}\n"
      "efficiency = {{ default = 0.1, matmul = {:.3f}, convolution = {:.3f}, depthwise = {:.3f}, recurrent = {:.3f} "
      "}}\n\n",
      name, kind.name, static_cast<std::int64_t>(of.gigabytes * 1e9), of.memory_bytes_per_s, overhead_s, of.f32, of.f16,
      of.f32 / 2, of.f32 / 4, kind.matmul, kind.convolution, kind.depthwise, kind.recurrent);
}

// The GPUs of a host among each other and with its CPU.
std::string links_text(std::size_t host, const std::vector<std::string>& devices, Draw& draw) {
  const std::string cpu = fmt::format("cpu:{}", host), list = "\"" + join(devices, "\", \"") + "\"";
  const double latency_s = draw.between(5e-6, 1e-4), bytes_per_s = draw.between(5e9, 5e10);
  if (devices.size() > 1 && draw.chance(0.25)) {  // each GPU on a slot of its own
    std::string links;
    for (const std::string& device : devices)
      links += fmt::format("  {{ devices = [\"{}\"], latency_s = {:.4g}, bytes_per_s = {:.4g} }},\n", device, latency_s,
                           bytes_per_s / (1 << draw.below(3)));
    return fmt::format("[[topology]]\nkind = \"pcie-links\"\nname = \"pcie:{}\"\nhost = \"{}\"\nlinks = [\n{}]\n\n",
                       host, cpu, links);
  }
  const bool fast = devices.size() > 1 && draw.chance(0.4);
  std::string text = fmt::format(
      "[[topology]]\nkind = \"pcie-switch\"\nname = \"pcie:{}\"\nhost = \"{}\"\ndevices = [{}]\nlatency_s = {:.4g}\n"
      "bytes_per_s = {:.4g}\npeers = {}\n",
      host, cpu, list, latency_s, bytes_per_s, !fast);
  if (draw.chance(0.4)) text += fmt::format("uplink_bytes_per_s = {:.4g}\n", bytes_per_s * draw.between(0.5, 2));
  text += "\n";
  if (fast)
    text += fmt::format(
        "[[topology]]\nkind = \"{}\"\nname = \"fast:{}\"\ndevices = [{}]\nlatency_s = {:.4g}\nbytes_per_s = {:.4g}\n\n",
        draw.chance(0.5) ? "nvlink" : "switch", host, list, draw.between(3e-6, 3e-5), draw.between(2e10, 4e11));
  return text;
}

}  // namespace

bool is_drawn(std::string_view name) { return name.starts_with(drawn_prefix); }

std::string drawn_machine_toml(const std::string& name, const std::string& place) {
  constexpr std::size_t most_digits = 9, most_devices = 16;
  const std::string digits = name.substr(drawn_prefix.size());
  std::int64_t seed = -1;
  if (digits.size() > most_digits || (digits.size() > 1 && digits.front() == '0') || !parse_number(digits, seed) ||
      seed < 0)
    throw InputError(place, "the seed of machine {} must be a whole number of 1 to {} digits, got {}",
                     quote("drawn-SEED"), most_digits, quote(digits));
  Draw draw(static_cast<std::uint64_t>(seed));
  const std::size_t devices = 2 + draw.below(most_devices - 1);
  const std::size_t hosts =
      devices < 4 || draw.chance(0.6) ? 1 : 2 + draw.below(std::min<std::size_t>(3, devices / 2 - 1));
  // A machine has few kinds of GPUs, so that some of its devices are equal and others are not.
  std::vector<Kind> kinds;
  for (std::size_t kind = 1 + draw.below(3); kind > 0; --kind) kinds.push_back(draw_gpu(draw));
  const double overhead_s = draw.between(3e-6, 3e-5);

  std::string text = fmt::format("name = \"{}\"\n\n", name), links, hosts_text;
  std::size_t gpu = 0;
  for (std::size_t host = 0; host < hosts; ++host) {
    const std::size_t gpus_so_far = (devices - hosts) * (host + 1) / hosts;
    text += device_text(fmt::format("cpu:{}", host), draw_cpu(draw), overhead_s / 2);
    const bool is_mixed = draw.chance(0.5);
    const Kind& of_host = kinds[draw.below(kinds.size())];
    std::vector<std::string> names;
    for (; gpu < gpus_so_far; ++gpu) {
      names.push_back(fmt::format("gpu:{}", gpu));
      text += device_text(names.back(), is_mixed ? kinds[draw.below(kinds.size())] : of_host, overhead_s);
    }
    if (!names.empty()) links += links_text(host, names, draw);
    hosts_text += fmt::format("  {{ devices = [\"cpu:{}\"{}{}] }},\n", host, names.empty() ? "" : ", ",
                              names.empty() ? "" : "\"" + join(names, "\", \"") + "\"");
  }
  text += links;
  if (hosts > 1)
    text += fmt::format(
        "[[topology]]\nkind = \"ethernet\"\nname = \"ethernet\"\nhosts = [\n{}]\nlatency_s = {:.4g}\nbytes_per_s = "
        "{:.4g}\n",
        hosts_text, draw.between(5e-6, 5e-5), draw.between(1e9, 2.5e10));
  return text;
}

}  // namespace emplace::machine
