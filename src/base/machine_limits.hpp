// What the system allows this process to take: limits of control groups and of the address space, available memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace emplace {

// The smallest limits of a control group and of the groups above it; none if there is no limit.
struct GroupLimits {
  std::optional<double> cores;
  std::optional<std::uint64_t> memory_bytes;
};
// `membership`: the text of /proc/self/cgroup; `root`: where the groups are mounted (/sys/fs/cgroup). Versions 1 and 2.
GroupLimits group_limits(const std::string& membership, const std::string& root);
// The limits of this process.
GroupLimits group_limits();

// The number, in kB, in a line "KEY:   24054724 kB" of a file of the kernel (/proc/meminfo), in bytes.
std::optional<std::uint64_t> kernel_bytes(const std::string& path, const std::string& key);
// `ulimit -v`; none if there is no limit.
std::optional<std::uint64_t> address_space_limit();
// The smaller of those that there are.
std::optional<std::uint64_t> least_of(std::optional<std::uint64_t> one, std::optional<std::uint64_t> other);

// Bytes that this process can still take: what the kernel has available, or less, if a limit of its control groups or
// of its address space leaves less beside what it has taken so far. None if the kernel does not say.
std::optional<std::uint64_t> available_memory();

}  // namespace emplace
