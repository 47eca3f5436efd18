// Any text is a Problem or an InputError; a Problem writes to a text that reads back and writes the same again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "emplace/base/error.hpp"
#include "emplace/formats/problem_json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  emplace::Problem problem;
  try {
    problem = emplace::formats::read_problem_json(text, "fuzz.json");
  } catch (const emplace::InputError&) {
    return 0;
  }
  const std::string written = emplace::formats::write_problem_json(problem);
  if (emplace::formats::write_problem_json(emplace::formats::read_problem_json(written, "again.json")) != written)
    std::abort();
  return 0;
}
