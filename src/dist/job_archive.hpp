// The jobs of placers and of polishing and their answers as bytes (Boost archives): for messages only, never on disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "search/common/placer_pool.hpp"
#include "search/local/polish.hpp"

namespace emplace::dist {

// What a worker needs beside the problem and the scoring, which it already has.
struct SentJob {
  std::uint64_t index = 0;  // in the master's list
  search::PoolJob job;
  std::optional<double> seconds;
  std::optional<Placement> start;
};

struct SentAnswer {
  std::uint64_t index = 0;
  std::optional<search::PlacerResult> result;
};

struct SentPolish {
  std::uint64_t index = 0;  // in the master's list
  search::PolishJob job;
};

struct SentPolished {
  std::uint64_t index = 0;
  search::PolishResult result;
};

std::vector<std::byte> pack(const SentJob& job);
std::vector<std::byte> pack(const SentAnswer& answer);
std::vector<std::byte> pack(const SentPolish& job);
std::vector<std::byte> pack(const SentPolished& answer);
// The message must come from pack() of the same program: the archive is not checked.
SentJob unpack_job(std::span<const std::byte> message);
SentAnswer unpack_answer(std::span<const std::byte> message);
SentPolish unpack_polish(std::span<const std::byte> message);
SentPolished unpack_polished(std::span<const std::byte> message);

}  // namespace emplace::dist
