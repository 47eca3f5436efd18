#include "learn/surrogate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/learn/drawn.hpp"
#include "tests/policy/stub_policy.hpp"

namespace emplace::learn::surrogate_test {
namespace {

using namespace test;

// A batch drawn before the parameters moved on, with advantages of both signs.
struct MovedOn {
  MovedOn(const std::string& policy_name, const SurrogateOptions& objective_options, double distance = 0.4)
      : drawn(policy_name, 4), options(objective_options) {
    drawn.policy->forward(drawn.rollouts, old);
    if (drawn.policy->has_exact_kl()) drawn.policy->mark_reference();
    Stream random{{.seed = 12}};
    for (std::size_t i = 0; i < drawn.rollouts.size(); ++i) advantages.push_back(2 * random.uniform() - 1);
    if (distance > 0) drawn.move_parameters(distance, 13);
    surrogate = std::make_unique<Surrogate>(*drawn.policy, drawn.rollouts, old, advantages, options);
  }
  std::vector<float> gradient() {
    surrogate->gradient(*drawn.policy, chunks);
    return {drawn.policy->gradient().begin(), drawn.policy->gradient().end()};
  }

  // The objective, from its definition. The gradient of the estimated KL divergence is checked as that of the estimate
  // itself.
  double objective() {
    policy::LogProbabilities now;
    drawn.policy->forward(drawn.rollouts, now);
    double total = 0;
    for (std::size_t s = 0; s < drawn.rollouts.size(); ++s) {
      double sum = 0;
      std::vector<double> ratios;
      for (std::size_t h = now.begin[s]; h < now.begin[s + 1]; ++h) {
        const double log_ratio = now.value[h] - old.value[h];
        ratios.push_back(std::exp(log_ratio));
        if (!drawn.policy->has_exact_kl()) sum -= options.kl_weight * (std::exp(log_ratio) - 1 - log_ratio);
      }
      if (options.ratio == RatioKind::joint) {
        double product = 1;
        for (const double ratio : ratios) product *= ratio;
        ratios.assign(ratios.empty() ? 0 : 1, product);
      }
      for (const double r : ratios) {
        const double plain = r * advantages[s];
        const double clipped = std::clamp(r, 1 - options.clip, 1 + options.clip) * advantages[s];
        sum += options.clip > 0 ? std::min(plain, clipped) : plain;
      }
      sum += options.entropy_weight * now.entropy[s];
      total += options.over_heads ? sum / heads_of_sample(now, s) : sum;
    }
    if (drawn.policy->has_exact_kl()) {
      // kl() is a mean over the heads of both problems, 5 + 4; each problem's divergence counts for its 4 samples.
      total -= options.kl_weight * 4 * 9 * drawn.policy->kl();
    }
    return total / options.divisor;
  }
  // Of all rounds of the rollout's sample.
  [[nodiscard]] double heads_of_sample(const policy::LogProbabilities& log, std::size_t rollout) const {
    std::size_t heads = 0;
    for (std::size_t i = 0; i < drawn.rollouts.size(); ++i)
      if (drawn.rollouts[i].sample == drawn.rollouts[rollout].sample) heads += log.of(i).size();
    return static_cast<double>(heads);
  }

