#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "emplace/base/error.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/problem/builder.hpp"

namespace emplace::formats::placement_json_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// a -> b on a CPU and a GPU.
Problem chain() {
  ProblemBuilder builder("two-device chain");
  builder.add_device({.name = "cpu:0", .kind = "cpu"});
  builder.add_device({.name = "gpu:0", .kind = "gpu"});
  const OpId a = builder.add_op({.name = "a", .type = "MatMul", .seconds = {0.01, 0.001}, .colocate = {}});
  const OpId b = builder.add_op({.name = "b", .type = "Relu", .seconds = {0.01, 0.001}, .colocate = {}});
  builder.add_tensor(a, 4096, {b});
  return builder.build();
}

std::string file(const std::string& ops, const std::string& rest = {}) {
  return R"({"emplace": "placement/1", "problem": "two-device chain", "ops": )" + ops + rest + "}";
}
const std::string both = R"({"a": "gpu:0", "b": "cpu:0"})";

PlacementFile read(const std::string& text) { return read_placement_json(text, "p.json", chain()); }

TEST(PlacementJson, ReadsTheExampleOfTheDesignPage) {
  const PlacementFile f = read(file(both));
  EXPECT_THAT(f.placement.device, ElementsAre(1, 0));
  EXPECT_TRUE(f.placement.order.empty());
  EXPECT_FALSE(f.schedule.has_value());
  EXPECT_EQ(f.problem_name, "two-device chain");
}

TEST(PlacementJson, ReadsAScheduleWithItsOrder) {
  const PlacementFile f = read(file(both, R"(, "schedule": "in-order", "order": ["a", "b"])"));
  EXPECT_EQ(f.schedule, Schedule::in_order);
  EXPECT_THAT(f.placement.order, ElementsAre(0, 1));
}

TEST(PlacementJson, ANullOrderIsNone) {
  const PlacementFile f = read(file(both, R"(, "order": null)"));
  EXPECT_TRUE(f.placement.order.empty());
  EXPECT_FALSE(f.schedule.has_value());
  EXPECT_EQ(read(file(both, R"(, "order": null, "schedule": "priority")")).schedule, Schedule::priority);
}

TEST(PlacementJson, AnotherProblemsNameIsReportedNotRefused) {
  EXPECT_EQ(read(R"({"emplace": "placement/1", "problem": "other", "ops": {"a": "gpu:0", "b": "cpu:0"}})").problem_name,
            "other");
  EXPECT_EQ(read(R"({"emplace": "placement/1", "ops": {"a": "gpu:0", "b": "cpu:0"}})").problem_name, "");
}

struct Refusal {
  const char* name;
  std::string text;
  const char* message;  // a part of it
};

std::string name_of_refusal(const ::testing::TestParamInfo<Refusal>& test) { return test.param.name; }

class PlacementJsonRefuses : public ::testing::TestWithParam<Refusal> {};

TEST_P(PlacementJsonRefuses, ByNameAndPlace) {
  try {
    read(GetParam().text);
    FAIL() << "read without an error";
  } catch (const InputError& error) {
    EXPECT_THAT(std::string(error.what()), HasSubstr(GetParam().message));
    EXPECT_THAT(std::string(error.what()), ::testing::StartsWith("p.json: "));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, PlacementJsonRefuses,
    ::testing::Values(
        Refusal{"Truncated", R"({"emplace": "placement/1", "ops": {"a")", "line 1, column 39: not valid JSON"},
        Refusal{"Problem", R"({"emplace": "problem/1"})", "emplace: must be 'placement/1', got 'problem/1'"},
        Refusal{"NoVersion", R"({"ops": {"a": "gpu:0", "b": "cpu:0"}})", "'placement/1' is missing"},
        Refusal{"NoOps", R"({"emplace": "placement/1"})", "the key 'ops' is missing"},
        Refusal{"UnknownKey", file(both, R"(, "scedule": "fifo")"), "unknown key 'scedule' (did you mean 'schedule'?)"},
        Refusal{"RepeatedKey", file(both, R"(, "problem": "x")"), "the key 'problem' is given twice"},
        Refusal{"MissingOp", file(R"({"b": "cpu:0"})"), "ops: op 'a' has no device"},
        Refusal{"MissingOps", file("{}"), "ops: op 'a' has no device (2 ops have none)"},
        Refusal{"OpTwice", file(R"({"a": "gpu:0", "b": "cpu:0", "a": "cpu:0"})"), "ops: the key 'a' is given twice"},
        Refusal{"UnknownOp", file(R"({"a": "gpu:0", "b": "cpu:0", "c2": "cpu:0"})"), "ops: the problem has no op 'c2'"},
        Refusal{"AnotherProblem",
                R"({"emplace": "placement/1", "problem": "other", "ops": {"z": "gpu:0", "b": "cpu:0"}})",
                "(it is a placement of 'other', the problem is "},
        Refusal{"UnknownDevice", file(R"({"a": "gpu:1", "b": "cpu:0"})"),
                "ops.a: the problem has no device 'gpu:1' (did you mean 'gpu:0'?)"},
        Refusal{"DeviceNumber", file(R"({"a": 1, "b": "cpu:0"})"), "ops.a: must be a text, got 1"},
        Refusal{"OpsArray", file(R"(["a"])"), "ops: must be an object, got an array"},
        Refusal{"UnknownSchedule", file(both, R"(, "schedule": "in_order")"),
                "schedule: unknown schedule 'in_order' (did you mean 'in-order'?)"},
        Refusal{"ScheduleNull", file(both, R"(, "schedule": null)"), "schedule: must be a text, got null"},
        Refusal{"OrderWithoutSchedule", file(both, R"(, "order": ["a", "b"])"), "'order' needs the key 'schedule'"},
        Refusal{"OrderNotTopological", file(both, R"(, "schedule": "priority", "order": ["b", "a"])"),
                "order: the order has op 'b' before its producer 'a'"},
        Refusal{"OrderTwice", file(both, R"(, "schedule": "priority", "order": ["a", "a"])"),
                "order: op 'a' stands twice in the order"},
        Refusal{"OrderShort", file(both, R"(, "schedule": "priority", "order": ["a"])"),
                "order: the order has 1 ops, the problem has 2"},
        Refusal{"OrderEmpty", file(both, R"(, "schedule": "priority", "order": [])"), "order: names no op"},
        Refusal{"OrderUnknown", file(both, R"(, "schedule": "priority", "order": ["a", "z9"])"),
                "order[1]: the problem has no op 'z9'"},
        Refusal{"OrderNumber", file(both, R"(, "schedule": "priority", "order": [0, 1])"),
                "order[0]: must be a text, got 0"}),
    name_of_refusal);

}  // namespace
}  // namespace emplace::formats::placement_json_test
