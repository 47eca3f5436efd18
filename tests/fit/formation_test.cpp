#include "fit/formation.hpp"

#include <gmock/gmock.h>

#include "emplace/source/load_problem.hpp"
#include "language/language_graph.hpp"
#include "language/shard.hpp"
#include "tests/fit/gpu_machines.hpp"
#include "tests/fit/tiny_models.hpp"

namespace emplace::fit {
namespace {

using ::testing::ElementsAre;
using Members = std::vector<std::size_t>;

const Rules all_rules = {.whole_layers = true,
                         .in_pieces = true,
                         .uses_hosts = false,
                         .tensor_parallel = true,
                         .repeats_keys = true,
                         .replicas = true};

std::vector<std::string> names(const std::vector<Formation>& formations) {
  std::vector<std::string> list;
  for (const Formation& each : formations) {
    std::string text;
    for (const machine::MachineDevice& device : each.machine.devices) text += device.name + " ";
    list.push_back(text + name_of(each.parallel.tensor, each.parallel.replicas));
  }
  return list;
}

TEST(Formation, TriesGroupsThatTheHeadsDivideIntoAndAsManyReplicasAsThereAreGroups) {
  const auto machine = gpus(4);
  EXPECT_THAT(names(formations_of(machine, tiny_model(), all_rules, Aim::throughput, 8)),
              ElementsAre("cpu gpu:0 gpu:1 gpu:2 gpu:3 layers in order",  //
                          "cpu gpu:0 gpu:1 2 replicas",                   //
                          "cpu gpu:0 4 replicas",                         //
                          "cpu gpu:0-1 gpu:2-3 tensor-parallel over 2 devices each",
                          "cpu gpu:0-1 tensor-parallel over 2 devices each, 2 replicas",
                          "cpu gpu:0-3 tensor-parallel over 4 devices each"));
}

TEST(Formation, HasOneReplicaForLatencyAndNoMoreThanSequences) {
  const auto machine = gpus(4);
  for (const Formation& each : formations_of(machine, tiny_model(), all_rules, Aim::latency, 8))
    EXPECT_EQ(each.parallel.replicas, 1U);
  std::size_t most = 0;
  for (const Formation& each : formations_of(machine, tiny_model(), all_rules, Aim::throughput, 3))
    most = std::max(most, each.parallel.replicas);
  EXPECT_EQ(most, 3U) << "one replica for each sequence, one device is left";
}

TEST(Formation, IsPlainForRuntimesThatDivideNoLayer) {
  EXPECT_EQ(formations_of(gpus(4), tiny_model(), Rules{}, Aim::throughput, 8).size(), 1U);
}

TEST(Formation, HasNoMoreDevicesInAGroupThanKeyValueHeadsWhereTheRuntimeDoesNotRepeatThem) {
  auto shape = tiny_architecture();
  shape.kv_heads = 2;
  const auto model = language::make_language_model(shape, "shared keys");
  Rules rules = all_rules;
  EXPECT_EQ(formations_of(gpus(4), model, rules, Aim::latency, 1).back().parallel.tensor, 4);
  rules.repeats_keys = false;
  EXPECT_EQ(formations_of(gpus(4), model, rules, Aim::latency, 1).back().parallel.tensor, 2);
}

TEST(Formation, JoinsOnlyEqualDevicesOfOneHostThatHaveRoutes) {
  // gpu:0 and gpu:1 are equal, big:0 has more memory.
  const auto unlike = gpus(2, {.more = 1});
  EXPECT_THAT(names(formations_of(unlike, tiny_model(), all_rules, Aim::latency, 1)),
              ElementsAre("cpu gpu:0 gpu:1 big:0 layers in order", "cpu gpu:0-1 tensor-parallel over 2 devices each"));
  EXPECT_EQ(formations_of(gpus(2, {.peers = false}), tiny_model(), all_rules, Aim::latency, 1).size(), 1U);
  // Two hosts of two devices: groups of two, none of four, and a replica for each host.
  const auto hosts = gpus(2, {.hosts = 2});
  const auto formations = formations_of(hosts, tiny_model(), all_rules, Aim::throughput, 8);
  const Formation& last = formations.back();
  EXPECT_EQ(last.parallel.tensor, 2);
  EXPECT_EQ(last.parallel.replicas, 2U);
  EXPECT_EQ(last.parallel.accelerators.back()[1].host, "host1");
  EXPECT_EQ(last.parallel.accelerators.back()[1].number, 1);
}

TEST(Formation, DividesUnlikeGroupsEquallyAmongReplicas) {
  // Four gpus and two big ones: two replicas of two and one.
  const auto formations = formations_of(gpus(4, {.more = 2}), tiny_model(), all_rules, Aim::throughput, 8);
  const auto found = std::ranges::find_if(
      formations, [](const Formation& f) { return f.parallel.tensor == 1 && f.parallel.replicas == 2; });
  ASSERT_NE(found, formations.end());
  // cpu is device 0, then gpu:0 to gpu:3, then big:0 and big:1.
  EXPECT_THAT(found->members, ElementsAre(Members{0}, Members{1}, Members{2}, Members{5},  //
                                          Members{0}, Members{3}, Members{4}, Members{6}));
}

TEST(Formation, CountsWhatTheDevicesOfAGroupExchange) {
  const auto machine = gpus(2);
  const auto model = *language::shard_of(tiny_model(), 2);
  const Formation pair = formations_of(machine, tiny_model(), all_rules, Aim::latency, 1)[1];
  // Links have 1 us and 1 GB/s, one for each direction.
  EXPECT_DOUBLE_EQ(pair.rings[1].latency_s, 1e-6);
  EXPECT_DOUBLE_EQ(pair.rings[1].s_per_byte, 1e-9);
  const Graph graph = language::language_graph(model, {.context = 256}, "m");
  const Problem before = source::make_problem(graph, pair.machine, {}, "m").problem;
  Problem after = before;
  add_exchanges(after, pair);
  Ticks added = 0;
  for (std::size_t op = 0; op < before.op_count(); ++op)
    added += after.time(OpId{op}, DeviceId{std::size_t{1}}) - before.time(OpId{op}, DeviceId{std::size_t{1}});
  // Five all-reduces (the embedding, and two in each of two layers) of 64 numbers of 4 bytes: two steps of 1 us and 128
  // bytes. The other half of 512 logits: one step of 1 us and 1024 bytes. In picoseconds.
  EXPECT_EQ(added, 5 * (2 * (1'000'000 + 128'000)) + 1'000'000 + 1'024'000);
  EXPECT_EQ(after.op_time[0], before.op_time[0]) << "the host is no group";
}

TEST(Formation, SharesABusAmongTheHopsOfARing) {
  // Around four devices there are four hops, all on one bus of 1 GB/s.
  const auto formations = formations_of(gpus(4, {.bus = true}), tiny_model(), all_rules, Aim::latency, 1);
  EXPECT_DOUBLE_EQ(formations.back().rings[1].s_per_byte, 4e-9);
  // Two groups of two at the same time share it too.
  for (const Aim aim : {Aim::latency, Aim::throughput}) {
    const auto pairs = formations_of(gpus(4, {.bus = true}), tiny_model(), all_rules, aim, 1);
    const auto found = std::ranges::find_if(pairs, [](const Formation& f) { return f.parallel.tensor == 2; });
    EXPECT_DOUBLE_EQ(found->rings[1].s_per_byte, aim == Aim::latency ? 2e-9 : 4e-9);
  }
}

}  // namespace
}  // namespace emplace::fit
