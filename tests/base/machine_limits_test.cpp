// Limits of control groups and of the address space, and the memory that they leave.
#include "base/machine_limits.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::machine_limits_test {
namespace {

void write_group(const std::string& folder, const std::string& file, const std::string& text) {
  make_folder(folder);
  write_file(folder + "/" + file, text);
}

TEST(GroupLimits, TheTightestOfAGroupAndThoseAboveItCounts) {
  const TemporaryFolder root;
  write_group(root / "job", "cpu.max", "max 100000\n");
  write_group(root / "job", "memory.max", "4096\n");
  write_group(root / "job/step", "cpu.max", "250000 100000\n");
  write_group(root / "job/step", "memory.max", "max\n");
  const GroupLimits step = group_limits("0::/job/step\n", root.path());
  EXPECT_EQ(step.cores, 2.5);  // 250 ms of every 100 ms
  EXPECT_EQ(step.memory_bytes, 4096U);
  EXPECT_FALSE(group_limits("0::/job\n", root.path()).cores);
}

TEST(GroupLimits, AreReadFromTheFirstVersionToo) {
  const TemporaryFolder root;
  write_group(root / "cpu/job", "cpu.cfs_quota_us", "150000\n");
  write_file(root / "cpu/job/cpu.cfs_period_us", "100000\n");
  write_group(root / "memory/job", "memory.limit_in_bytes", "1048576\n");
  write_file(root / "memory/memory.limit_in_bytes", "9223372036854771712\n");  // its way to say "none"
  const GroupLimits limits = group_limits("5:cpu,cpuacct:/job\n4:memory:/job\n", root.path());
  EXPECT_EQ(limits.cores, 1.5);
  EXPECT_EQ(limits.memory_bytes, 1048576U);
  const GroupLimits none = group_limits("4:memory:/\n", root.path());
  EXPECT_FALSE(none.cores);
  EXPECT_FALSE(none.memory_bytes);
}

TEST(KernelBytes, AreOfTheLineWithThisKey) {
  const TemporaryFolder folder;
  write_file(folder / "meminfo", "MemTotalHuge:  9 kB\nMemTotal:       24 kB\nMemFree: no number\n");
  EXPECT_EQ(kernel_bytes(folder / "meminfo", "MemTotal"), 24U * 1024);
  EXPECT_FALSE(kernel_bytes(folder / "meminfo", "MemFree"));
  EXPECT_FALSE(kernel_bytes(folder / "meminfo", "Swap"));
  EXPECT_FALSE(kernel_bytes(folder / "none", "MemTotal"));
}

TEST(AvailableMemory, IsWhatALimitOfTheAddressSpaceLeaves) {
  const auto before = available_memory(), size = kernel_bytes("/proc/self/status", "VmSize");
  ASSERT_TRUE(before && size);
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &old), 0);
  constexpr std::uint64_t left = 64 << 20;
  ASSERT_GT(*before, left);
  rlimit tight = old;
  tight.rlim_cur = *size + left;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  const auto now = available_memory();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &old), 0);
  ASSERT_TRUE(now);
  EXPECT_LE(*now, left);
  EXPECT_GE(*now, left / 2);
}

}  // namespace
}  // namespace emplace::test::machine_limits_test
