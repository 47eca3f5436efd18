// The forms of a profile, one function and one file each.
#pragma once

#include <string_view>

#include "emplace/cost/profile.hpp"

namespace emplace::cost {

inline constexpr double longest_op_s = 1e7;          // no op takes months; keeps totals below 2^62 ps
inline constexpr std::size_t most_rows = 4'000'000;  // what is read of a file is then some times its 256 MiB at most

// `profile.file` is set; rows, devices and warnings are filled in.
void parse_profile_table(std::string_view text, Profile& profile);
void parse_onnxruntime_profile(std::string_view text, Profile& profile);

}  // namespace emplace::cost
