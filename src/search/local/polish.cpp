#include "search/local/polish.hpp"

#include <algorithm>
#include <utility>

#include "base/interrupt.hpp"
#include "emplace/base/error.hpp"
#include "emplace/base/random.hpp"
#include "search/local/local_search.hpp"

namespace emplace::search {

namespace {

constexpr std::size_t coarsest = 32, shrink = 4;
constexpr std::uint32_t sizes = 5;  // of the coarsest blocks: 32, 128, ... 8192

// One polishing.
class Polishing {
 public:
  Polishing(const Problem& problem, Schedule schedule, const PolishJob& job)
      : problem_(problem), schedule_(schedule), job_(job), now_{job.start, {}} {}

  // Climbs on blocks of `units`, the coarsest of which are about `least`, until so many evaluations were made.
  void descend(const Grouping& units, std::size_t least, std::uint64_t evaluations) {
    const std::vector<std::uint8_t> device = now_.placement.device;
    const auto levels = levels_of(units, least, [&](const Grouping& finer) {
      const auto level = static_cast<std::uint32_t>(finer.count());  // so that every level has its own stream
      return coarsen_in_place(problem_, finer, std::max(least, finer.count() / shrink), device, stream(1 + level));
    });
    for (const Grouping& level : levels) {
      if (made_ >= evaluations) return;
      LocalSearchResult found = local_search(problem_, level, schedule_, now_.placement,
                                             {.seed = job_.seed + searches_++,
                                              .evaluations = evaluations - made_,
                                              .seconds = {},
                                              .stop = end_at_stop,
                                              .guided = true});
      made_ += found.guesses + found.checks;
      now_ = {std::move(found.placement), found.outcome};
    }
  }

  [[nodiscard]] std::size_t drawn_size() const { return coarsest << (2 * stream(0).below(sizes)); }
  [[nodiscard]] const Polished& now() const { return now_; }
  [[nodiscard]] std::uint64_t made() const { return made_; }

 private:
  [[nodiscard]] Stream stream(std::uint32_t index) const {
    return Stream({.seed = job_.seed, .purpose = Purpose::polish, .update = searches_, .index = index});
  }

  const Problem& problem_;
  const Schedule schedule_;
  const PolishJob& job_;
  Polished now_;
  std::uint64_t made_ = 0, searches_ = 0;
};

class LocalPolishPool final : public PolishPool {
 public:
  LocalPolishPool(std::span<const Problem* const> problems, Schedule schedule) : polisher_(problems, schedule) {}
  std::vector<PolishResult> run(std::span<const PolishJob> jobs) override {
    std::vector<PolishResult> results;
    for (const PolishJob& job : jobs) results.push_back(polisher_.polish(job));
    return results;
  }

 private:
  Polisher polisher_;
};

}  // namespace

Polisher::Polisher(std::span<const Problem* const> problems, Schedule schedule) : schedule_(schedule) {
  for (const Problem* problem : problems)
    problems_.push_back({.problem = problem, .finest = {}, .units = {}, .finer = {}});
}

void Polisher::Labelled::follow(const Problem& problem, const std::vector<std::uint32_t>& wanted) {
  if (labels == wanted) return;
  units = group_by(problem, wanted);
  labels = wanted;
}

Polisher::Known& Polisher::known(const PolishJob& job) {
  Known& of = problems_.at(job.problem);
  if (of.finest.count() == 0) of.finest = make_grouping(*of.problem, GroupingKind::colocation);
  of.units.follow(*of.problem, job.unit_of_op);
  if (!job.finer_of_op.empty()) of.finer.follow(*of.problem, job.finer_of_op);
  return of;
}

PolishResult Polisher::polish(const PolishJob& job) {
  EMPLACE_CHECK(job.evaluations > 0);
  const Known& of = known(job);
  Polishing polishing(*of.problem, schedule_, job);
  const std::size_t units = of.units.units.count();
  const std::size_t finer = std::max(units, job.finer_of_op.empty() ? 0 : of.finer.units.count());
  const std::uint64_t for_finest = of.finest.count() > finer ? job.evaluations / 4 : 0;
  const std::uint64_t for_finer = finer > units ? job.evaluations / 2 : 0;
  polishing.descend(of.units.units, polishing.drawn_size(), job.evaluations - for_finer - for_finest);
  PolishResult result{.on_units = polishing.now(), .best = {}, .evaluations = 0};
  if (for_finer > 0) polishing.descend(of.finer.units, std::max(coarsest, units), job.evaluations - for_finest);
  if (for_finest > 0) polishing.descend(of.finest, std::max(coarsest, finer), job.evaluations);
  result.best = polishing.now();
  result.evaluations = polishing.made();
  return result;
}

std::unique_ptr<PolishPool> make_local_polish_pool(std::span<const Problem* const> problems, Schedule schedule) {
  return std::make_unique<LocalPolishPool>(problems, schedule);
}

}  // namespace emplace::search