  Drawn drawn;
  SurrogateOptions options;
  policy::LogProbabilities old;
  std::vector<double> advantages;
  std::unique_ptr<Surrogate> surrogate;
  ChunkedGradient chunks{3};
};

void expect_the_gradient_of_the_objective(MovedOn& moved, const std::string& what) {
  const std::vector<float> gradient = moved.gradient();
  double largest = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    float& parameter = moved.drawn.policy->parameters()[i];
    const float before = parameter;
    constexpr float step = 1.0f / 256;
    parameter = before + step;
    const double above = moved.objective();
    const double up = static_cast<double>(parameter) - before;
    parameter = before - step;
    const double below = moved.objective();
    const double width = up + (static_cast<double>(before) - parameter);
    parameter = before;
    EXPECT_NEAR(gradient[i], (above - below) / width, 2e-4) << what << ", parameter " << i;
    largest = std::max(largest, std::abs(static_cast<double>(gradient[i])));
  }
  EXPECT_GT(largest, 0.01) << what;
}

TEST(Surrogate, HasTheGradientOfItsObjectiveInEveryForm) {
  for (const char* policy : {"post", "chain", "episode"})
    for (const RatioKind ratio : {RatioKind::per_head, RatioKind::joint})
      for (const double clip : {0.0, 0.15})  // no ratio is so close to it that a finite difference crosses it
        for (const double kl : {0.0, 0.7})
          for (const double entropy : {0.0, 0.2}) {
            MovedOn moved(policy, {.ratio = ratio,
                                   .clip = clip,
                                   .kl_weight = kl,
                                   .entropy_weight = entropy,
                                   .divisor = 8,
                                   .problems = 2});
            expect_the_gradient_of_the_objective(moved, fmt::format("{} {} clip {} kl {} entropy {}", policy,
                                                                    ratio == RatioKind::joint, clip, kl, entropy));
          }
}

TEST(Surrogate, DividesEachSampleByItsHeadsOnRequest) {
  for (const char* policy : {"post", "chain", "episode"})
    for (const RatioKind ratio : {RatioKind::per_head, RatioKind::joint})
      for (const double entropy : {0.0, 0.2}) {
        MovedOn moved(
            policy,
            {.ratio = ratio, .clip = 0.15, .entropy_weight = entropy, .divisor = 1, .over_heads = true, .problems = 2});
        expect_the_gradient_of_the_objective(
            moved, fmt::format("{} {} entropy {}", policy, ratio == RatioKind::joint, entropy));
      }
}

TEST(Surrogate, HasNoGradientWhereATermIsClipped) {
  // One op, two devices, p_old = 1/2 each; a rollout that took device 0. Logit 1 makes p = 0.731, r = 1.46 > 1.2; logit
  // -1 makes r = 0.54 < 0.8. min() clips only if the advantage has the sign that would move the ratio further out.
  const Problem problem = tiny(plain_devices(2), {{"a", {1, 1}}}, {});
  const std::vector<policy::PolicyProblem> list = {{&problem, make_grouping(problem, GroupingKind::op)}};
  policy::Rollout rollout;
  rollout.actions = {0};
  for (const char* name : {"post", "chain"})
    for (const RatioKind ratio : {RatioKind::per_head, RatioKind::joint})
      for (const auto& [logit, advantage, clipped] :
           {std::tuple{1.0f, 1.0, true}, {1.0f, -1.0, false}, {-1.0f, -1.0, true}, {-1.0f, 1.0, false}}) {
        const auto policy = make_small_policy(name, list, 1);
        policy::LogProbabilities old;
        policy->forward({&rollout, 1}, old);
        policy->parameters()[0] = logit;
        Surrogate surrogate(*policy, {&rollout, 1}, old, std::vector{advantage}, {.ratio = ratio, .clip = 0.2});
        ChunkedGradient chunks(1);
        surrogate.gradient(*policy, chunks);
        // r A (1 - p) elsewhere.
        const double p = 1 / (1 + std::exp(-static_cast<double>(logit)));
        EXPECT_NEAR(policy->gradient()[0], clipped ? 0 : 2 * p * advantage * (1 - p), 1e-6)
            << name << logit << advantage;
      }
}

TEST(Surrogate, FormsAgreeOnTheFirstStep) {
  // Where p = p_old: ratios are 1, nothing is clipped, and a KL divergence has its minimum. Joint ratios are 1 too.
  for (const char* policy : {"post", "chain", "episode"}) {
    std::vector<std::vector<float>> gradients;
    for (const SurrogateOptions& options :
         {SurrogateOptions{.divisor = 8, .problems = 2}, SurrogateOptions{.clip = 0.1, .divisor = 8, .problems = 2},
          SurrogateOptions{.kl_weight = 5, .divisor = 8, .problems = 2},
          SurrogateOptions{.ratio = RatioKind::joint, .kl_weight = 5, .divisor = 8, .problems = 2}})
      gradients.push_back(MovedOn(policy, options, 0).gradient());
    for (const auto& gradient : gradients)
      for (std::size_t i = 0; i < gradient.size(); ++i) EXPECT_NEAR(gradient[i], gradients[0][i], 1e-6) << policy;
  }
}

TEST(Surrogate, MeasuresADivergenceThatIsZeroAtFirstAndThenAboveIt) {
  for (const char* policy : {"post", "chain", "episode"}) {
    MovedOn still(policy, {.divisor = 8, .problems = 2}, 0);
    still.gradient();
    EXPECT_NEAR(still.surrogate->kl(*still.drawn.policy), 0, 1e-12);
    MovedOn moved(policy, {.divisor = 8, .problems = 2});
    moved.gradient();
    const double kl = moved.surrogate->kl(*moved.drawn.policy);
    EXPECT_GT(kl, 0);
    EXPECT_DOUBLE_EQ(kl, mean_kl(*moved.drawn.policy, moved.chunks, moved.drawn.rollouts, moved.old));
  }
}

// Another policy without its closed form of the KL divergence.
class WithoutExactKl final : public StubPolicy {
 public:
  explicit WithoutExactKl(policy::Policy& of) : of_(of) {}
  void sample(std::span<const policy::SampleSlot> slots) const override { of_.sample(slots); }
  void forward(std::span<const policy::Rollout> rollouts, policy::LogProbabilities& log) override {
    of_.forward(rollouts, log);
  }
  void backward(std::span<const policy::Rollout> rollouts, std::span<const double> coefficients,
                double entropy_weight) override {
    of_.backward(rollouts, coefficients, entropy_weight);
  }
  std::span<float> parameters() override { return of_.parameters(); }
  std::span<float> gradient() override { return of_.gradient(); }

