#include "base/machine_limits.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.hpp"

namespace emplace {

namespace {

// The first line of a file of the kernel, which has no size and may be missing; "" if it is.
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The number in a line; none for "max", which means no limit.
std::optional<double> limit_in(const std::string& line) {
  double value = 0;
  return parse_number(line, value) ? std::optional(value) : std::nullopt;
}

template <class T>
void lower(std::optional<T>& limit, std::optional<T> other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

// cpu.max has "QUOTA PERIOD", or "max PERIOD" without a limit. cpu.cfs_quota_us of version 1 has -1 without a limit.
std::optional<double> cores_of(const std::string& quota, const std::string& period) {
  const auto most = limit_in(quota), each = limit_in(period);
  return most && each && *most > 0 && *each > 0 ? std::optional(*most / *each) : std::nullopt;
}

std::optional<std::uint64_t> memory_of(const std::string& line) {
  // In version 1, a number near 2^63 means no limit.
  const auto bytes = limit_in(line);
  return bytes && *bytes < 0x1p62 ? std::optional(static_cast<std::uint64_t>(*bytes)) : std::nullopt;
}

// Calls look() with the folder of a control group and of all groups above it, up to `mount`. In a container the path
// may be the one on the host, so only the last of them, the mount, exists.
template <class Look>
void walk_up(const std::string& mount, const std::string& group, const Look& look) {
  for (std::filesystem::path path = group;; path = path.parent_path()) {
    look(mount + path.string());
    if (path == path.parent_path()) return;
  }
}

// What a limit leaves to a process that has taken `taken`.
std::optional<std::uint64_t> left_of(const std::optional<std::uint64_t>& limit,
                                     const std::optional<std::uint64_t>& taken) {
  if (!limit) return limit;
  return *limit - std::min(*limit, taken.value_or(0));
}

}  // namespace

GroupLimits group_limits(const std::string& membership, const std::string& root) {
  GroupLimits limits;
  for (const std::string& line : split(membership, '\n')) {
    const std::vector<std::string> fields = split(line, ':');
    if (fields.size() < 3) continue;
    const std::string& group = fields[2];
    if (fields[1].empty())  // version 2
      walk_up(root, group, [&](const std::string& folder) {
        const std::vector<std::string> quota = split(first_line(folder + "/cpu.max"), ' ');
        if (quota.size() == 2) lower(limits.cores, cores_of(quota[0], quota[1]));
        lower(limits.memory_bytes, memory_of(first_line(folder + "/memory.max")));
      });
    for (const std::string& controller : split(fields[1], ','))
      if (controller == "cpu")
        walk_up(root + "/cpu", group, [&](const std::string& folder) {
          lower(limits.cores,
                cores_of(first_line(folder + "/cpu.cfs_quota_us"), first_line(folder + "/cpu.cfs_period_us")));
        });
      else if (controller == "memory")
        walk_up(root + "/memory", group, [&](const std::string& folder) {
          lower(limits.memory_bytes, memory_of(first_line(folder + "/memory.limit_in_bytes")));
        });
  }
  return limits;
}

GroupLimits group_limits() {
  std::ostringstream membership;
  membership << std::ifstream("/proc/self/cgroup").rdbuf();
  return group_limits(membership.str(), "/sys/fs/cgroup");
}

std::optional<std::uint64_t> kernel_bytes(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key + ":")) continue;
    const std::string text = line.substr(std::min(line.size(), line.find_first_not_of(" \t", key.size() + 1)));
    const auto kib = limit_in(text.substr(0, text.find(' ')));
    if (kib) return static_cast<std::uint64_t>(*kib) * 1024;
  }
  return {};
}

std::optional<std::uint64_t> address_space_limit() {
  rlimit space{};
  if (::getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return {};
  return space.rlim_cur;
}

std::optional<std::uint64_t> least_of(std::optional<std::uint64_t> one, std::optional<std::uint64_t> other) {
  lower(one, other);
  return one;
}

std::optional<std::uint64_t> available_memory() {
  const char* const own = "/proc/self/status";
  return least_of(kernel_bytes("/proc/meminfo", "MemAvailable"),
                  least_of(left_of(group_limits().memory_bytes, kernel_bytes(own, "VmRSS")),
                           left_of(address_space_limit(), kernel_bytes(own, "VmSize"))));
}

}  // namespace emplace
