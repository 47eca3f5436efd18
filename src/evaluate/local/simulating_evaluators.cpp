// Evaluators that simulate in this process: at full speed, and with a sleep for each placement.
#include <chrono>

#include "base/interrupt.hpp"
#include "emplace/base/options.hpp"
#include "evaluate/evaluator_entries.hpp"

namespace emplace::evaluate {

namespace {

struct SimulatorOptions {};
void describe(SimulatorOptions&, OptionVisitor&) {}

struct SleepOptions {
  double seconds = 0.01;
};
void describe(SleepOptions& o, OptionVisitor& visit) {
  visit("seconds", o.seconds,
        {.min = 0, .max = 3600, .unit = "s", .help = "How long each placement takes in addition to its simulation."});
}

// Takes the time of a slow simulator without its work, so that many can share one core: one can measure on a laptop how
// training scales on a cluster.
class SleepEvaluator final : public DirectEvaluator {
 public:
  SleepEvaluator(const SleepOptions& options, const EvaluatorSetup& setup)
      : seconds_(options.seconds), simulator_(make_local_evaluator(setup.problems, setup.scoring)) {}

  std::vector<Outcome> evaluate_now(std::span<const EvaluationJob> jobs) override {
    for (std::size_t i = 0; i < jobs.size(); ++i) sleep_unless_stopped(std::chrono::duration<double>(seconds_));
    return simulator_->evaluate(jobs);
  }

 private:
  double seconds_;
  std::unique_ptr<Evaluator> simulator_;
};

}  // namespace

EvaluatorEntry simulator_evaluator() {
  EvaluatorEntry entry;
  entry.name = "simulator";
  entry.summary = "The built-in simulator, exact to the picosecond.";
  entry.make = [](const ConfigTable& options, const EvaluatorSetup& setup) {
    (void)read_options<SimulatorOptions>(options);
    return make_local_evaluator(setup.problems, setup.scoring);
  };
  entry.resolve = [](const ConfigTable& options) { return echo_options(read_options<SimulatorOptions>(options)); };
  return entry;
}

EvaluatorEntry sleep_evaluator() {
  EvaluatorEntry entry;
  entry.name = "sleep";
  entry.summary = "The built-in simulator after a sleep: stands in for a slow one where scaling is measured.";
  make_from_options<SleepEvaluator, SleepOptions>(entry);
  return entry;
}

}  // namespace emplace::evaluate
