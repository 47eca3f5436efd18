#include <gtest/gtest.h>

#include <functional>

#include "emplace/problem/problem.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::same_test {
namespace {

using namespace test;

TEST(SameButForTheName, IsTrueOfTwoFilesOfOneProblem) {
  Problem renamed = chain_5(2);
  renamed.name = "another file";
  EXPECT_TRUE(same_but_for_the_name(chain_5(2), renamed));
}

TEST(SameButForTheName, IsFalseWhereAnythingElseDiffers) {
  const std::function<void(Problem&)> changes[] = {
      [](Problem& p) { p.devices[1].memory = 5; },
      [](Problem& p) { p.devices[1].kind = "cpu"; },
      [](Problem& p) { p.channels[0].latency_s *= 2; },
      [](Problem& p) { p.channels[0].contention = false; },
      [](Problem& p) { p.routes.items.back() = 0; },
      [](Problem& p) { p.op_names[2] = "renamed"; },
      [](Problem& p) { p.op_types[2] = "MatMul"; },
      [](Problem& p) { ++p.op_time[3]; },
      [](Problem& p) { ++p.resident[0]; },
      [](Problem& p) { ++p.scratch[0]; },
      [](Problem& p) { p.backward.assign(p.op_count(), 1); },
      [](Problem& p) { ++p.tensor_bytes[0]; },
      [](Problem& p) { ++p.transfer_time[0]; },
      [](Problem& p) { p.consumers.items[0] = 4; },
  };
  for (const auto& change : changes) {
    Problem other = chain_5(2);
    change(other);
    EXPECT_FALSE(same_but_for_the_name(chain_5(2), other)) << &change - changes;
  }
  EXPECT_FALSE(same_but_for_the_name(chain_5(2), chain_5(3)));
  EXPECT_FALSE(same_but_for_the_name(chain_5(2), fork_join(2)));
}

}  // namespace
}  // namespace emplace::same_test
