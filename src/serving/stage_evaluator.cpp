#include "serving/stage_evaluator.hpp"

#include <filesystem>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "serving/cluster_json.hpp"
#include "serving/flow.hpp"
#include "serving/stage_problem.hpp"

namespace emplace::serving {

namespace {

struct StageOptions {
  std::string cluster;
};
void describe(StageOptions& o, OptionVisitor& visit) {
  visit("cluster", o.cluster, {.help = "The cluster's file; that of `problem` by default."});
}

StageOptions read(const ConfigTable& table) {
  auto options = read_options<StageOptions>(table);
  if (options.cluster.empty())
    throw InputError(table.place(), "the evaluator 'serving' needs `problem`, a cluster's file, or serving.cluster");
  return options;
}

// The time of a placement is that of a token: 1 / throughput.
class StageEvaluator final : public evaluate::DirectEvaluator {
 public:
  StageEvaluator(const StageOptions& options, const evaluate::EvaluatorSetup& setup)
      : cluster_(read_cluster_file(options.cluster)), flow_(cluster_) {
    for (const Problem* problem : setup.problems)
      if (problem->op_count() != cluster_.size())
        throw InputError(options.cluster, "has {} nodes, but the problem {} has {} ops", cluster_.size(),
                         quote(problem->name), problem->op_count());
  }

  std::vector<Outcome> evaluate_now(std::span<const evaluate::EvaluationJob> jobs) override {
    std::vector<Outcome> outcomes;
    for (const evaluate::EvaluationJob& job : jobs) {
      Outcome& outcome = outcomes.emplace_back();
      const Rate rate = flow_.throughput(layout_of_devices(cluster_, job.placement->device));
      if (rate > 0)
        outcome.makespan = ticks_of_seconds(1 / tokens_per_s(rate));
      else
        outcome.why = Infeasible::not_measured;
      if (rate == 0 && job.message != nullptr) *job.message = "no tokens pass";
      if (job.starts != nullptr) job.starts->clear();
    }
    return outcomes;
  }

 private:
  const Cluster cluster_;
  FlowEvaluator flow_;
};

ConfigTable resolve(const ConfigTable& table) {
  StageOptions options = read(table);
  options.cluster = std::filesystem::absolute(options.cluster).string();
  return echo_options(options);
}

}  // namespace

void register_stage_evaluator() {
  static const bool done = [] {
    evaluate::EvaluatorEntry entry;
    entry.name = "serving";
    entry.summary = "The tokens per second of a cluster whose nodes are placed in stages; a step is a token.";
    entry.reference = "Mei et al.: Helix (ASPLOS 2025)";
    entry.measures = true;
    entry.problem_option = "cluster";
    make_from_options<StageEvaluator, StageOptions>(entry, read);
    entry.resolve = resolve;
    evaluate::register_evaluator(std::move(entry));
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace emplace::serving
