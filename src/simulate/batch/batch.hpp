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

// How the lanes are computed; all kernels give equal results.
enum class BatchKernel : std::uint8_t {
  scalar,  // one placement after the other: the plain loop against which the others are tested
  plain,   // portable vectors
  avx2,
  avx512,
};
std::string_view name_of(BatchKernel kernel);  // "scalar", "plain", "avx2", "avx512"
std::vector<BatchKernel> batch_kernels();      // those that this processor can run, the fastest last

// False if a channel with contention carries what several devices send (the start of a transfer is then not known when
// it is requested), or if times can add up to 2^53 ps or more (the lanes are doubles, in which smaller integers are
// exact).
bool batch_supports(const Problem& problem);

// Simulates in lock step up to 64 devices, if no route waits for two channels, each of which other routes use without
// the other; other supported problems are simulated one placement after the other.
//
// Has scratch memory for one Problem and one order, so every thread needs its own engine. Nothing is allocated after
// the first evaluation. The Problem must outlive the engine.
class BatchEngine {
 public:
  virtual ~BatchEngine() = default;
  // devices[i] points to the N devices of placement i, each below D; any number of placements. outcomes[i] equals the
  // exact engine's outcome with the engine's order, to the tick and the byte. Where memory is limited (and there are at
  // most 8 devices), the lanes compute upper bounds of the peaks, and only a placement whose bound exceeds a limit is
  // evaluated by the exact engine. `peaks`, unless empty, has a row of D for each placement and gets the exact peak of
  // each device, or 0 if the outcome is not timed; then every placement is evaluated by the exact engine.
  virtual void evaluate(std::span<const std::uint8_t* const> devices, std::span<Outcome> outcomes,
                        std::span<Bytes> peaks = {}) = 0;
};

// `order`: every op once, producers before consumers. InputError if batch_supports(problem) is false, or for an invalid
// order.
std::unique_ptr<BatchEngine> make_batch_engine(const Problem& problem, std::span<const std::uint32_t> order,
                                               BatchKernel kernel = batch_kernels().back());

}  // namespace emplace::simulate
