#include "experiment/run/checkpoint_hdf5.hpp"

namespace emplace::experiment::hdf5 {

namespace {

struct Sentences {
  std::string innermost;
  std::string outermost;
};

herr_t collect(unsigned, const H5E_error2_t* error, void* data) noexcept {
  auto& sentences = *static_cast<Sentences*>(data);
  try {
    const char* text = error->desc == nullptr ? "" : error->desc;
    if (sentences.innermost.empty()) sentences.innermost = text;
    sentences.outermost = text;
  } catch (...) {
    return -1;
  }
  return 0;
}

}  // namespace

void fail(const std::string& what) {
  Sentences sentences;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect, &sentences);
  H5Eclear2(H5E_DEFAULT);
  std::string text = "HDF5 could not " + what;
  if (!sentences.outermost.empty()) text += ": " + sentences.outermost;
  if (sentences.innermost != sentences.outermost) text += ": " + sentences.innermost;
  throw Error(text);
}

}  // namespace emplace::experiment::hdf5
