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
  double step_of(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const auto done = emplace_run(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return json::parse(done.out)["makespan_s"];
  }
  double learned(std::vector<std::string> of_recipe) {
    of_recipe.insert(of_recipe.begin(), "train");
    of_recipe.insert(of_recipe.end(),
                     {"problem=" + problem_, "compare=[]", fmt::format("run={}/{}", folder_.path(), ++runs_)});
    return step_of(of_recipe);
  }
  TemporaryFolder folder_;
  int runs_ = 0;
  const std::string problem_ = std::string("zoo:") + GetParam() + "?batch=1@i9-flex170-no-igpu";
};

// Without the help of search: PEFT alone is faster than the GPU on Inception-V3.
TEST_P(HsdagOrder, IsHsdagThenGpuThenCpuWithWhatHsdagLearnsAlone) {
  const double cpu = step_of({"place", "cpu-only", problem_}), gpu = step_of({"place", "device:gpu", problem_});
  EXPECT_LT(learned({"hsdag", "demonstrations=false", "polish.samples=0", "evaluations=6400"}), gpu);
  EXPECT_LE(learned({"hsdag-published"}), gpu);
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
