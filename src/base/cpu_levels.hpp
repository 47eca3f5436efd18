// Whether this processor can run code compiled with -march=x86-64-v3 or -march=x86-64-v4. Only those features of a
// level are checked that no processor has without the others. The functions are static, so that each file has its own
// copy, compiled for its own level.
#pragma once

namespace emplace {

static inline bool cpu_runs_x86_64_v3() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

static inline bool cpu_runs_x86_64_v4() {
#if defined(__x86_64__)
  return cpu_runs_x86_64_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

}  // namespace emplace
