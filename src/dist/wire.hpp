// Pieces of a batch and their outcomes as bytes: fixed-width numbers one after the other, no padding. Ranks of one job
// run the same binary, so numbers keep the machine's byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emplace/evaluate/evaluator.hpp"
#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"

namespace emplace::dist {

// begin u64, count u32; then for each job: problem u32, series u32, ops u32, flags u8 (1: ordered, 2: wants starts),
// device u8 x ops, order u32 x (ops if ordered).
std::vector<std::byte> pack_piece(std::uint64_t begin, std::span<const evaluate::EvaluationJob> jobs);

// The bytes that a job adds to the message of its piece.
std::size_t packed_bytes(const evaluate::EvaluationJob& job);

struct Piece {
  std::uint64_t begin = 0;  // position of the first job in the master's batch
  std::vector<std::uint32_t> problems;
  std::vector<Placement> placements;
  std::vector<std::uint32_t> series;
  std::vector<std::uint8_t> wants_starts;
};

Piece unpack_piece(std::span<const std::byte> message);

struct PieceOutcomes {
  std::uint64_t begin = 0;
  double seconds = 0;  // how long the worker took; only changes the size of later pieces
  std::vector<Outcome> outcomes;
  std::vector<std::vector<Ticks>> starts;  // one per outcome, empty if not asked for or not timed; or an empty list
  std::vector<std::string> messages;       // one per outcome, empty if it has none; or an empty list
};

// begin u64, count u32, seconds f64, makespan i64 x count, overflow i64 x count, subject u32 x count, why u8 x count,
// device u8 x count, lists of starts u32 (count or 0), then for each: length u32, start i64 x length, messages u32
// (count or 0), then for each: length u32, byte x length.
std::vector<std::byte> pack_outcomes(const PieceOutcomes& piece);
PieceOutcomes unpack_outcomes(std::span<const std::byte> message);

}  // namespace emplace::dist
