// The presets. A new one: a TOML file in configs/machines and a line here.
#include "emplace/machine/machine.hpp"

namespace emplace {

std::span<const MachineEntry> machines() {
  static const std::vector<MachineEntry> entries = [] {
    std::vector<MachineEntry> list;
    const auto add = [&](const char* name, const char* summary, const char* reference, const char* example) {
      MachineEntry entry;
      entry.name = name;
      entry.summary = summary;
      entry.reference = reference;
      entry.example = example;
      list.push_back(std::move(entry));
    };
    add("k40xN", "One 18-core Haswell host with N Tesla K40 (12 GB each) on PCIe 3.0; N from 1 to 64.",
        "Mirhoseini et al. 2018 (Hierarchical Planner), testbed", "k40x2");
    add("laptop", "An 8-core laptop CPU with 32 GB and one GPU with 8 GB on PCIe 4.0 x8.", "vendors' data sheets",
        "laptop");
    return list;
  }();
  return entries;
}

}  // namespace emplace
