// The list of presets. To add one, add a TOML file to configs/machines and a line here; the
// machines drawn-SEED have no file (drawn.cpp).
#include "emplace/machine/machine.hpp"

namespace emplace::machine {

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
    add("k80xN", "One 18-core Haswell host with N GPUs of Tesla K80 boards (11.4 GB each) on PCIe 3.0; N from 1 to 64.",
        "Mirhoseini et al. 2017 (ColocRL) and Addanki et al. 2019 (Placeto), testbeds", "k80x4");
    add("tf1-k40xN",
        "k40xN as TensorFlow 1 drives it: launches ahead of the GPU, 3.1 ms for each tensor sent; N to 64.",
        "Mirhoseini et al. 2018 (Hierarchical Planner), testbed and human column", "tf1-k40x2");
    add("tf1-k80xN",
        "k80xN as TensorFlow 1 drives it: launches ahead of the GPU, 3.1 ms for each tensor sent; N to 64.",
        "as tf1-k40xN", "tf1-k80x4");
    add("p100xN", "One 22-core Broadwell host with N Tesla P100 (16 GB each) on PCIe 3.0; N from 1 to 64.",
        "Zhou et al. 2019 (GDP), testbed", "p100x4");
    add("v100-nvlink-xN",
        "One 40-core host with N Tesla V100 (16 GB each) on NVLink 2, two links for each pair; N from 1 to 64.",
        "vendors' data sheets", "v100-nvlink-x4");
    add("a100-nvlink-xN", "One 128-core host with N A100 (80 GB each) behind NVSwitch; N from 1 to 64.",
        "vendors' data sheets", "a100-nvlink-x8");
    add("h100-xN", "One 112-core host with N H100 (80 GB each) behind NVSwitch; N from 1 to 64.",
        "vendors' data sheets", "h100-x8");
    add("i9-flex170", "A Core i9-12900K with 64 GB, its UHD Graphics 770 and a Flex 170 GPU (16 GB).",
        "HSDAG (NeurIPS 2024), testbed", "i9-flex170");
    add("i9-flex170-no-igpu", "The same without the UHD Graphics, which HSDAG's authors did not use.",
        "HSDAG (NeurIPS 2024), testbed", "i9-flex170-no-igpu");
    add("edge-npu", "A system on chip with big and little CPU cores, a GPU and an NPU, one memory (Rockchip RK3588).",
        "vendors' data sheets", "edge-npu");
    add("two-hosts", "Two hosts of 4 Tesla V100 on NVLink each, joined by 25 Gbit/s Ethernet.", "vendors' data sheets",
        "two-hosts");
    add("cluster-HxG",
        "H hosts of G A100 each, joined by 200 Gbit/s InfiniBand; H and G from 1 to 64, 255 devices at most.",
        "vendors' data sheets", "cluster-2x4");
    add("laptop", "An 8-core laptop CPU with 32 GB and one GPU with 8 GB on PCIe 4.0 x8.", "vendors' data sheets",
        "laptop");
    add("rtx4090-desktop", "A Ryzen 9 7950X with 64 GB and one GeForce RTX 4090 (24 GB) on PCIe 4.0 x16.",
        "vendors' data sheets", "rtx4090-desktop");
    add("rtx4090-rtx3060",
        "A Ryzen 9 7950X with a GeForce RTX 4090 (24 GB) on PCIe 4.0 x16 and an RTX 3060 (12 GB) on x4.",
        "vendors' data sheets", "rtx4090-rtx3060");
    add("rtx3060-desktop", "A Ryzen 5 5600X with 32 GB and one GeForce RTX 3060 (12 GB) on PCIe 4.0 x16.",
        "vendors' data sheets", "rtx3060-desktop");
    add("rtx4070-laptop", "A Core i7-13700H with 32 GB and a GeForce RTX 4070 Laptop GPU (8 GB) on PCIe 4.0 x8.",
        "vendors' data sheets", "rtx4070-laptop");
    add("rx7900xtx-desktop", "A Core i9-13900K with 64 GB and one Radeon RX 7900 XTX (24 GB) on PCIe 4.0 x16.",
        "vendors' data sheets", "rx7900xtx-desktop");
    add("apple-m1-max", "An Apple M1 Max: 10 CPU cores and 32 GPU cores on one memory of 64 GB.",
        "Apple, newsroom 2021", "apple-m1-max");
    add("cores-xN",
        "N cores of one server, each a device, for placements that emplace-measure-onnx runs; N from 1 to 64.",
        "measured with ONNX Runtime on an AMD EPYC", "cores-x2");
    add("drawn-SEED",
        "A machine drawn at random: 1 to 4 hosts, 2 to 16 CPUs and GPUs of several generations, PCIe, NVLink, "
        "Ethernet.",
        "drawn around vendors' data sheets", "drawn-7");
    return list;
  }();
  return entries;
}

}  // namespace emplace::machine
