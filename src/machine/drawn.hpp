// Machines drawn at random, for trainings of policies that place on machines which they never saw.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace emplace::machine {

// The name of a drawn machine is this and the seed, a number of at most 9 digits: "drawn-7".
inline constexpr std::string_view drawn_prefix = "drawn-";

// Whether a name begins like that of a drawn machine.
bool is_drawn(std::string_view name);

// The machine file of the machine `name`: 1 to 4 hosts of a CPU and GPUs of several generations, 2 to 16 devices in
// all, on PCIe with or without a shared uplink, copies between GPUs or NVLink, and Ethernet between hosts. Speeds,
// memory, overheads and links are drawn too, from half to twice the figures of data sheets. The same name is always the
// same machine. InputError for a seed that is no number of 1 to 9 digits.
std::string drawn_machine_toml(const std::string& name, const std::string& place);

}  // namespace emplace::machine
