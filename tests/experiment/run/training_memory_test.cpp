// Trainings that need more memory than there is are refused before they begin.
#include <gmock/gmock.h>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/problem_json.hpp"
#include "experiment/run/training.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::training_memory_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TrainingMemory : public ::testing::Test {
 protected:
  TrainingMemory() { write_file(problem_, formats::write_problem_json(test::two_chains(1))); }
  [[nodiscard]] Recipe recipe(const std::string& policy, const std::string& more) const {
    return make_recipe(ConfigTable::parse_toml(
        "problem = \"" + problem_ + "\"\npolicy = \"" + policy + "\"\nlearner = \"ppo\"\nupdates = 2\n[ppo]\n" + more,
        "r.toml"));
  }
  test::TemporaryFolder folder_;
  const std::string problem_ = folder_ / "p.json";
};

TEST_F(TrainingMemory, OfMoreThanThereIsIsRefusedInASentenceThatSaysWhatToSet) {
  std::string says;
  try {
    const Training training(recipe("hsdag", "samples_per_update = 1000000\n[hsdag]\nupdate_timestep = 1000\n"));
    FAIL() << "no error";
  } catch (const EnvironmentError& error) {
    says = error.what();
  }
  EXPECT_THAT(says, AllOf(HasSubstr("r.toml: an update of policy hsdag with"), HasSubstr("1000000 samples"),
                          HasSubstr("available: lower ppo.samples_per_update or ppo.chunk")));
}

TEST_F(TrainingMemory, GrowsWithSamplesAndWithWhatThePolicyComputes) {
  const double few = Training(recipe("post", "samples_per_update = 10")).bytes_needed();
  const double many = Training(recipe("post", "samples_per_update = 1000")).bytes_needed();
  EXPECT_GT(many, 20 * few);
  // The Transformer's 16 layers keep some matrices of units x 128 each.
  const Training training(recipe("gdp", "samples_per_update = 10\n[gdp]\nplacer_layers = 16\n"));
  const double units = 8, width = 128 * sizeof(float);
  EXPECT_GT(training.bytes_needed(), few + 16 * 10 * units * width);
}

}  // namespace
}  // namespace emplace::experiment::training_memory_test
