// The presets' texts, embedded at build time from configs/machines.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "emplace/base/config.hpp"

namespace emplace::machine {

struct PresetText {
  const char* name;  // of the file, without extension: "laptop"; a family has N, H or G for numbers: "cluster-HxG"
  const char* toml;
};
std::span<const PresetText> preset_texts();

inline constexpr std::int64_t largest_family_member = 64;

bool is_preset(std::string_view name);
// The preset's table; of a family, with the numbers put in. InputError for unknown names and numbers out of bounds.
ConfigTable preset_table(const std::string& name, const std::string& place);

// A machine's table on top of the preset that it `extends`; as it is where it extends none.
ConfigTable with_base(ConfigTable table);

// `over` on top of `base`: keys replace keys, and [[device]], [[channel]], [[route]], [[topology]] entries of one name
// are merged key by key; new names come after the old ones.
ConfigTable extended(ConfigTable base, const ConfigTable& over);

// [hosts]: the file describes one host, of which there are `count` on a network. The table that says so at length, and
// the same table where there is no [hosts].
ConfigTable with_hosts(ConfigTable table);

}  // namespace emplace::machine
