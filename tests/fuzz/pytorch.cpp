// Any archive, or any program in a sound archive, is a Graph or an InputError.
#include "tests/fuzz/read_model.hpp"
#include "tests/support/zip_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with("PK")) {
    emplace::read_model({"pytorch"}, data, size);
    return 0;
  }
  const std::string archive = emplace::test::zip_text({{"m/models/model.json", text}});
  emplace::read_model({"pytorch"}, reinterpret_cast<const std::uint8_t*>(archive.data()), archive.size());
  return 0;
}
