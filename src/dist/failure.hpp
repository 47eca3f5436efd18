// What has gone wrong on a rank, for people and for the master.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emplace/base/error.hpp"
#include "emplace/dist/world.hpp"

namespace emplace::dist {

// The exception being handled, as a code and a sentence that says whose it is.
std::pair<ExitCode, std::string> explain_exception(const World& world);
// Says it, and ends the whole job.
[[noreturn]] void end_job(World& world);

// What Tag::failed says: of which evaluator of the part (counted from 1), and what the master throws: an InputError or
// a RankFailure.
struct Failure {
  std::uint64_t evaluator;
  std::exception_ptr exception;
};
std::vector<std::byte> pack_failure(std::uint64_t evaluator, ExitCode code, const std::string& message);
Failure unpack_failure(std::span<const std::byte> message);

}  // namespace emplace::dist
