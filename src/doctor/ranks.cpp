#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <map>
#include <set>
#include <thread>

#include "base/text.hpp"
#include "doctor/machine.hpp"

namespace emplace::doctor {

namespace {

using Level = Check::Level;

constexpr const char* mpi_name = "MPI alone";

// Runs in the child process: exits with 0 if MPI starts, has one rank, and ends. Prints nothing.
[[noreturn]] void start_mpi() {
  if (std::freopen("/dev/null", "w", stdout) == nullptr || std::freopen("/dev/null", "w", stderr) == nullptr)
    ::_exit(1);
  char name[] = "emplace";
  char* words[] = {name, nullptr};
  int count = 1;
  char** list = words;
  bool alone = false;
  try {
    dist::World world(count, list);
    alone = world.size() == 1 && dist::ping(world, "").size() == 1;
  } catch (const std::exception&) {
    ::_exit(1);
  }
  ::_exit(alone ? 0 : 1);
}

}  // namespace

Check check_mpi_alone() {
  const char* const what_to_do =
      "training with one process still works; for more ranks install MPI's own programs (Debian: openmpi-bin)";
  const pid_t child = ::fork();
  if (child < 0) return {mpi_name, Level::warning, "no second process can be started, so it was not tried"};
  if (child == 0) start_mpi();
  int status = 0;
  constexpr std::chrono::milliseconds patience{20'000}, nap{5};
  for (std::chrono::milliseconds waited{}; waited < patience; waited += nap, std::this_thread::sleep_for(nap))
    if (::waitpid(child, &status, WNOHANG) == child) {
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return {mpi_name, Level::ok, "starts and ends; `mpirun -np 4 emplace doctor` measures messages between ranks"};
      return {mpi_name, Level::warning, fmt::format("MPI does not start in a process by itself: {}", what_to_do)};
    }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return {mpi_name, Level::warning, fmt::format("MPI did not start within 20 s: {}", what_to_do)};
}

Checks check_ranks(std::span<const dist::RankReport> ranks) {
  Checks checks;
  struct Host {
    std::vector<int> ranks;
    std::set<std::int32_t> cores;
  };
  std::map<std::string, Host> hosts;
  for (const dist::RankReport& each : ranks) {
    Host& host = hosts[each.host];
    host.ranks.push_back(each.rank);
    host.cores.insert(each.cores.begin(), each.cores.end());
    if (each.program != ranks.front().program)
      checks.push_back({fmt::format("rank {}", each.rank), Level::failure,
                        fmt::format("runs another build ({}) than rank 0 ({}): put the same program on every host",
                                    each.program, ranks.front().program)});
    constexpr double slow = 1e-3;
    if (each.round_trip_s > slow)
      checks.push_back({fmt::format("rank {}", each.rank), Level::warning,
                        fmt::format("the round trip of a message takes {}: ranks share cores, or the network is slow",
                                    human_seconds(each.round_trip_s))});
  }
  for (const auto& [name, host] : hosts) {
    // Rank 0 sleeps while the others work.
    const bool has_rank_0 = host.ranks.front() == ranks.front().rank;
    const std::size_t working = host.ranks.size() - (has_rank_0 && ranks.size() > 1 ? 1 : 0);
    if (working > host.cores.size())
      checks.push_back(
          {"host " + name, Level::warning,
           fmt::format("{} ranks that work share {} core{}: start {} fewer there", working, host.cores.size(),
                       host.cores.size() == 1 ? "" : "s", working - host.cores.size())});
    else
      checks.push_back({"host " + name, Level::ok,
                        fmt::format("{} rank{} on {} core{}", host.ranks.size(), host.ranks.size() == 1 ? "" : "s",
                                    host.cores.size(), host.cores.size() == 1 ? "" : "s")});
  }
  return checks;
}

}  // namespace emplace::doctor
