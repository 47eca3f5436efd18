// A checkpoint as the bytes of an HDF5 file. HDF5 works in memory only: a full disk is then a plain error of plain file
// calls, and a damaged file cannot make HDF5 read elsewhere.
#pragma once

#include <string>
#include <string_view>

#include "experiment/run/checkpoint.hpp"

namespace emplace::experiment {

inline constexpr const char* checkpoint_format = "checkpoint/1";
// Root attributes that save_checkpoint writes itself; they are no part of Checkpoint::attributes.
inline constexpr const char* format_attribute = "emplace";
inline constexpr const char* digest_attribute = "digest";

// Larger files are neither written nor read.
inline constexpr std::uint64_t max_checkpoint_bytes = std::uint64_t{1} << 32;

// Equal checkpoints give equal bytes (no time stamps).
std::string checkpoint_image(const Checkpoint& checkpoint);

// InputError beginning with `file`. Time and memory are bounded by the size of the image.
Checkpoint read_checkpoint_image(std::string_view image, const std::string& file);

// XXH3-128 over the names, types, shapes and bytes of the arrays and over the attributes, as 32 hexadecimal digits.
std::string checkpoint_digest(const Checkpoint& checkpoint);

// A last line behind the HDF5 file, where HDF5 does not look, with the XXH3-128 of every byte before it. Damage
// anywhere, also where HDF5 leaves gaps, is then found before HDF5 sees the file.
std::string sealed(std::string image);
// The image without its seal; InputError beginning with `file` if it is missing or another.
std::string_view unsealed(std::string_view content, const std::string& file);

// "policy/logits[3] is not a number", or "" if policy/ and optimizer/ hold numbers only. Infinities are legal: a policy
// may give a forbidden device the logit -inf.
std::string find_nan(const State& arrays);

}  // namespace emplace::experiment
