// Any text is a profile or an InputError, laid over a graph or refused by name; an accepted one, written as a table op
// x device, reads back with the same times.
#include "cost/profile.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "cost/lower.hpp"
#include "emplace/base/error.hpp"

namespace emplace {

namespace {

// conv -> relu, and a constant beside them that pruning folds away: rows that are used, merged, in part and folded.
const Graph& graph() {
  static const Graph made = [] {
    Graph g;
    g.name = "fuzz";
    const auto add = [&](const char* name, const char* type, std::vector<Operand> inputs, Shape shape) {
      GraphOp op;
      op.name = name;
      op.type = type;
      op.inputs = std::move(inputs);
      return Operand::of(g.add_output(g.add_op(std::move(op)), std::string(name) + ":0", DType::f32, std::move(shape)));
    };
    const Operand x = Operand::of(g.add_input("x", DType::f32, {1, 3, 8, 8}));
    const Operand w = Operand::of(g.add_parameter("w", DType::f32, {4, 3, 1, 1}));
    const Operand conv = add("conv", "Conv", {x, w}, {1, 4, 8, 8});
    const Operand relu = add("relu", "Relu", {conv}, {1, 4, 8, 8});
    const Operand bias = add("bias", "Identity", {Operand::of(g.add_parameter("b", DType::f32, {8}))}, {8});
    add("add", "Add", {relu, bias}, {1, 4, 8, 8});
    return g;
  }();
  return made;
}

const machine::Machine& machine() {
  static const machine::Machine made = machine::parse_machine(R"(
name = "fuzz"
[[device]]
name = "gpu"
kind = "gpu"
count = 2
memory = "1 GiB"
memory_bytes_per_s = 1e11
launch_overhead_s = 1e-5
peak_flops = { default = 1e12 }
efficiency = { default = 0.5 }
[[device]]
name = "cpu:0"
kind = "cpu"
memory = "1 GiB"
memory_bytes_per_s = 1e10
peak_flops = { default = 1e10 }
efficiency = { default = 1 }
)",
                                                              "fuzz.toml");
  return made;
}

using Times = std::map<std::pair<std::string, std::uint32_t>, double>;

// What the header promises of a profile.
Times times_of(const cost::Profile& profile) {
  Times times;
  for (const cost::ProfileRow& row : profile.rows) {
    if (row.op.empty() || row.seconds.size() != profile.devices.size()) std::abort();
    bool measured = false;
    for (std::uint32_t device = 0; device < row.seconds.size(); ++device) {
      const double seconds = row.seconds[device];
      if (std::isnan(seconds)) continue;
      if (!(seconds >= 0) || !std::isfinite(seconds)) std::abort();
      if (!times.emplace(std::pair(row.op, device), seconds).second) std::abort();
      measured = true;
    }
    if (!measured) std::abort();
  }
  if (!std::isnan(profile.run_s) && !(profile.run_s > 0 && std::isfinite(profile.run_s))) std::abort();
  if (times.empty()) std::abort();
  return times;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

// As a table with commas; empty where a name holds an end of line, which such a table cannot.
std::string table_of(const cost::Profile& profile, const Times& times) {
  std::string text = "op";
  for (std::size_t d = 0; d < profile.devices.size(); ++d) text += fmt::format(",d{}", d);
  std::string last;
  std::uint32_t column = 0;
  const auto width = static_cast<std::uint32_t>(profile.devices.size());
  for (const auto& [key, seconds] : times) {
    if (key.first.find('\n') != std::string::npos) return {};
    if (key.first != last) {
      for (; !last.empty() && column < width; ++column) text += ',';
      last = key.first;
      text += '\n' + quoted(last);
      column = 0;
    }
    for (; column < key.second; ++column) text += ',';
    text += fmt::format(",{}", seconds);
    ++column;
  }
  for (; column < width; ++column) text += ',';
  return text + '\n';
}

void lay_over(const cost::Profile& profile, const std::string& device, bool fuse) {
  cost::RooflineOptions options;
  options.fuse = fuse;
  const std::vector<cost::DeviceProfile> profiles = {{profile, device}};
  // The graph and the machine are sound: what is refused is the profile.
  static const cost::Lowered without = cost::lower(graph(), machine(), options, "fuzz");
  try {
    const cost::Lowered lowered = cost::lower(graph(), machine(), options, "fuzz", profiles);
    for (const cost::DeviceCost& cost : lowered.costs)
      if (!(cost.measured_s >= 0 && cost.measured_s <= cost.seconds) || cost.measured_ops > cost.ops) std::abort();
    static_cast<void>(cost::cost_warnings(lowered));
  } catch (const InputError&) {
  }
}

}  // namespace

}  // namespace emplace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace emplace;
  const std::string text(reinterpret_cast<const char*>(data), size);
  cost::Profile profile;
  try {
    profile = cost::parse_profile(text, "fuzz");
  } catch (const InputError&) {
    return 0;
  }
  const Times times = times_of(profile);
  if (const std::string table = table_of(profile, times); !table.empty())
    if (times_of(cost::parse_profile(table, "again")) != times) std::abort();
  for (const bool fuse : {false, true})
    for (const char* device : {"", "gpu", "gpu:1", "cpu:0"}) lay_over(profile, device, fuse);
  return 0;
}
