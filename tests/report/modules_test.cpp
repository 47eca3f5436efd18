// Ops aggregated by module and device.
#include "report/modules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "tests/report/ops.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::report::modules_test {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

Problem of_names(const std::vector<std::string>& names, double seconds = 1) {
  ProblemBuilder builder("names");
  builder.add_device({"d0", "", no_memory_limit});
  builder.add_device({"d1", "", no_memory_limit});
  for (const std::string& name : names) builder.add_op(test::op(name, {seconds, seconds}));
  return builder.build();
}

TEST(Modules, AreDividedAsLongAsTheirPartsFit) {
  const Problem problem = of_names({"enc/0/a", "enc/0/b", "enc/1/a", "dec/a", "dec/b", "loss"});
  const std::vector<std::uint8_t> device(6, 0);
  EXPECT_THAT(modules_of(problem, device, 1).names, ElementsAre("all"));
  EXPECT_THAT(modules_of(problem, device, 3).names, UnorderedElementsAre("enc", "dec", "loss"));
  EXPECT_THAT(modules_of(problem, device, 4).names, UnorderedElementsAre("enc/0", "enc/1/a", "dec", "loss"))
      << "a part of one op has the op's name";
}

TEST(Modules, HaveAPartForEachDevice) {
  const Problem problem = of_names({"enc/a", "enc/b", "enc/c", "dec/a"});
  const Modules modules = modules_of(problem, std::vector<std::uint8_t>{0, 1, 0, 1}, 3);
  ASSERT_EQ(modules.count(), 3U);
  EXPECT_THAT(modules.names, UnorderedElementsAre("enc", "enc/b", "dec/a"));
  EXPECT_EQ(modules.of_op[0], modules.of_op[2]);
  EXPECT_NE(modules.of_op[0], modules.of_op[1]);
}

TEST(Modules, OfADividedModuleItsOwnOpsStayTogether) {
  const Problem problem = of_names({"net/a", "net/b", "net/block/c", "net/block/d"});
  EXPECT_THAT(modules_of(problem, std::vector<std::uint8_t>(4, 0), 2).names,
              UnorderedElementsAre("net/block", "net (its own ops)"));
}

TEST(Modules, OfManyLayersAreRangesOfNeighbours) {
  std::vector<std::string> names;
  for (int layer = 0; layer < 100; ++layer)
    for (const char* op : {"a", "b"}) names.push_back("h." + std::to_string(layer) + "/" + op);
  std::vector<std::uint8_t> device(200, 0);
  for (std::size_t op = 100; op < 200; ++op) device[op] = 1;
  const Modules modules = modules_of(of_names(names), device, 10);
  ASSERT_EQ(modules.count(), 8U) << "16 layers each, of which 48…63 is on both devices";
  EXPECT_EQ(modules.names[0], "h.0…15");
  EXPECT_EQ(modules.names.back(), "h.96…99");
}

TEST(Modules, ThatTheModelNamesWinOverTheNamesOfOps) {
  Problem problem = of_names({"x1", "x2", "x3"});
  problem.module.names = {"encoder", "decoder"};
  problem.module.of_op = {0, 0, 1};
  EXPECT_THAT(modules_of(problem, std::vector<std::uint8_t>(3, 0), 9).names, UnorderedElementsAre("encoder", "x3"));
}

TEST(Modules, OfHostileNamesAreBounded) {
  std::vector<std::string> names;
  for (int i = 0; i < 20'000; ++i) {
    std::string name = std::to_string(i);
    for (int depth = 0; depth < 40; ++depth) name += "/" + std::to_string(i * 7 + depth);
    names.push_back(name);
  }
  const Modules modules = modules_of(of_names(names), std::vector<std::uint8_t>(names.size(), 1), 40);
  EXPECT_LE(modules.count(), 40U);
}

TEST(Modules, HoldEveryOpOnceAndEachIsOnOneDevice) {
  EXPECT_TRUE(rc::check("parts", [](const test::RandomProblem& random, const test::RandomPlacement& genes) {
    Problem problem = test::problem_of(random);
    for (std::string& name : problem.op_names)
      for (char& c : name) c = *rc::gen::element('a', 'b', '/', '.');
    const std::vector<std::uint8_t> device = test::placement_of(problem, genes).device;
    const std::set<std::uint8_t> used(device.begin(), device.end());
    const std::size_t most = *rc::gen::inRange<std::size_t>(1, 20);
    const Modules modules = modules_of(problem, device, most);
    RC_ASSERT(modules.count() <= std::max(most, used.size()));
    RC_ASSERT(modules.names.size() == modules.count());
    std::size_t ops = 0;
    for (std::size_t part = 0; part < modules.count(); ++part) {
      RC_ASSERT(!modules.members[part].empty());
      for (const std::uint32_t op : modules.members[part]) {
        RC_ASSERT(modules.of_op[op] == part);
        RC_ASSERT(device[op] == device[modules.members[part].front()]);
      }
      ops += modules.members[part].size();
    }
    RC_ASSERT(ops == problem.op_count());
  }));
}

}  // namespace
}  // namespace emplace::report::modules_test
