#include "dist/wire.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "emplace/base/error.hpp"

namespace rc {

template <>
struct Arbitrary<emplace::Placement> {
  static Gen<emplace::Placement> arbitrary() {
    return gen::mapcat(gen::arbitrary<std::vector<std::uint8_t>>(), [](std::vector<std::uint8_t> device) {
      const auto order = gen::container<std::vector<std::uint32_t>>(device.size(), gen::arbitrary<std::uint32_t>());
      const auto maybe = gen::oneOf(gen::just(std::vector<std::uint32_t>{}), order);
      return gen::map(maybe, [device](std::vector<std::uint32_t> ids) { return emplace::Placement{device, ids}; });
    });
  }
};

template <>
struct Arbitrary<emplace::Outcome> {
  static Gen<emplace::Outcome> arbitrary() {
    using emplace::Outcome;
    return gen::build<Outcome>(gen::set(&Outcome::makespan), gen::set(&Outcome::overflow),
                               gen::set(&Outcome::why, gen::cast<emplace::Infeasible>(gen::inRange<int>(0, 7))),
                               gen::set(&Outcome::device), gen::set(&Outcome::subject));
  }
};

}  // namespace rc

namespace emplace::dist::wire_test {
namespace {

TEST(Wire, BringsPiecesBackAsTheyWere) {
  EXPECT_TRUE(
      rc::check("pack and unpack are inverse", [](const std::vector<Placement>& placements, std::uint64_t begin) {
        std::vector<evaluate::EvaluationJob> jobs;
        std::vector<Ticks> starts;
        for (std::uint32_t i = 0; i < placements.size(); ++i)
          jobs.push_back({i * 7, &placements[i], i % 2 == 0 ? &starts : nullptr, i * 3});
        const Piece piece = unpack_piece(pack_piece(begin, jobs));
        RC_ASSERT(piece.begin == begin);
        RC_ASSERT(piece.placements == placements);
        for (std::uint32_t i = 0; i < placements.size(); ++i) {
          RC_ASSERT(piece.problems.at(i) == i * 7);
          RC_ASSERT(piece.series.at(i) == i * 3);
          RC_ASSERT(piece.wants_starts.at(i) == (i % 2 == 0));
        }
      }));
}

TEST(Wire, BringsOutcomesBackAsTheyWere) {
  EXPECT_TRUE(rc::check("pack and unpack are inverse", [](const std::vector<Outcome>& outcomes, std::uint64_t begin,
                                                          const std::vector<std::vector<Ticks>>& starts,
                                                          const std::vector<std::string>& messages) {
    const PieceOutcomes back = unpack_outcomes(pack_outcomes({begin, 0.25, outcomes, starts, messages}));
    RC_ASSERT(back.messages == messages);
    RC_ASSERT(back.begin == begin);
    RC_ASSERT(back.starts == starts);
    RC_ASSERT(back.seconds == 0.25);
    RC_ASSERT(back.outcomes == outcomes);
  }));
}

// begin 8, count 4; two jobs of problem 4, series 4, ops 4, flags 1; 3 + 2 device bytes; an order of 2 ids of 4 bytes.
// Outcomes: begin 8, count 4, seconds 8; 8 + 8 + 4 + 1 + 1 bytes for each; lists of starts 4, messages 4.
TEST(Wire, HasNoPadding) {
  const Placement plain{{0, 1, 2}, {}};
  const Placement ordered{{0, 1}, {1, 0}};
  const evaluate::EvaluationJob jobs[] = {{0, &plain}, {1, &ordered}};
  EXPECT_EQ(pack_piece(0, jobs).size(), 12 + 2 * 13 + 5 + 8);
  EXPECT_EQ(packed_bytes(jobs[0]), 16U);
  EXPECT_EQ(packed_bytes(jobs[1]), 23U);
  EXPECT_EQ(pack_outcomes({0, 0, std::vector<Outcome>(3), {}, {}}).size(), 28 + 3 * 22);
}

TEST(Wire, FindsMessagesThatAreCutOrTooLong) {
  const Placement placement{{0, 1, 2}, {2, 1, 0}};
  const evaluate::EvaluationJob job{0, &placement};
  std::vector<std::byte> piece = pack_piece(0, std::span(&job, 1));
  std::vector<std::byte> outcomes = pack_outcomes({0, 0, std::vector<Outcome>(2), {{1, 2}, {}}, {"why", ""}});
  for (std::size_t size = 0; size < piece.size(); ++size)
    EXPECT_THROW(unpack_piece(std::span(piece).first(size)), BugError) << size;
  for (std::size_t size = 0; size < outcomes.size(); ++size)
    EXPECT_THROW(unpack_outcomes(std::span(outcomes).first(size)), BugError) << size;
  piece.push_back(std::byte{0});
  outcomes.push_back(std::byte{0});
  EXPECT_THROW(unpack_piece(piece), BugError);
  EXPECT_THROW(unpack_outcomes(outcomes), BugError);
}

}  // namespace
}  // namespace emplace::dist::wire_test
