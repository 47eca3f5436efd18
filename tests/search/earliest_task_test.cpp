// The placements of the quick m-ETF and m-SCT are those of the plain ones.
#include "search/list/earliest_task.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "search/list/favourite_children.hpp"
#include "tests/search/plain_earliest_task.hpp"
#include "tests/search/random_step.hpp"

namespace emplace::search::earliest_task_test {
namespace {

using test::random_step_problem;

// Layers of ops on like GPUs and a CPU, as bench/large makes them: most data reach most devices at one time.
Problem layered_problem(Stream& random, std::size_t devices, std::size_t ops, Bytes memory) {
  constexpr std::size_t width = 6;
  ProblemBuilder builder("layers");
  for (std::size_t d = 0; d + 1 < devices; ++d) builder.add_device({"g" + std::to_string(d), "gpu", memory});
  builder.add_device({"c", "cpu", no_memory_limit});
  const std::uint32_t kinds = 1 + random.below(2);  // of routes
  for (std::size_t from = 0; from < devices; ++from)
    for (std::size_t to = 0; to < devices; ++to)
      if (from != to)
        builder.add_route(DeviceId{from}, DeviceId{to},
                          {builder.add_channel({std::to_string(from) + ">" + std::to_string(to),
                                                1e-12 * random.below(kinds), 1e12 / (1 + random.below(kinds)), true})});
  for (std::size_t op = 0; op < ops; ++op) {
    OpSpec spec{.name = std::to_string(op), .type = "", .seconds = {}, .resident = random.below(3)};
    const double seconds = 1e-12 * (1 + random.below(9));
    for (std::size_t d = 0; d < devices; ++d) spec.seconds.push_back(d + 1 < devices ? seconds : 4 * seconds);
    const bool grouped = random.below(20) == 0;
    if (!grouped && random.below(20) == 0)
      spec.seconds[random.below(static_cast<std::uint32_t>(devices))] = std::nan("");
    if (grouped) spec.colocate = "g" + std::to_string(random.below(3));
    builder.add_op(std::move(spec));
  }
  for (std::size_t op = 0; op < ops; ++op) {
    std::vector<OpId> to;
    const std::size_t layer = op / width + 1;
    for (std::size_t next = layer * width; next < std::min(ops, (layer + 1) * width); ++next)
      if (random.below(4) == 0) to.emplace_back(next);
    builder.add_tensor(OpId{op}, random.below(12), to);
  }
  return builder.build();
}

// How many ops have another device or place in the order than in the plain schedule, in both methods and all views.
void expect_as_plain(const Problem& problem, const std::string& what) {
  const Units units(problem);
  const Deadline never{std::nullopt};
  for (const bool waits : {false, true}) {
    std::vector<std::uint32_t> favourite;
    if (waits) favourite = favourite_children(problem, MeanCosts(problem), 0).consumer;
    for (const MemoryView view : {MemoryView::outputs, MemoryView::resident, MemoryView::none}) {
      const ListPlacement quick = earliest_task_first(problem, units, view, never, favourite);
      const ListPlacement plain = plain::EarliestTaskFirst(problem, units, view, favourite).run();
      ASSERT_EQ(quick.placement.device, plain.placement.device) << what << (waits ? ", m-sct" : ", m-etf");
      ASSERT_EQ(quick.placement.order, plain.placement.order) << what << (waits ? ", m-sct" : ", m-etf");
      ASSERT_EQ(quick.scheduled, problem.op_count());
    }
  }
}

TEST(EarliestTask, PlacesRandomProblemsAsThePlainMethodDoes) {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Stream random({.seed = seed});
    expect_as_plain(random_step_problem(random, 24, 6), "seed " + std::to_string(seed));
    if (HasFatalFailure()) return;
  }
}

TEST(EarliestTask, PlacesLayersOnLikeDevicesAsThePlainMethodDoes) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Stream random({.seed = seed});
    const std::size_t devices = 2 + random.below(8), ops = 20 + random.below(100);
    // Ample memory, and little: some devices fill up, or all of them.
    for (const Bytes memory : {no_memory_limit, Bytes{60} + random.below(200)}) {
      expect_as_plain(layered_problem(random, devices, ops, memory), "seed " + std::to_string(seed));
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace emplace::search::earliest_task_test
