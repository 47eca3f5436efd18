// The presets' texts, embedded at build time from configs/machines.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "emplace/base/config.hpp"

namespace emplace::machine {

struct PresetText {
  const char* name;  // the file's name without extension: "laptop"; a family has N, H or G for numbers: "cluster-HxG"
  const char* toml;
};
std::span<const PresetText> preset_texts();

inline constexpr std::int64_t largest_family_member = 64;

bool is_preset(std::string_view name);
// The preset's table; for a family, with the numbers filled in. InputError for unknown names and numbers out of bounds.
ConfigTable preset_table(const std::string& name, const std::string& place);

// Merges a machine's table with the preset that it `extends`; returns it unchanged if it extends none.
ConfigTable with_base(ConfigTable table);

// Merges `over` into `base`: keys replace keys, and [[device]], [[channel]], [[route]], [[topology]] entries with the
// same name are merged key by key; entries with new names are appended.
ConfigTable extended(ConfigTable base, const ConfigTable& over);

// With [hosts], the file describes one host, of which there are `count` on a network. Returns the table with all hosts
// written out, or the same table if there is no [hosts].
ConfigTable with_hosts(ConfigTable table);

}  // namespace emplace::machine
