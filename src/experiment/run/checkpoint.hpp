// Checkpoints: State in HDF5 files, written so that a crash never leaves only an unreadable one, and checked on load.
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

// Calls `read`, which reads a checkpoint's arrays, and adds the checkpoint's place to the InputError that it throws.
template <class Read>
auto reading(const std::string& place, Read&& read) {
  try {
    return read();
  } catch (const InputError& error) {
    throw InputError(place, "{}", error.what());
  }
}

// Writes a file with a temporary name and flushes it; renames the present checkpoint, if it is sound, to
// checkpoint.previous.h5; renames the new file to checkpoint.h5 and flushes the folder. Datasets carry Fletcher32
// checksums, the root attribute "digest" the XXH3-128 over names, types, shapes, bytes and attributes, and a last line
// behind the HDF5 data seals every byte. The attribute names "emplace" (the file format) and "digest" are reserved.
// InputError if an array under policy/ or optimizer/ has a NaN: a diverged run must not replace the last good state.
// EnvironmentError if writing fails; then the old files stay as they are.
void save_checkpoint(const std::string& folder, const Checkpoint& checkpoint);

// Loads a checkpoint. Throws InputError, which names the file and the error: not HDF5, truncated, a changed byte,
// another format version, NaN in policy/ or optimizer/. Time and memory are bounded by the file's size (at most 4 GiB).
Checkpoint load_checkpoint(const std::string& file);

// Whether a folder has at least one of the two checkpoint files, damaged or not.
bool has_checkpoint(const std::string& folder);

// Loads folder/checkpoint.h5 or, with a warning, folder/checkpoint.previous.h5 if the newest is damaged or missing;
// InputError if neither can be read.
Checkpoint load_newest_checkpoint(const std::string& folder);

}  // namespace emplace::experiment
