// Biased random-key genetic search (Goncalves, Resende 2011; for placement: Paliwal et al., REGAL, 2020): an individual
// has a key for each unit, which chooses its device, and one for each op, its priority. In each generation the elite is
// kept, random mutants are added, and the other individuals are children, each key of which comes more often from the
// elite parent.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "emplace/base/random.hpp"
#include "emplace/problem/grouping.hpp"
#include "search/common/search_session.hpp"
#include "search/common/units.hpp"
#include "search/list/ready_list.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

struct BrkgaOptions {
  std::int64_t population = 100, generations = 100;
  double elite = 0.2, mutants = 0.15, elite_bias = 0.7;
};

void describe(BrkgaOptions& o, OptionVisitor& visit) {
  visit("population", o.population, {.min = 2, .max = 1'000'000, .help = "Number of individuals."});
  visit("generations", o.generations,
        {.min = 1,
         .max = 1'000'000'000,
         .help = "Number of generations if there is no budget of evaluations or seconds."});
  visit("elite", o.elite, {.min = 0, .max = 1, .help = "Share of the population that is kept (at least one)."});
  visit("mutants", o.mutants, {.min = 0, .max = 1, .help = "Share that is random in each generation."});
  visit("elite_bias", o.elite_bias,
        {.min = 0, .max = 1, .help = "Chance that a child's key comes from the elite parent."});
}

class Population {
 public:
  Population(const PlacerRequest& request, const BrkgaOptions& options, const Grouping& units, SearchSession& session)
      : request_(request), options_(options), units_(units), session_(session), choices_(device_choices(units)) {}

  void run() {
    const auto size = static_cast<std::size_t>(options_.population);
    const auto elites = std::clamp<std::size_t>(share(options_.elite), 1, size - 1);
    const std::size_t mutants = std::min(share(options_.mutants), size - elites);
    std::vector<Individual> population(size);
    for (std::size_t i = 0; i < size; ++i) population[i].keys = fresh(0, i);
    population[0].keys = keys_of(session_.placement());
    evaluate(population, 0);
    for (std::uint64_t generation = 1; !session_.exhausted(); ++generation) {
      std::stable_sort(population.begin(), population.end(),
                       [](const Individual& a, const Individual& b) { return better(a.outcome, b.outcome); });
      std::vector<Individual> next(population.begin(), population.begin() + static_cast<std::ptrdiff_t>(elites));
      for (std::size_t i = elites; i < size; ++i) {
        Individual& child = next.emplace_back();
        child.keys = i < elites + mutants ? fresh(generation, i) : crossed(population, elites, generation, i);
      }
      population = std::move(next);
      evaluate(population, elites);
    }
  }

 private:
  struct Individual {
    std::vector<float> keys;  // U, then N if the schedule needs an order; in [0, 1)
    Outcome outcome;
  };

  [[nodiscard]] std::size_t share(double of_population) const {
    return static_cast<std::size_t>(std::lround(of_population * static_cast<double>(options_.population)));
  }
  [[nodiscard]] bool has_order() const { return request_.schedule != Schedule::fifo; }
  [[nodiscard]] std::size_t key_count() const {
    return units_.count() + (has_order() ? request_.problem->op_count() : 0);
  }
  [[nodiscard]] Stream stream(std::uint64_t generation, std::size_t individual) const {
    return Stream({.seed = request_.seed,
                   .purpose = Purpose::search,
                   .update = generation,
                   .index = static_cast<std::uint32_t>(individual)});
  }

  [[nodiscard]] std::vector<float> fresh(std::uint64_t generation, std::size_t individual) const {
    Stream random = stream(generation, individual);
    std::vector<float> keys(key_count());
    for (float& key : keys) key = static_cast<float>(random.bits32() >> 8) * 0x1.0p-24F;
    return keys;
  }

