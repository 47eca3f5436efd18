#include "base/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <memory>
#include <thread>

namespace emplace {

std::vector<std::int32_t> allowed_cores() {
  // The kernel refuses a set that is smaller than its own.
  for (int most = 1024; most <= 1 << 18; most *= 4) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(static_cast<std::size_t>(most)),
                                                               [](cpu_set_t* each) { CPU_FREE(each); });
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(most));
    if (set == nullptr || sched_getaffinity(0, bytes, set.get()) != 0) continue;
    std::vector<std::int32_t> cores;
    for (std::int32_t core = 0; core < most; ++core)
      if (CPU_ISSET_S(static_cast<std::size_t>(core), bytes, set.get())) cores.push_back(core);
    return cores;
  }
  std::vector<std::int32_t> cores(std::max(1U, std::thread::hardware_concurrency()));
  for (std::size_t i = 0; i < cores.size(); ++i) cores[i] = static_cast<std::int32_t>(i);
  return cores;
}

}  // namespace emplace
