// Problems as bytes for the broadcast at the start of a job (Boost archive): in flight only, never on disk.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace {

struct SharedProblems {
  std::vector<Problem> problems;
  Schedule schedule = Schedule::fifo;
};

std::string archive_problems(std::span<const Problem* const> problems, Schedule schedule);
// `bytes` must come from archive_problems of the same program: the archive is not checked.
SharedProblems restore_problems(const std::string& bytes);

}  // namespace emplace
