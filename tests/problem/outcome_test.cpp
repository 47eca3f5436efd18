#include "emplace/problem/outcome.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "emplace/base/random.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::outcome_test {
namespace {

using namespace test;

const Outcome fast{.makespan = 10};
const Outcome slow{.makespan = 20};
const Outcome split{.makespan = 1, .why = Infeasible::split_group};
const Outcome cuts_3{.makespan = 9, .why = Infeasible::too_many_cuts, .subject = 3};
const Outcome cuts_4{.makespan = 8, .why = Infeasible::too_many_cuts, .subject = 4};
const Outcome overflow_5{.makespan = 1, .overflow = 5, .why = Infeasible::memory};
const Outcome overflow_9{.makespan = 1, .overflow = 9, .why = Infeasible::memory};
const Outcome untimed{.why = Infeasible::unsupported_op};

TEST(Better, RanksFeasibleThenTimedThenOverflowThenCutsThenTime) {
  const Outcome ranked[] = {fast, slow, split, cuts_3, cuts_4, overflow_5, overflow_9, untimed};
  for (std::size_t i = 0; i < std::size(ranked); ++i)
    for (std::size_t j = 0; j < std::size(ranked); ++j) EXPECT_EQ(better(ranked[i], ranked[j]), i < j) << i << " " << j;
}

TEST(Better, IsAStrictWeakOrder) {
  EXPECT_TRUE(rc::check("irreflexive, asymmetric, transitive", [] {
    Stream random{{.seed = *rc::gen::arbitrary<std::uint64_t>()}};
    const auto draw = [&] {
      Outcome o{.makespan = static_cast<Ticks>(random.below(3)) - 1, .overflow = random.below(2)};
      o.why = static_cast<Infeasible>(random.below(static_cast<std::uint32_t>(Infeasible::too_many_cuts) + 1));
      o.subject = random.below(3);
      return o;
    };
    const Outcome a = draw(), b = draw(), c = draw();
    RC_ASSERT(!better(a, a));
    RC_ASSERT(!(better(a, b) && better(b, a)));
    if (better(a, b) && better(b, c)) RC_ASSERT(better(a, c));
  }));
}

TEST(ReasonText, CountsTheCutsAndNamesTheirLimit) {
  Problem p = tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, 1}}}, {{0, 1}});
  p.max_cuts = 4;
  EXPECT_EQ(reason_text(p, {.makespan = 1, .why = Infeasible::too_many_cuts, .subject = 12}, {0, 1}, {}),
            "12 tensors cross between devices, at most 4 may");
  p.max_cuts = 0;
  EXPECT_EQ(reason_text(p, {.makespan = 1, .why = Infeasible::too_many_cuts, .subject = 1}, {0, 1}, {}),
            "1 tensor crosses between devices, at most 0 may");
}

TEST(ReasonText, NamesWhatIsConcerned) {
  const Problem p = tiny({{"cpu:0", "cpu"}, {"gpu:0", "gpu", 1024}}, {{"a", {1, no}, "g"}, {"b", {1, 1}}}, {{0, 1}});
  const std::vector<std::uint8_t> devices = {0, 1};
  EXPECT_EQ(reason_text(p, fast, devices, {}), "");
  EXPECT_EQ(reason_text(p, {.why = Infeasible::unsupported_op, .device = 1, .subject = 0}, devices, {}),
            "op 'a' cannot run on device 'gpu:0'");
  EXPECT_EQ(reason_text(p, {.why = Infeasible::missing_route, .device = 1, .subject = 0}, devices, {}),
            "there is no route from device 'cpu:0' to device 'gpu:0', which the output of op 'a' needs");
  EXPECT_EQ(reason_text(p, {.why = Infeasible::not_measured}, devices, {}), "its time could not be measured");
  EXPECT_EQ(reason_text(p, {.makespan = 1, .why = Infeasible::split_group, .subject = 0}, devices, {}),
            "the co-location group 'g' is split over several devices");
  const Outcome memory{.makespan = 1, .overflow = 1024, .why = Infeasible::memory, .device = 1};
  EXPECT_EQ(reason_text(p, memory, devices, {}), "device 'gpu:0' has too little memory");
  Usage usage;
  usage.device_peak = {0, 2048};
  EXPECT_EQ(reason_text(p, memory, devices, usage), "device 'gpu:0' needs 2.00 KiB, 1.00 KiB more than it has");
}

}  // namespace
}  // namespace emplace::outcome_test
