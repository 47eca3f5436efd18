#include "search/common/solver_process.hpp"

#include "base/contained.hpp"
#include "base/log.hpp"

namespace emplace::search {

std::optional<std::string> run_solver(std::string_view solver, std::string_view consequence,
                                      const std::function<bool()>& stop,
                                      const std::function<std::string(const std::function<bool()>& stopped)>& work) {
  Contained done = run_contained({.memory_bytes = {}, .cpu_seconds = {}, .stop = stop},
                                 [&](ContainedWork& shared) { return work([&] { return shared.stop.load(); }); });
  if (done.killed.empty()) return std::move(done.result);
  log_warning("the solver {} failed: {}; {}", solver, done.killed, consequence);
  return std::nullopt;
}

}  // namespace emplace::search
