// HSDAG's paper on the machine that it was measured on: docs/papers/hsdag.md, section 7.10. The order of methods, never
// the seconds.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::hsdag_order_test {
namespace {

using nlohmann::json;

class HsdagOrder : public ::testing::TestWithParam<const char*> {
 protected:
  double step_of(const std::vector<std::string>& arguments) {
    const auto done = emplace_run(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return json::parse(done.out)["makespan_s"];
  }
  TemporaryFolder folder_;
  const std::string problem_ = std::string("zoo:") + GetParam() + "?batch=1@i9-flex170-no-igpu";
};

TEST_P(HsdagOrder, IsHsdagThenGpuThenCpu) {
  const double cpu = step_of({"place", "cpu-only", problem_, "--json"}),
               gpu = step_of({"place", "device:gpu", problem_, "--json"}),
               hsdag = step_of({"train", "configs/recipes/hsdag.toml", "problem=" + problem_, "evaluations=6400",
                                "compare=[]", "run=" + (folder_ / "run"), "--json"});
  EXPECT_LT(hsdag, gpu);
  EXPECT_LT(gpu, cpu);
}

INSTANTIATE_TEST_SUITE_P(Models, HsdagOrder, ::testing::Values("inception-v3", "resnet-50", "bert-base"),
                         [](const auto& model) {
                           std::string name = model.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace emplace::test::hsdag_order_test
