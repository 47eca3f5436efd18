#include "tests/fuzz/read_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  emplace::read_model({"huggingface"}, data, size, false);
  return 0;
}
