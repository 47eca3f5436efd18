// Finds the processes that a test started, by a variable in their environment.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace emplace::test {

// Numbers of the processes that have `variable` ("NAME=value") in the environment that they were started with.
inline std::vector<int> processes_with(const std::string& variable) {
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos || std::stoi(name) == ::getpid()) continue;
    std::ifstream file(entry.path() / "environ", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (('\0' + text).find('\0' + variable + '\0') != std::string::npos) found.push_back(std::stoi(name));
  }
  return found;
}

// Files of shared memory that Open MPI made and that these processes have open.
inline std::set<std::string> shared_memory_of(const std::vector<int>& processes) {
  std::set<std::string> files;
  for (const int process : processes) {
    std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
    for (std::string line; std::getline(maps, line);)
      if (const auto at = line.find("/dev/shm/vader_segment"); at != std::string::npos)
        files.insert(line.substr(at, line.find(' ', at) - at));
  }
  return files;
}

// Whether there are none of these processes, waiting up to `limit` for their end.
inline bool none_left_with(const std::string& variable, std::chrono::seconds limit = std::chrono::seconds(10)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!processes_with(variable).empty()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

// Kills them all, in any process group; returns whether none is left.
inline bool kill_all_with(const std::string& variable) {
  for (const int pid : processes_with(variable)) ::kill(pid, SIGKILL);
  return none_left_with(variable);
}

}  // namespace emplace::test
