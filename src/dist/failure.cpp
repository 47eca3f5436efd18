#include "dist/failure.hpp"

#include <fmt/core.h>

#include "base/log.hpp"
#include "dist/communicator.hpp"
#include "dist/pack.hpp"

namespace emplace::dist {

std::pair<ExitCode, std::string> explain_exception(const World& world) {
  const auto by = [&](const char* message) {
    return fmt::format("rank {} on {}: {}", world.rank(), host_name(), message);
  };
  try {
    throw;
  } catch (const InputError& error) {
    return {ExitCode::bad_input, by(error.what())};
  } catch (const std::exception& error) {
    return {ExitCode::failure, by(error.what())};
  } catch (...) {
    return {ExitCode::failure, by("an exception of unknown type")};
  }
}

void end_job(World& world) {
  const auto [code, message] = explain_exception(world);
  log::write(log::Level::error, message);
  world.abort(static_cast<int>(code));
}

std::vector<std::byte> pack_failure(std::uint64_t evaluator, ExitCode code, const std::string& message) {
  Packer packer;
  packer.number(evaluator);
  packer.number(static_cast<std::int32_t>(code));
  packer.numbers(std::span<const char>(message));
  return packer.take();
}

Failure unpack_failure(std::span<const std::byte> message) {
  Unpacker unpacker(message);
  const auto evaluator = unpacker.number<std::uint64_t>();
  const auto code = static_cast<ExitCode>(unpacker.number<std::int32_t>());
  const std::vector<char> text = unpacker.numbers<char>(message.size() - sizeof(std::uint64_t) - sizeof(std::int32_t));
  const std::string sentence(text.begin(), text.end());
  if (code == ExitCode::bad_input) return {evaluator, std::make_exception_ptr(InputError(sentence))};
  return {evaluator, std::make_exception_ptr(RankFailure("{}", sentence))};
}

}  // namespace emplace::dist
