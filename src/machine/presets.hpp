// The presets' texts, embedded at build time from configs/machines.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "emplace/base/config.hpp"

namespace emplace {

struct PresetText {
  const char* name;  // file name without extension: "laptop"; a family ends in "xN": "k40xN"
  const char* toml;
};
std::span<const PresetText> preset_texts();

inline constexpr std::int64_t largest_family_member = 64;

bool is_preset(std::string_view name);
// The preset's table; of a family, with N put in. InputError for unknown names and an N out of bounds.
ConfigTable preset_table(const std::string& name, const std::string& place);

// `over` on top of `base`: keys replace keys, and [[device]], [[channel]], [[route]], [[topology]] entries of one name
// are merged key by key; new names come after the old ones.
ConfigTable extended(ConfigTable base, const ConfigTable& over);

}  // namespace emplace
