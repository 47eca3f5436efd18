// Ends the program with a one-sentence error if this CPU lacks the instruction set that the program was built for. This
// file is compiled for baseline x86-64 and runs before all other constructors, so no missing instruction runs before
// it.
#include <unistd.h>

#include <cstring>

#include "base/cpu_levels.hpp"

#if defined(__x86_64__) && defined(EMPLACE_NEEDS_AVX2)
namespace {

__attribute__((constructor(101))) void check_cpu() {
  __builtin_cpu_init();
  if (emplace::cpu_runs_x86_64_v3()) return;
  const char message[] =
      "error: this emplace was built for CPUs with AVX2 (x86-64-v3) and this CPU lacks it; build the preset "
      "`portable`\n";
  const auto ignored = ::write(STDERR_FILENO, message, std::strlen(message));
  (void)ignored;
  ::_exit(1);
}

}  // namespace
#endif
