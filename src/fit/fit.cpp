#include "fit/fit.hpp"

#include <algorithm>
#include <memory>

#include "fit/fitter.hpp"
#include "language/shard.hpp"

namespace emplace::fit {

namespace {

// The request as the groups of one replica see it, and what is found for it.
class Attempt {
 public:
  Attempt(const FitRequest& request, const Formation& formation)
      : formation_(formation),
        model_(formation.parallel.tensor > 1 ? *language::shard_of(request.model, formation.parallel.tensor)
                                             : request.model),
        request_{.model = model_,
                 .machine = formation.machine,
                 .file = request.file,
                 .machine_name = request.machine_name,
                 .scenario = of_one_replica(request.scenario, formation.parallel.replicas),
                 .prompt = request.prompt,
                 .aim = request.aim,
                 .runtime = request.runtime,
                 .layers_in_order = request.layers_in_order,
                 .reserve = request.reserve},
        fitter_(request_, formation_,
                static_cast<double>(request.scenario.sequences) / static_cast<double>(request_.scenario.sequences)) {
    fitter_.plan();
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  [[nodiscard]] const std::optional<FitPlan>& plan() const { return fitter_.fit().plan; }
  [[nodiscard]] const Fit& fit() const { return fitter_.fit(); }
  [[nodiscard]] std::optional<double> bound() const { return fitter_.bound(); }
  [[nodiscard]] Alternative summary() const {
    return {formation_.parallel.tensor, formation_.parallel.replicas,
            plan() ? std::optional(plan()->tokens_per_s) : std::nullopt};
  }
  [[nodiscard]] Fit finish() { return fitter_.finish(); }

 private:
  const Formation& formation_;
  const language::LanguageModel model_;
  const FitRequest request_;
  Fitter fitter_;
};
using Attempts = std::vector<std::unique_ptr<Attempt>>;

// The first of the fastest; the first of all if there is no plan.
std::size_t best_of(const Attempts& attempts) {
  const auto speed = [](const auto& attempt) { return attempt->plan() ? attempt->plan()->tokens_per_s : 0; };
  return static_cast<std::size_t>(std::ranges::max_element(attempts, {}, speed) - attempts.begin());
}

// What is above the bounds of all formations is above every plan in any of them; 0: one has none.
double bound_of(const Attempts& attempts) {
  double most = 0;
  for (const auto& attempt : attempts) {
    const std::optional<double> bound = attempt->bound();
    if (!bound) return 0;
    most = std::max(most, *bound);
  }
  return most;
}

// From the devices of a formation to those of the machine: each has what its group's device has.
std::vector<DeviceUse> on_machine(const std::vector<DeviceUse>& uses, const machine::Machine& machine,
                                  const Formation& formation) {
  std::vector<DeviceUse> out;
  for (const machine::MachineDevice& device : machine.devices)
    out.push_back({.name = device.name,
                   .kind = device.kind,
                   .memory = device.memory_limited ? device.memory_bytes : no_memory_limit,
                   .chain_device = {}});
  for (std::size_t i = 0; i < formation.members.size(); ++i)
    for (const std::size_t member : formation.members[i]) {
      DeviceUse use = uses[i % uses.size()];
      use.name = out[member].name;
      out[member] = std::move(use);
    }
  return out;
}

}  // namespace

Fit fit(const FitRequest& request) {
  language::check(request.scenario, request.file);
  Rules rules = request.runtime->rules;
  if (request.layers_in_order) rules.tensor_parallel = rules.replicas = false;
  const std::vector<Formation> formations =
      formations_of(request.machine, request.model, rules, request.aim, request.scenario.sequences);
  Attempts attempts;
  for (const Formation& formation : formations) attempts.push_back(std::make_unique<Attempt>(request, formation));
  const std::size_t best = best_of(attempts);
  const bool found = attempts[best]->plan().has_value();
  const double bound = found ? bound_of(attempts) : 0;
  const Fit& plain = attempts[0]->fit();
  const Bytes least = plain.least, available = plain.available;
  std::vector<GreedyResult> greedy = plain.greedy;
  std::vector<Alternative> alternatives;
  for (const auto& attempt : attempts) alternatives.push_back(attempt->summary());
  Fit out = attempts[best]->finish();
  out.devices = on_machine(out.devices, request.machine, formations[best]);
  out.least = least;
  out.available = available;
  out.greedy = std::move(greedy);
  out.alternatives = std::move(alternatives);
  if (found && bound > 0) {
    out.bound_tokens_per_s = bound;
    out.proved = out.plan->tokens_per_s >= bound;
  }
  return out;
}

std::int64_t longest_context(const FitRequest& request) {
  constexpr std::int64_t step = 256;
  FitRequest trial = request;
  const auto fits = [&](std::int64_t context) {
    trial.scenario.context = context;
    trial.scenario.length = 0;
    trial.prompt = std::min(request.prompt, context);
    return fit(trial).plan.has_value();
  };
  std::int64_t low = 0, high = (request.scenario.context - 1) / step + 1;  // low fits or is 0, high does not
  while (high - low > std::max<std::int64_t>(1, low / 16)) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle * step) ? low : high) = middle;
  }
  return low * step;
}

}  // namespace emplace::fit
