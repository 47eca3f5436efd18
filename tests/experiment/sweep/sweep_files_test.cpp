// The sweeps that come with the program.
#include <gmock/gmock.h>

#include <filesystem>

#include "experiment/sweep/sweep.hpp"

namespace emplace::experiment::sweep_files_test {
namespace {

// Checks every file, so that renaming an option or changing its bounds is noticed in all of them.
TEST(SweepFiles, AreValidAndResolveToThemselves) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator("configs/sweeps")) {
    if (file.path().extension() != ".toml") continue;
    names.push_back(file.path().stem().string());
    const Sweep sweep = make_sweep(ConfigTable::read_toml(file.path().string()));
    EXPECT_GE(sweep.make_strategy()->trials(), 10U) << names.back();
    const std::string once = sweep.resolved().to_toml();
    EXPECT_EQ(make_sweep(ConfigTable::parse_toml(once, names.back())).resolved().to_toml(), once) << names.back();
  }
  EXPECT_THAT(names, ::testing::IsSupersetOf({"post-learners", "gdp-hyperband", "placeto-tpe"}));
}

TEST(SweepFiles, HyperbandCostsWhatItsFileSays) {
  const Sweep sweep = make_sweep(ConfigTable::read_toml("configs/sweeps/gdp-hyperband.toml"));
  const auto strategy = sweep.make_strategy();
  EXPECT_EQ(strategy->trials(), 27U + 12 + 6 + 4);
  EXPECT_NEAR(strategy->planned_budgets(), 13, 0.5);
}

}  // namespace
}  // namespace emplace::experiment::sweep_files_test
