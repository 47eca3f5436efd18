// The program `emplace` with one more evaluator, `noisy`: the times of the simulator with random noise, as measured
// times have it.
// Usage: write_an_evaluator train RECIPE.toml evaluator=noisy, and every other command of emplace
#include <emplace/emplace.hpp>

namespace {

using namespace emplace;

struct NoisyOptions {
  double share = 0.05;
  int seed = 1;
};
void describe(NoisyOptions& options, OptionVisitor& visit) {
  visit("share", options.share, {.min = 0, .max = 1, .help = "Largest share of the time that is added at random."});
  visit("seed", options.seed, {.min = 0, .help = "Seed of what is added."});
}

class Noisy final : public evaluate::DirectEvaluator {
 public:
  Noisy(const NoisyOptions& options, const evaluate::EvaluatorSetup& setup)
      : options_(options),
        exact_(evaluate::make_local_evaluator(setup.problems, setup.scoring)),
        noise_({.seed = static_cast<std::uint64_t>(options.seed),
                .purpose = Purpose::simulator_noise,
                .index = static_cast<std::uint32_t>(setup.rank)}) {}

 protected:
  std::vector<Outcome> evaluate_now(std::span<const evaluate::EvaluationJob> jobs) override {
    std::vector<Outcome> outcomes = exact_->evaluate(jobs);
    for (Outcome& outcome : outcomes)
      if (outcome.timed())
        outcome.makespan +=
            static_cast<Ticks>(static_cast<double>(outcome.makespan) * options_.share * noise_.uniform());
    return outcomes;
  }

 private:
  NoisyOptions options_;
  std::unique_ptr<evaluate::Evaluator> exact_;
  Stream noise_;
};

}  // namespace

int main(int argc, char** argv) {
  evaluate::EvaluatorEntry noisy;
  noisy.name = "noisy";
  noisy.summary = "The simulator with random noise on its times.";
  noisy.measures = true;
  make_from_options<Noisy, NoisyOptions>(noisy);
  evaluate::register_evaluator(noisy);
  return app::run_program(argc, argv);
}
