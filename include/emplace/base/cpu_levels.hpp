// What the processor at hand can run: the levels that -march=x86-64-v3 and -march=x86-64-v4 compile for, by those of
// their features that no processor has without the others. Static: each file has its own copy, compiled for its level.
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
