// Checkpoints: State in HDF5, written so that no crash leaves an unreadable one, checked on load. The only HDF5 here.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "emplace/base/state.hpp"

namespace emplace {

// Arrays by path ("policy/logits", "learner/window", "best/placement") and text attributes of the root (format version,
// program version, resolved config, seed, update number, instruction set).
struct Checkpoint {
  State arrays;
  std::map<std::string, std::string> attributes;
};

// Temporary name, flush, fsync; the present file becomes checkpoint.previous.h5; rename; fsync of the folder. Datasets
// carry Fletcher32 checksums and the file a digest over names, shapes, bytes and attributes.
void save_checkpoint(const std::string& folder, const Checkpoint& checkpoint);

// InputError naming the file and what is wrong: not HDF5, truncated, digest mismatch, another format version, NaN.
Checkpoint load_checkpoint(const std::string& file);

// folder/checkpoint.h5, or folder/checkpoint.previous.h5 with a warning if the newest is damaged; InputError if neither
// can be read.
Checkpoint load_newest_checkpoint(const std::string& folder);

}  // namespace emplace
