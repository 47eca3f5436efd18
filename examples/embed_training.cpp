// Trains a policy inside another program and applies the placement that it found. Under mpirun the other ranks
// evaluate. Usage: [mpirun -np N] embed_training [FOLDER]     the run is kept in FOLDER, runs/embedded without one
#include <cstdio>
#include <emplace/emplace.hpp>

int main(int argc, char** argv) {
  using namespace emplace;
  try {
    dist::World world(argc, argv);
    if (!world.is_master()) return dist::serve(world);

    ConfigTable recipe = ConfigTable::parse_toml(R"(
      problem = "zoo:rnnlm?layers=2&training=true@k40x2"
      policy = "post"
      grouping = "chain"
      groups = 32
      evaluations = 2000
    )",
                                                 "the embedded recipe");
    recipe.set("run", {std::string(argc > 1 ? argv[1] : "runs/embedded"), "command line"});
    const experiment::TrainedRecipe trained = experiment::train_recipe(recipe, &world);

    const experiment::TrainedPlacement& best = trained.best.front().value();
    const Problem problem = source::load_problem(recipe.text("problem"), {}).problem;
    const Ticks bound = search::lower_bound(problem).ticks;
    std::printf("step %.3f ms after %llu placements, bound %.3f ms\n", 1e3 * to_seconds(best.outcome.makespan),
                static_cast<unsigned long long>(trained.evaluations), 1e3 * to_seconds(bound));
    for (std::size_t d = 0; d < problem.device_count(); ++d) {
      std::size_t ops = 0;
      for (const std::uint8_t device : best.placement.device) ops += device == d ? 1 : 0;
      std::printf("%-8s %zu ops\n", problem.devices[d].name.c_str(), ops);
    }
    return 0;
  } catch (const InputError& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return static_cast<int>(ExitCode::bad_input);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return static_cast<int>(ExitCode::failure);
  }
}