 private:
  policy::Policy& of_;
};

TEST(Surrogate, EstimatesTheExactDivergenceInTheMean) {
  // Post's policy has the exact value; the estimate r - 1 - log r on 20000 samples of each problem must agree. Its
  // terms here are below 1, so the error of the mean is below 0.01 / sqrt(20000 x 9) x 10 or so; 2 % of the value.
  Drawn drawn("post", 20000);
  policy::LogProbabilities old;
  drawn.policy->forward(drawn.rollouts, old);
  drawn.policy->mark_reference();
  drawn.move_parameters(0.4, 13);
  WithoutExactKl sampled(*drawn.policy);
  ChunkedGradient chunks(1000);
  const double estimate = mean_kl(sampled, chunks, drawn.rollouts, old);
  const std::vector<double> advantages(drawn.rollouts.size(), 0.0);
  Surrogate surrogate(sampled, drawn.rollouts, old, advantages, {.divisor = 40000, .problems = 2});
  surrogate.gradient(sampled, chunks);
  const double exact = drawn.policy->kl();
  EXPECT_GT(exact, 0);
  EXPECT_NEAR(estimate, exact, 0.02 * exact);
  EXPECT_DOUBLE_EQ(surrogate.kl(sampled), estimate);
  EXPECT_EQ(mean_kl(*drawn.policy, chunks, drawn.rollouts, old), exact);
}

TEST(KlWeight, DoublesAboveAndHalvesBelowItsTarget) {
  EXPECT_EQ(adapted_kl_weight(1, 0.016, 0.01), 2);
  EXPECT_EQ(adapted_kl_weight(1, 0.014, 0.01), 1);
  EXPECT_EQ(adapted_kl_weight(1, 0.006, 0.01), 0.5);
  EXPECT_EQ(adapted_kl_weight(64, 1, 0.01), 64);
  EXPECT_EQ(adapted_kl_weight(1.0 / 64, 0, 0.01), 1.0 / 64);
}

}  // namespace
}  // namespace emplace::learn::surrogate_test
