// The batch engine: 16 placements in lock step under `in-order`, all with one common order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "emplace/problem/outcome.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::simulate {

inline constexpr std::size_t batch_lanes = 16;

// How the lanes are computed; all with equal results.
enum class BatchKernel : std::uint8_t {
  scalar,  // one placement after the other: the plain loop that the others are tested against
  plain,   // portable vectors
  avx2,
  avx512,
};
std::string_view name_of(BatchKernel kernel);  // "scalar", "plain", "avx2", "avx512"
std::vector<BatchKernel> batch_kernels();      // what this processor runs, the fastest last

// False where a channel with contention carries what several devices send (a transfer's turn is then not known when it
// is requested), or where times can add up to 2^53 ps or more (the lanes are doubles, which are exact below).
bool batch_supports(const Problem& problem);

// In lock step up to 64 devices if no route waits for two channels that other routes use apart from each other; other
// supported problems go through the exact engine, one placement after the other.
//
// Holds scratch memory for one Problem and one order: one engine a thread, no allocation after the first evaluation.
// The Problem must outlive the engine.
class BatchEngine {
 public:
  virtual ~BatchEngine() = default;
  // devices[i] points to the N devices of placement i, each below D; any number of placements. outcomes[i] is what the
  // exact engine says of it with the engine's order, to the tick and the byte. Where memory is limited, the lanes bound
  // its peaks from above (up to 8 devices); a placement whose bound exceeds a limit goes through the exact engine.
  // `peaks`, unless empty, has a row of D for each placement and gets the exact peak of each device, 0 where the
  // outcome is not timed: every placement then goes through the exact engine.
  virtual void evaluate(std::span<const std::uint8_t* const> devices, std::span<Outcome> outcomes,
                        std::span<Bytes> peaks = {}) = 0;
};

// `order`: every op once, producers before consumers. InputError unless batch_supports(problem), or for a bad order.
std::unique_ptr<BatchEngine> make_batch_engine(const Problem& problem, std::span<const std::uint32_t> order,
                                               BatchKernel kernel = batch_kernels().back());

}  // namespace emplace::simulate
