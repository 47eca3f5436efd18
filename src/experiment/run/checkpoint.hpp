// Checkpoints: State in HDF5, written so that no crash leaves an unreadable one, checked on load. The only HDF5 here.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "emplace/base/error.hpp"
#include "emplace/base/state.hpp"

namespace emplace::experiment {

// Arrays by path ("policy/logits", "learner/window", "best/placement") and text attributes of the root (format version,
// program version, resolved config, seed, update number, instruction set).
struct Checkpoint {
  State arrays;
  std::map<std::string, std::string> attributes;
};

// Runs `read`, which knows what is wrong with a checkpoint's arrays, so that the InputError also says whose they are.
template <class Read>
auto reading(const std::string& place, Read&& read) {
  try {
    return read();
  } catch (const InputError& error) {
    throw InputError(place, "{}", error.what());
  }
}

// Temporary name, fsync; the present file (if it is sound) becomes checkpoint.previous.h5; rename; fsync of the folder.
// Datasets carry Fletcher32 checksums, the root attribute "digest" the XXH3-128 over names, types, shapes, bytes and
// attributes, and a last line behind the HDF5 data seals every byte. Attribute names "emplace" (the file format) and
// "digest" are taken. InputError if an array under policy/ or optimizer/ has a NaN: a diverged run must not push out
// the last good state. EnvironmentError if the disk refuses; the files that were there then stay.
void save_checkpoint(const std::string& folder, const Checkpoint& checkpoint);

// InputError naming the file and what is wrong: not HDF5, truncated, a changed byte, another format version, NaN in
// policy/ or optimizer/. Time and memory are bounded by the file's size (at most 4 GiB).
Checkpoint load_checkpoint(const std::string& file);

// Whether a folder holds one of the two, sound or not.
bool has_checkpoint(const std::string& folder);

// folder/checkpoint.h5, or folder/checkpoint.previous.h5 with a warning if the newest is damaged; InputError if neither
// can be read.
Checkpoint load_newest_checkpoint(const std::string& folder);

}  // namespace emplace::experiment
