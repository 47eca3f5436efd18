// Does it learn? docs/papers/post.md, section 7, items 6 and 7.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "emplace/base/random.hpp"
#include "tests/learn/training.hpp"

namespace emplace::learn::learning_test {
namespace {

using namespace test;

// The samples of a training on a toy contain the optimum whatever it learns, so these tests ask for the likeliest
// placement too. Without learning that is all ops on device 0: 28 ms on chain-5, 22 on fork-join, 80 on two chains.
TEST(Post, SolvesTheToys) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Training chain(chain_5(2), "post", {}, seed);
    EXPECT_EQ(chain.run(), 20 * ms);
    EXPECT_EQ(chain.trainer->best()[0].placement.device, (std::vector<std::uint8_t>{0, 1, 1, 1, 0}));
    EXPECT_EQ(chain.likeliest().placement.device, (std::vector<std::uint8_t>{0, 1, 1, 1, 0}));
    Training dear(chain_5(5), "post", {}, seed);
    EXPECT_EQ(dear.run(), 24 * ms);
    EXPECT_EQ(dear.trainer->best()[0].placement.device, (std::vector<std::uint8_t>{1, 1, 1, 1, 1}));
    EXPECT_EQ(dear.likeliest().placement.device, (std::vector<std::uint8_t>{1, 1, 1, 1, 1}));
    // x = 2: s ends at 1; b is there at 3 and ends at 13; a ends at 11 and is there at 13; t 13..14. Both here: 22.
    Training fork(fork_join(2), "post", {}, seed);
    EXPECT_EQ(fork.run(), 14 * ms);
    EXPECT_EQ(fork.likeliest().outcome.makespan, 14 * ms);
  }
}

TEST(Post, SolvesTheToysWithJointRatiosToo) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Training chain(chain_5(2), "post", table({{"ratio", text("joint")}}), seed);
    EXPECT_EQ(chain.run(), 20 * ms);
    EXPECT_EQ(chain.likeliest().outcome.makespan, 20 * ms);
  }
}

TEST(Post, NearlySolvesTwoChains) {
  // 2 of 256 placements have 40. Placements in which both chains change devices half-way have 20 + 1 + 20 = 41, and
  // independent distributions cannot get from there to 40: 17 of 200 seeds draw nothing better, and all draw that.
  // The likeliest placement is one of the 16 that keep both devices busy until the end, in which the chains change
  // devices at up to three places: at most 43.
  int solved = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Training training(two_chains(1), "post", {}, seed);
    const Ticks best = training.run();
    EXPECT_LE(best, 41 * ms) << "seed " << seed;
    EXPECT_LE(training.likeliest().outcome.makespan, 43 * ms) << "seed " << seed;
    solved += best == 40 * ms;
  }
  EXPECT_GE(solved, 16);
}

TEST(Post, PrefersTheFastestDeviceOfEveryOpWhereTransfersAreFree) {
  Training training(chain_5(0), "post");
  training.run();
  EXPECT_EQ(test::greedy(*training.policy, 0).placement.device, (std::vector<std::uint8_t>{0, 1, 1, 1, 0}));
}

struct Chain {
  std::vector<std::vector<double>> cost;  // op, device
  double x = 2;

  Chain(std::size_t ops, std::size_t devices, std::uint64_t seed) : cost(ops, std::vector<double>(devices)) {
    Stream random{{.seed = seed, .purpose = Purpose::test}};
    for (auto& row : cost)
      for (double& c : row) c = 1 + 9 * random.uniform();
  }
  [[nodiscard]] Problem problem() const {
    std::vector<TinyOp> ops;
    std::vector<TinyEdge> edges;
    for (std::size_t v = 0; v < cost.size(); ++v) {
      ops.push_back({"op" + std::to_string(v), cost[v]});
      if (v > 0) edges.push_back({v - 1, v});
    }
    return tiny(plain_devices(cost.front().size()), ops, edges, x);
  }
  // V_j(v) = p(v,j) + min(V_j(v-1), min_i V_i(v-1) + x), milliseconds.
  [[nodiscard]] double optimum() const {
    std::vector<double> v(cost.front().size(), 0);
    for (std::size_t op = 0; op < cost.size(); ++op) {
      const double cheapest = *std::min_element(v.begin(), v.end()) + (op == 0 ? 0 : x);
      for (std::size_t j = 0; j < v.size(); ++j) v[j] = cost[op][j] + std::min(v[j], cheapest);
    }
    return *std::min_element(v.begin(), v.end());
  }
};

double mean_ratio(std::size_t ops, std::size_t devices, const ConfigTable& options) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Chain chain(ops, devices, seed);
    sum += static_cast<double>(Training(chain.problem(), "post", options, seed).run()) / ms / chain.optimum();
  }
  return sum / 4;
}

TEST(Post, ComesWithinTwoPercentOfTheOptimumOfChainsOnTwoDevices) {
  const double ratio = mean_ratio(50, 2, {});
  RecordProperty("mean_ratio", std::to_string(ratio));
  EXPECT_LE(ratio, 1.02);
  EXPECT_GE(ratio, 1 - 1e-9) << "below the optimum: the recursion or the simulator is wrong";
}

TEST(Post, ComesWithinFivePercentOfTheOptimumOfChainsOnFourDevices) {
  const double ratio = mean_ratio(50, 4, {});
  RecordProperty("mean_ratio", std::to_string(ratio));
  EXPECT_LE(ratio, 1.05);
  EXPECT_GE(ratio, 1 - 1e-9);
}

TEST(Post, IsNotWorseThanEitherPartAloneOnLongChains) {
  const double both = mean_ratio(200, 2, {});
  RecordProperty("both", std::to_string(both));
  EXPECT_LE(both, 1.05) << "the best of as many samples without learning is 1.29 times the optimum";
  for (const char* part : {"cross-entropy", "proximal"}) {
    const double alone = mean_ratio(200, 2, table({{"steps", text(part)}}));
    RecordProperty(part, std::to_string(alone));
    EXPECT_LE(both, alone) << part;
  }
}

TEST(Post, FindsGoodChainsInEveryForm) {
  // Switches of docs/papers/post.md, section 3; each within 2 % of the optimum of 20 ops. The best of as many samples
  // without learning is 7 % above it.
  for (const auto& options :
       {table({{"form", text("clip")}}), table({{"ce_window", text("all")}}), table({{"cost", text("sqrt")}})})
    EXPECT_LE(mean_ratio(20, 2, options), 1.02) << options.to_toml();
}

TEST(CrossEntropy, SolvesTheToys) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Training chain(chain_5(2), "cross-entropy", {}, seed);
    EXPECT_EQ(chain.run(), 20 * ms);
    EXPECT_EQ(chain.likeliest().placement.device, (std::vector<std::uint8_t>{0, 1, 1, 1, 0}));
    Training chains(two_chains(1), "cross-entropy", {}, seed);
    EXPECT_EQ(chains.run(), 40 * ms);
    EXPECT_LE(chains.likeliest().outcome.makespan, 43 * ms) << "see Post.NearlySolvesTwoChains";
  }
}

}  // namespace
}  // namespace emplace::learn::learning_test
