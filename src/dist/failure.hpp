// Errors on a rank: as a line for the user, and as a message to the master.
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

// The exit code of the exception that is being handled, and its message with rank and host in front.
std::pair<ExitCode, std::string> explain_exception(const World& world);
// Prints that message and ends the whole job with that exit code.
[[noreturn]] void end_job(World& world);

// The content of a message with Tag::failed: the evaluator of the part that failed (counted from 1), and the exception
// that the master throws, an InputError or a RankFailure.
struct Failure {
  std::uint64_t evaluator;
  std::exception_ptr exception;
};
std::vector<std::byte> pack_failure(std::uint64_t evaluator, ExitCode code, const std::string& message);
Failure unpack_failure(std::span<const std::byte> message);

}  // namespace emplace::dist
