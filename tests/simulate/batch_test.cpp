// The batch engine against the exact and the reference engine in-order, with every kernel that this processor runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>

#include "emplace/base/error.hpp"
#include "emplace/simulate/batch.hpp"
#include "emplace/simulate/engine.hpp"
#include "simulate/toy.hpp"
#include "support/random_problem.hpp"

namespace emplace {
namespace {

using test::Joined;
using test::RandomPlacement;
using test::RandomProblem;
using test::Toy;

[[maybe_unused]] const int cases = setenv("RC_PARAMS", "max_success=500", 0);

std::vector<const std::uint8_t*> pointers(const std::vector<Placement>& placements) {
  std::vector<const std::uint8_t*> devices;
  for (const Placement& placement : placements) devices.push_back(placement.device.data());
  return devices;
}

// Placements of the genes on `problem`, all with the order of the first.
std::vector<Placement> placements_of(const Problem& problem, const std::vector<RandomPlacement>& genes) {
  std::vector<Placement> placements;
  for (const RandomPlacement& random : genes) placements.push_back(placement_of(problem, random));
  for (Placement& placement : placements) placement.order = placements[0].order;
  return placements;
}

void assert_equal(const Problem& problem, const std::vector<Placement>& placements) {
  const auto reference = make_reference_engine(problem, Schedule::in_order);
  const auto exact = make_exact_engine(problem, Schedule::in_order);
  const std::vector<const std::uint8_t*> devices = pointers(placements);
  const std::size_t row = problem.device_count();
  for (const BatchKernel kernel : batch_kernels()) {
    const auto batch = make_batch_engine(problem, placements[0].order, kernel);
    std::vector<Outcome> outcomes(placements.size()), with_memory(placements.size());
    std::vector<Bytes> peaks(placements.size() * row);
    // Twice: nothing may stay behind from the first time.
    batch->evaluate(devices, outcomes);
    batch->evaluate(devices, with_memory, peaks);
    batch->evaluate(devices, outcomes);
    for (std::size_t i = 0; i < placements.size(); ++i) {
      Usage usage;
      const Outcome expected = reference->evaluate(placements[i], {.usage = &usage, .timeline = nullptr});
      RC_ASSERT(expected == exact->evaluate(placements[i]));
      RC_ASSERT(outcomes[i].makespan == expected.makespan);
      RC_ASSERT(outcomes[i] == expected);
      RC_ASSERT(with_memory[i] == expected);
      std::vector<Bytes> peak(peaks.begin() + static_cast<std::ptrdiff_t>(i * row),
                              peaks.begin() + static_cast<std::ptrdiff_t>((i + 1) * row));
      usage.device_peak.resize(row);
      RC_ASSERT(peak == usage.device_peak);
    }
  }
}

// Many more problems have a supported network with these.
RandomProblem mostly_supported(RandomProblem random) {
  if (random.joined == Joined::bus || random.joined == Joined::nics || random.joined == Joined::shared_two_ways)
    random.joined = Joined::pairs;
  return random;
}

TEST(BatchEngine, EqualsTheReferenceInEveryLane) {
  EXPECT_TRUE(rc::check("batch", [](const RandomProblem& random) {
    const Problem problem = problem_of(mostly_supported(random));
    if (!batch_supports(problem)) RC_DISCARD();
    const auto genes = *rc::gen::nonEmpty(rc::gen::arbitrary<std::vector<RandomPlacement>>());
    assert_equal(problem, placements_of(problem, genes));
  }));
}

}  // namespace
}  // namespace emplace
