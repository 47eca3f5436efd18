#include "dist/problem_archive.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "emplace/problem/builder.hpp"

namespace emplace::dist::problem_archive_test {
namespace {

// Every field has a value other than its default: a device without a memory limit, a channel without contention, a pair
// without a route, a device that cannot run an op, a group, a tensor without consumers.
Problem full_problem() {
  ProblemBuilder builder("all µ fields");
  for (const Device& device :
       {Device{"cpu:0", "cpu", no_memory_limit}, Device{"gpu:0", "gpu", 1 << 30}, Device{"far", "", 5}})
    builder.add_device(device);
  const ChannelId bus = builder.add_channel({"bus", 1.0 / 3, 1e9, true});
  const ChannelId free = builder.add_channel({"free", 0, 7, false});
  builder.add_route(DeviceId{0}, DeviceId{1}, {bus, free});
  builder.add_route(DeviceId{1}, DeviceId{0}, {bus});
  for (const char* name : {"a", "b", "c"}) {
    OpSpec op;
    op.name = name;
    op.type = std::string("Type") + name;
    op.seconds = {1, std::numeric_limits<double>::quiet_NaN(), name[0] == 'b' ? 0 : 2.5};
    op.resident = 11;
    op.scratch = 13;
    if (name[0] != 'c') op.colocate = "together";
    op.backward = name[0] == 'c';
    builder.add_op(op);
  }
  builder.add_tensor(OpId{0}, 17, {OpId{1}, OpId{2}});
  builder.add_tensor(OpId{1}, 19, {});
  return builder.build();
}

void expect_equal(const Lists& a, const Lists& b) {
  EXPECT_EQ(a.begin, b.begin);
  EXPECT_EQ(a.items, b.items);
}

void expect_equal(const Problem& a, const Problem& b) {
  EXPECT_EQ(a.name, b.name);
  ASSERT_EQ(a.devices.size(), b.devices.size());
  for (std::size_t d = 0; d < a.devices.size(); ++d) {
    EXPECT_EQ(a.devices[d].name, b.devices[d].name);
    EXPECT_EQ(a.devices[d].kind, b.devices[d].kind);
    EXPECT_EQ(a.devices[d].memory, b.devices[d].memory);
  }
  ASSERT_EQ(a.channels.size(), b.channels.size());
  for (std::size_t c = 0; c < a.channels.size(); ++c) {
    EXPECT_EQ(a.channels[c].name, b.channels[c].name);
    EXPECT_EQ(a.channels[c].latency_s, b.channels[c].latency_s);
    EXPECT_EQ(a.channels[c].bytes_per_s, b.channels[c].bytes_per_s);
    EXPECT_EQ(a.channels[c].contention, b.channels[c].contention);
  }
  expect_equal(a.routes, b.routes);
  EXPECT_EQ(a.route_class, b.route_class);
  EXPECT_EQ(a.given_transfer_times, b.given_transfer_times);
  EXPECT_EQ(a.max_cuts, b.max_cuts);
  ASSERT_EQ(a.route_classes.size(), b.route_classes.size());
  for (std::size_t r = 0; r < a.route_classes.size(); ++r) {
    EXPECT_EQ(a.route_classes[r].latency_s, b.route_classes[r].latency_s);
    EXPECT_EQ(a.route_classes[r].bytes_per_s, b.route_classes[r].bytes_per_s);
  }
  EXPECT_EQ(a.op_names, b.op_names);
  EXPECT_EQ(a.op_types, b.op_types);
  EXPECT_EQ(a.op_time, b.op_time);
  EXPECT_EQ(a.zero_cost, b.zero_cost);
  EXPECT_EQ(a.backward, b.backward);
  EXPECT_EQ(a.resident, b.resident);
  EXPECT_EQ(a.scratch, b.scratch);
  EXPECT_EQ(a.group, b.group);
  EXPECT_EQ(a.group_names, b.group_names);
  EXPECT_EQ(a.producer, b.producer);
  EXPECT_EQ(a.tensor_bytes, b.tensor_bytes);
  expect_equal(a.consumers, b.consumers);
  EXPECT_EQ(a.transfer_time, b.transfer_time);
  expect_equal(a.inputs, b.inputs);
  expect_equal(a.outputs, b.outputs);
  EXPECT_EQ(a.topological, b.topological);
}

TEST(ProblemArchive, BringsBackEveryFieldOfEveryProblem) {
  Problem full = full_problem();
  full.max_cuts = 3;
  ProblemBuilder builder("one op");
  builder.add_device({"only", "", no_memory_limit});
  OpSpec op;
  op.name = "op";
  op.seconds = {1};
  builder.add_op(op);
  const Problem small = builder.build();
  const Problem* const problems[] = {&full, &small, &full};
  const SharedProblems back =
      restore_problems(archive_problems(problems, {Schedule::in_order, Objective::pipeline},
                                        {"sleep", ConfigTable::parse_toml("seconds = 0.25", "here")}));
  EXPECT_EQ(back.scoring.schedule, Schedule::in_order);
  EXPECT_EQ(back.scoring.objective, Objective::pipeline);
  EXPECT_EQ(back.evaluator.name, "sleep");
  EXPECT_EQ(back.evaluator.options.number("seconds"), 0.25);
  EXPECT_EQ(back.evaluator.options.place(), "here");
  ASSERT_EQ(back.problems.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) expect_equal(back.problems[i], *problems[i]);
}

TEST(ProblemArchive, BringsBackGivenTransferTimes) {
  ProblemBuilder builder("given");
  for (const char* name : {"p", "q"}) builder.add_device({name, "", no_memory_limit});
  const ChannelId link = builder.add_channel({"link", 0, 1, false});
  builder.give_transfer_times(2);
  builder.add_route(DeviceId{0}, DeviceId{1}, {link}, {}, 1);
  builder.add_route(DeviceId{1}, DeviceId{0}, {link}, {}, 0);
  for (const char* name : {"a", "b"}) {
    OpSpec op;
    op.name = name;
    op.seconds = {1, 0};
    op.backward = op.name == "b";
    builder.add_op(op);
  }
  const std::vector<double> seconds = {2, 3};
  builder.add_tensor(OpId{0}, 0, {OpId{1}}, {}, seconds);
  const Problem problem = builder.build();
  const Problem* const problems[] = {&problem};
  expect_equal(restore_problems(archive_problems(problems, Schedule::fifo, {})).problems.front(), problem);
}

TEST(ProblemArchive, HoldsNoProblemsToo) {
  EXPECT_TRUE(restore_problems(archive_problems({}, Schedule::fifo, {})).problems.empty());
}

}  // namespace
}  // namespace emplace::dist::problem_archive_test
