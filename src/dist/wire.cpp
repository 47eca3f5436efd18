#include "dist/wire.hpp"

#include "dist/pack.hpp"
#include "emplace/base/error.hpp"

namespace emplace::dist {

std::size_t packed_bytes(const evaluate::EvaluationJob& job) {
  return 13 + job.placement->device.size() + job.placement->order.size() * sizeof(std::uint32_t);
}

std::vector<std::byte> pack_piece(std::uint64_t begin, std::span<const evaluate::EvaluationJob> jobs) {
  std::size_t bytes = 12;
  for (const evaluate::EvaluationJob& job : jobs) bytes += packed_bytes(job);
  Packer packer(bytes);
  packer.number(begin);
  packer.number(static_cast<std::uint32_t>(jobs.size()));
  for (const evaluate::EvaluationJob& job : jobs) {
    const Placement& placement = *job.placement;
    const bool ordered = !placement.order.empty();
    EMPLACE_CHECK(!ordered || placement.order.size() == placement.device.size());
    packer.number(job.problem);
    packer.number(job.series);
    packer.number(static_cast<std::uint32_t>(placement.device.size()));
    packer.number(static_cast<std::uint8_t>((ordered ? 1 : 0) | (job.starts != nullptr ? 2 : 0)));
    packer.numbers(std::span<const std::uint8_t>(placement.device));
    packer.numbers(std::span<const std::uint32_t>(placement.order));
  }
  return packer.take();
}

Piece unpack_piece(std::span<const std::byte> message) {
  Unpacker unpacker(message);
  Piece piece;
  piece.begin = unpacker.number<std::uint64_t>();
  const std::uint32_t count = unpacker.count();
  piece.problems.resize(count);
  piece.placements.resize(count);
  piece.series.resize(count);
  piece.wants_starts.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    piece.problems[i] = unpacker.number<std::uint32_t>();
    piece.series[i] = unpacker.number<std::uint32_t>();
    const auto ops = unpacker.number<std::uint32_t>();
    const auto flags = unpacker.number<std::uint8_t>();
    piece.wants_starts[i] = (flags & 2) != 0;
    piece.placements[i].device = unpacker.numbers<std::uint8_t>(ops);
    if ((flags & 1) != 0) piece.placements[i].order = unpacker.numbers<std::uint32_t>(ops);
  }
  unpacker.done();
  return piece;
}

std::vector<std::byte> pack_outcomes(const PieceOutcomes& piece) {
  std::size_t bytes = 28 + piece.outcomes.size() * 22;
  for (const auto& starts : piece.starts) bytes += 4 + starts.size() * sizeof(Ticks);
  for (const auto& message : piece.messages) bytes += 4 + message.size();
  Packer packer(bytes);
  packer.number(piece.begin);
  packer.number(static_cast<std::uint32_t>(piece.outcomes.size()));
  packer.number(piece.seconds);
  for (const Outcome& outcome : piece.outcomes) packer.number(outcome.makespan);
  for (const Outcome& outcome : piece.outcomes) packer.number(outcome.overflow);
  for (const Outcome& outcome : piece.outcomes) packer.number(outcome.subject);
  for (const Outcome& outcome : piece.outcomes) packer.number(static_cast<std::uint8_t>(outcome.why));
  for (const Outcome& outcome : piece.outcomes) packer.number(outcome.device);
  packer.number(static_cast<std::uint32_t>(piece.starts.size()));
  for (const auto& starts : piece.starts) packer.list(starts);
  packer.number(static_cast<std::uint32_t>(piece.messages.size()));
  for (const std::string& each : piece.messages) packer.list(std::vector<char>(each.begin(), each.end()));
  return packer.take();
}

PieceOutcomes unpack_outcomes(std::span<const std::byte> message) {
  Unpacker unpacker(message);
  PieceOutcomes piece;
  piece.begin = unpacker.number<std::uint64_t>();
  piece.outcomes.resize(unpacker.count());
  piece.seconds = unpacker.number<double>();
  for (Outcome& outcome : piece.outcomes) outcome.makespan = unpacker.number<Ticks>();
  for (Outcome& outcome : piece.outcomes) outcome.overflow = unpacker.number<Bytes>();
  for (Outcome& outcome : piece.outcomes) outcome.subject = unpacker.number<std::uint32_t>();
  for (Outcome& outcome : piece.outcomes) outcome.why = static_cast<Infeasible>(unpacker.number<std::uint8_t>());
  for (Outcome& outcome : piece.outcomes) outcome.device = unpacker.number<std::uint8_t>();
  piece.starts.resize(unpacker.count());
  for (auto& starts : piece.starts) starts = unpacker.list<Ticks>();
  piece.messages.resize(unpacker.count());
  for (std::string& each : piece.messages) {
    const auto text = unpacker.list<char>();
    each.assign(text.begin(), text.end());
  }
  unpacker.done();
  return piece;
}

}  // namespace emplace::dist
