// Any text is a Placement of a small problem or an InputError; a Placement writes to a text that reads back equal.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "emplace/base/error.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/problem/builder.hpp"

namespace {

// a -> b -> c, a -> c on two devices.
emplace::Problem small_problem() {
  using namespace emplace;
  ProblemBuilder builder("p");
  builder.add_device({.name = "d0", .kind = ""});
  builder.add_device({.name = "d1", .kind = ""});
  for (const char* name : {"a", "b", "c"})
    builder.add_op({.name = name, .type = "", .seconds = {1, 1}, .resident = 0, .scratch = 0, .colocate = ""});
  builder.add_tensor(OpId{0}, 1, {OpId{1}, OpId{2}});
  builder.add_tensor(OpId{1}, 1, {OpId{2}});
  return builder.build();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const emplace::Problem problem = small_problem();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  emplace::formats::PlacementFile file;
  try {
    file = emplace::formats::read_placement_json(text, "fuzz.json", problem);
  } catch (const emplace::InputError&) {
    return 0;
  }
  const auto schedule = file.schedule.value_or(emplace::Schedule::fifo);
  const std::string written = emplace::formats::write_placement_json(problem, file.placement, schedule);
  const emplace::formats::PlacementFile again = emplace::formats::read_placement_json(written, "again.json", problem);
  if (again.placement != file.placement || again.schedule != schedule) std::abort();
  return 0;
}
