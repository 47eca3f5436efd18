// A checkpoint as the bytes of an HDF5 file. HDF5 works in memory only: then a full disk is an ordinary error of our
// own file calls, and a damaged file cannot make HDF5 read other files.
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

// Makes the image. Equal checkpoints give equal bytes (no time stamps).
std::string checkpoint_image(const Checkpoint& checkpoint);

// Reads an image. Throws InputError, which begins with `file`, if it is no sound checkpoint. Time and memory are
// bounded by the size of the image.
Checkpoint read_checkpoint_image(std::string_view image, const std::string& file);

// XXH3-128 over the names, types, shapes and bytes of the arrays and over the attributes, as 32 hexadecimal digits.
std::string checkpoint_digest(const Checkpoint& checkpoint);

// Adds the seal: a last line after the HDF5 data, which HDF5 does not read, with the XXH3-128 of all bytes before it.
// With it, damage anywhere, also in gaps that HDF5 leaves, is found before HDF5 reads the file.
std::string sealed(std::string image);
// Returns the image without its seal; InputError, which begins with `file`, if the seal is missing or does not match.
std::string_view unsealed(std::string_view content, const std::string& file);

// "policy/logits[3] is not a number", or "" if policy/ and optimizer/ hold numbers only. Infinities are legal: a policy
// may give a forbidden device the logit -inf.
std::string find_nan(const State& arrays);

}  // namespace emplace::experiment
