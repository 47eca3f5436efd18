// The program `emplace` with one more policy, `speeds`: each unit chooses its device by how quick the device is for
// it and by how much the learner likes the device. It has two parameters per device and works on any problem with as
// many devices.
// Usage: write_a_policy train RECIPE.toml policy=speeds learner=reinforce, and every other command of emplace
#include <cmath>
#include <emplace/emplace.hpp>

namespace {

using namespace emplace;

struct SpeedsOptions {
  double start = 1;
};
void describe(SpeedsOptions& options, OptionVisitor& visit) {
  visit("start", options.start, {.min = 0, .help = "Initial weight of a device's speed."});
}

class Speeds final : public policy::IndependentPolicy {
 public:
  Speeds(const SpeedsOptions& options, const policy::PolicySetup& setup)
      : IndependentPolicy(setup, initial(options, setup)) {
    for (const policy::PolicyProblem& each : setup.problems) slowness_.push_back(slowness_of(each));
  }
  // The parameters: a row of biases and a row of weights, 2 x D.
  [[nodiscard]] std::vector<ParameterInfo> layout() const override { return {{"device", {2, devices()}}}; }
  // logit[unit, d] = bias[d] - weight[d] * slowness[unit, d].
  void logits(std::size_t p, std::span<double> logit) const override {
    for (std::size_t i = 0; i < logit.size(); ++i)
      logit[i] = values()[i % devices()] - values()[devices() + i % devices()] * slowness_[p][i];
  }
  void add_gradient(std::size_t p, std::span<const double> by_logit) override {
    for (std::size_t i = 0; i < by_logit.size(); ++i) {
      gradient()[i % devices()] += static_cast<float>(by_logit[i]);
      gradient()[devices() + i % devices()] -= static_cast<float>(by_logit[i] * slowness_[p][i]);
    }
  }

 private:
  static std::vector<float> initial(const SpeedsOptions& options, const policy::PolicySetup& setup) {
    const std::size_t devices = setup.problems.front().problem->device_count();
    std::vector<float> values(2 * devices, 0);
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(devices), values.end(), static_cast<float>(options.start));
    return values;
  }
  // Units x devices: the logarithm of the unit's time on the device, in units of a microsecond.
  static std::vector<double> slowness_of(const policy::PolicyProblem& problem) {
    std::vector<double> slowness;
    for (std::size_t unit = 0; unit < problem.grouping.count(); ++unit)
      for (std::size_t d = 0; d < problem.problem->device_count(); ++d) {
        double ticks = 0;
        for (const std::uint32_t op : problem.grouping.members[unit])
          ticks += static_cast<double>(problem.problem->time(OpId{op}, DeviceId{d}));
        slowness.push_back(problem.grouping.allows(unit, d) ? std::log1p(ticks / 1e6) : 0);
      }
    return slowness;
  }
  [[nodiscard]] std::size_t devices() const { return problem(0).problem->device_count(); }
  std::vector<std::vector<double>> slowness_;  // per problem
};

}  // namespace

int main(int argc, char** argv) {
  policy::PolicyEntry speeds;
  speeds.name = "speeds";
  speeds.summary = "Units choose devices by their speed and a learned bias per device.";
  make_from_options<Speeds, SpeedsOptions>(speeds);
  policy::register_policy(speeds);
  return app::run_program(argc, argv);
}