  // Keys that decode() turns into that placement, with every unit on the device of its first op.
  [[nodiscard]] std::vector<float> keys_of(const Placement& placement) const {
    std::vector<float> keys(key_count());
    for (std::size_t unit = 0; unit < units_.count(); ++unit) {
      const auto& choices = choices_[unit];
      const auto at = std::find(choices.begin(), choices.end(), placement.device[units_.members[unit].front()]);
      keys[unit] = (static_cast<float>(at - choices.begin()) + 0.5F) / static_cast<float>(choices.size());
    }
    if (has_order())
      for (std::size_t i = 0; i < placement.order.size(); ++i)
        keys[units_.count() + placement.order[i]] =
            1 - (static_cast<float>(i) + 0.5F) / static_cast<float>(placement.order.size());
    return keys;
  }

  [[nodiscard]] std::vector<float> crossed(const std::vector<Individual>& sorted, std::size_t elites,
                                           std::uint64_t generation, std::size_t individual) const {
    Stream random = stream(generation, individual);
    const auto& elite = sorted[random.below(static_cast<std::uint32_t>(elites))].keys;
    const auto& other = sorted[elites + random.below(static_cast<std::uint32_t>(sorted.size() - elites))].keys;
    const auto threshold = static_cast<std::uint64_t>(options_.elite_bias * 0x1.0p32);
    std::vector<float> keys(elite.size());
    for (std::size_t k = 0; k < keys.size(); ++k) keys[k] = random.bits32() < threshold ? elite[k] : other[k];
    return keys;
  }

  [[nodiscard]] Placement decode(const std::vector<float>& keys) const {
    std::vector<std::uint8_t> of_unit(units_.count());
    for (std::size_t unit = 0; unit < units_.count(); ++unit) {
      const auto& choices = choices_[unit];
      const auto at = static_cast<std::size_t>(keys[unit] * static_cast<float>(choices.size()));
      of_unit[unit] = choices[std::min(at, choices.size() - 1)];
    }
    Placement placement = units_.expand(of_unit);
    if (!has_order()) return placement;
    const std::vector<double> priority(keys.begin() + static_cast<std::ptrdiff_t>(units_.count()), keys.end());
    ReadyList ready(*request_.problem, priority);
    while (!ready.empty()) placement.order.push_back(ready.take());
    return placement;
  }

  // Evaluates individuals from `first` on, as far as the budget goes.
  void evaluate(std::vector<Individual>& population, std::size_t first) {
    const std::size_t piece = evaluations_between_checks(request_);
    for (std::size_t i = first; i < population.size() && !session_.exhausted(); i += piece) {
      const std::size_t end = std::min({i + piece, population.size(), i + session_.evaluations_left()});
      std::vector<Placement> placements;
      for (std::size_t k = i; k < end; ++k) placements.push_back(decode(population[k].keys));
      std::vector<evaluate::EvaluationJob> jobs;
      for (const Placement& placement : placements) jobs.push_back({0, &placement});
      const std::vector<Outcome> outcomes = request_.evaluator->evaluate(jobs);
      session_.searched(made_ += jobs.size());
      for (std::size_t k = i; k < end; ++k) {
        population[k].outcome = outcomes[k - i];
        session_.offer(placements[k - i], outcomes[k - i]);
      }
    }
  }

  const PlacerRequest& request_;
  const BrkgaOptions& options_;
  const Grouping& units_;
  SearchSession& session_;
  const std::vector<std::vector<std::uint8_t>> choices_;  // U
  std::uint64_t made_ = 0;
};

PlacerResult place_brkga(const PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<BrkgaOptions>(table);
  const Grouping units = make_grouping(*request.problem, GroupingKind::colocation);
  SearchSession session(request, "brkga", static_cast<std::uint64_t>(options.population * options.generations));
  session.begin();
  Population(request, options, units, session).run();
  session.end_search();
  return session.result();
}

}  // namespace

PlacerEntry brkga_placer() {
  PlacerEntry entry;
  entry.name = "brkga";
  entry.summary = "Biased random-key genetic search, from the best of the quick placers.";
  entry.reference = "Goncalves, Resende (2011)";
  entry.role = PlacerRole::search;
  entry.options = list_options<BrkgaOptions>;
  entry.from_start = true;
  entry.place = place_brkga;
  return entry;
}

}  // namespace emplace::search
