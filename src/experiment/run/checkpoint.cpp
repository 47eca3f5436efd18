#include "experiment/run/checkpoint.hpp"

#include "base/files.hpp"
#include "base/log.hpp"
#include "experiment/run/checkpoint_image.hpp"

namespace emplace::experiment {

namespace {

std::string newest_in(const std::string& folder) { return folder + "/checkpoint.h5"; }
std::string previous_in(const std::string& folder) { return folder + "/checkpoint.previous.h5"; }

bool is_sound(const std::string& file) {
  try {
    unsealed(read_file(file, max_checkpoint_bytes), file);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

void save_checkpoint(const std::string& folder, const Checkpoint& checkpoint) {
  const std::string newest = newest_in(folder);
  const std::string nan = find_nan(checkpoint.arrays);
  if (!nan.empty())
    throw InputError(newest, "is not written, because {}: the training has diverged (try a smaller learning rate)",
                     nan);
  const std::string written = newest + ".new";
  write_file(written, sealed(checkpoint_image(checkpoint)));
  // A damaged newest checkpoint must not replace a good previous one, which may be the only good one. The newest file
  // exists at every moment, except on file systems without hard links.
  if (file_exists(newest) && is_sound(newest) && !add_name(newest, previous_in(folder)))
    replace_file(newest, previous_in(folder));
  replace_file(written, newest);
}

Checkpoint load_checkpoint(const std::string& file) {
  const std::string content = read_file(file, max_checkpoint_bytes);
  return read_checkpoint_image(unsealed(content, file), file);
}

bool has_checkpoint(const std::string& folder) {
  return file_exists(folder + "/checkpoint.h5") || file_exists(folder + "/checkpoint.previous.h5");
}

Checkpoint load_newest_checkpoint(const std::string& folder) {
  const std::string newest = newest_in(folder);
  const std::string previous = previous_in(folder);
  std::string why_not = newest + ": there is none";
  if (file_exists(newest)) {
    try {
      return load_checkpoint(newest);
    } catch (const InputError& error) {
      why_not = error.what();
    }
  }
  if (!file_exists(previous)) throw InputError("", "{}, and there is no {}", why_not, previous);
  Checkpoint checkpoint = [&] {
    try {
      return load_checkpoint(previous);
    } catch (const InputError& error) {
      throw InputError("", "{}; the previous checkpoint cannot be read either: {}", why_not, error.what());
    }
  }();
  log_warning("{}; continuing from {}", why_not, previous);
  return checkpoint;
}

}  // namespace emplace::experiment
