#include "experiment/automatic/automatic.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/problem_json.hpp"
#include "experiment/recipe/shipped_recipes.hpp"
#include "experiment/run/placing_backend.hpp"
#include "experiment/run/training_backend.hpp"
#include "search/common/deadline.hpp"

namespace emplace::experiment {

namespace {

// Shares of the whole time at which the phases end.
constexpr double most_quick_seconds = 2, quick_share = 0.1, search_share = 0.5, training_share = 0.85,
                 bound_share = 0.95;
// The first search ends early if it found nothing better in this share of the whole time, so that more is left for a
// training.
constexpr double plateau_share = 0.2;
// A gap to the bound below this share of the step time is not worth a search, and a gain below it not worth a split.
constexpr double small_gap = 0.005;

class Automatic {
 public:
  explicit Automatic(const AutomaticRequest& request)
      : r_(request),
        problem_(request.loaded->problem),
        deadline_(request.seconds, request.stop),
        backend_(make_placing_backend(request.world, problem_, request.scoring)) {}

  AutomaticResult run() && {
    look_up_references();
    if (!is_done()) search("best", r_.seed, search_share);
    if (!is_done()) improve_bound();
    if (!is_done()) train();
    if (!is_done()) search(result_.recipe.empty() ? "best" : "climb", r_.seed + 1, 1);
    result_.seconds = deadline_.elapsed();
    result_.why_ended = why_ended();
    prefer_one_device();
    return std::move(result_);
  }

 private:
  [[nodiscard]] search::PlacerRequest placer_request() const {
    search::PlacerRequest request = request_for(*r_.loaded, r_.scoring, backend_);
    request.seed = r_.seed;
    request.stop = r_.stop;
    return request;
  }
  [[nodiscard]] double seconds_until(double share) const {
    return std::max(search::least_seconds, share * r_.seconds - deadline_.elapsed());
  }
  [[nodiscard]] static bool has_time(const Outcome& outcome) { return outcome.feasible() && outcome.timed(); }
  [[nodiscard]] bool has_time() const { return !result_.method.empty() && has_time(result_.outcome); }
  [[nodiscard]] double gap() const {
    if (!has_time()) return 1;
    return 1 - static_cast<double>(result_.references.bound.ticks) / static_cast<double>(result_.outcome.makespan);
  }
  [[nodiscard]] bool is_good_enough() const { return result_.proved_optimal || gap() < small_gap; }
  // Also true once the time is up.
  bool is_done() {
    if (gap() <= 0) result_.proved_optimal = true;
    return !result_.why_nothing.empty() || is_good_enough() || deadline_.passed();
  }
  [[nodiscard]] std::string why_ended() const {
    if (!result_.why_nothing.empty() || is_good_enough() || !deadline_.passed()) return {};
    if (r_.stop && r_.stop()) return "stopped on request";
    const double waited = deadline_.elapsed() - improved_;
    return waited < plateau_share * r_.seconds
               ? "the time is up"
               : fmt::format("the time is up, nothing better was found in the last {}", human_seconds(waited));
  }
  void say(std::string_view phase) const {
    if (!r_.on_progress) return;
    r_.on_progress(phase, has_time() ? std::optional(result_.outcome.makespan) : std::nullopt,
                   std::min(1.0, deadline_.elapsed() / r_.seconds));
  }
  void offer(const std::string& method, Placement placement, const Outcome& outcome) {
    if (!result_.method.empty() && !better(outcome, result_.outcome)) return;
    result_.placement = std::move(placement);
    result_.outcome = outcome;
    result_.method = method;
  }

  void look_up_references() {
    say("quick placers");
    const search::PlacerRequest request = placer_request();
    const double quick = std::min(most_quick_seconds / 2, quick_share * r_.seconds);
    result_.references = verdict::find_references(request, {.predicted = quick, .most = quick});
    result_.evaluations = result_.references.evaluations;
    for (const auto* reference : {&result_.references.quick, &result_.references.single})
      if (*reference) offer((*reference)->method, (*reference)->placement, (*reference)->outcome);
    if (r_.on_references) r_.on_references(result_.references);
    if (!result_.method.empty()) return;
    result_.why_nothing = search::lower_bounds(problem_, r_.scoring.objective, 0).infeasible.value_or("");
    search("best", r_.seed, quick_share);  // at least a placement that is not feasible, even without time
  }

  void note_if_better(const Outcome& outcome, Ticks& best) {
    if (!has_time(outcome) || outcome.makespan >= best) return;
    best = outcome.makespan;
    improved_ = deadline_.elapsed();
  }

  // Runs the placer from the best placement so far until `share` of the time has passed. Before the whole time has
  // passed, it also ends if nothing better is found for a while.
  void search(const std::string& method, std::uint64_t seed, double share) {
    search::PlacerRequest request = placer_request();
    request.seed = seed;
    request.seconds = seconds_until(share);
    const Placement start = result_.placement;
    if (has_time()) request.start = &start;
    Ticks best = has_time() ? result_.outcome.makespan : total_limit;
    improved_ = std::max(improved_, share < 1 ? deadline_.elapsed() : 0);
    request.on_progress = [&](const search::PlacerProgress& news) {
      note_if_better(news.best, best);
      if (r_.on_progress)
        r_.on_progress(news.method, best == total_limit ? std::nullopt : std::optional(best),
                       std::min(1.0, deadline_.elapsed() / r_.seconds));
    };
    request.stop = [&] {
      return (share < 1 && deadline_.elapsed() - improved_ > plateau_share * r_.seconds) || (r_.stop && r_.stop());
    };
    search::PlacerResult found = search::place_with(method, request, ConfigTable("auto"));
    note_if_better(found.outcome, best);
    result_.evaluations += found.evaluations;
    if (found.lower_bound > result_.references.bound.ticks) {
      result_.references.bound = search::proof_of(found, method, {}).bound;
      result_.references.is_quick_bound = false;
    }
    const std::string by = found.steps.empty() ? method : winner_of(found, method);
    offer(by, std::move(found.placement), found.outcome);
    result_.proved_optimal = result_.proved_optimal || found.proved_optimal;
  }

  // One device is simpler to run than a split that gains next to nothing.
  void prefer_one_device() {
    const std::optional<verdict::Reference>& single = result_.references.single;
    if (!single || !result_.outcome.feasible()) return;
    const auto best = static_cast<double>(result_.outcome.makespan);
    if (best < (1 - small_gap) * static_cast<double>(single->outcome.makespan)) return;
    if (result_.outcome.makespan < single->outcome.makespan) {
      result_.split = verdict::Reference{result_.method, result_.placement, result_.outcome};
      result_.proved_optimal = false;
    }
    result_.placement = single->placement;
    result_.outcome = single->outcome;
    result_.method = single->method;
  }

  // The method of a portfolio that found its best placement.
  static std::string winner_of(const search::PlacerResult& result, const std::string& otherwise) {
    std::string winner = otherwise;
    for (const search::PlacerStep& step : result.steps)
      if (step.is_new_best) winner = step.method;
    return winner;
  }

  void improve_bound() {
    say("bound");
    const double seconds = std::min(seconds_until(bound_share), (1 - bound_share) * r_.seconds);
    const search::BoundReport report = search::lower_bounds(problem_, r_.scoring.objective, seconds, r_.stop);
    if (report.infeasible) {
      result_.why_nothing = *report.infeasible;
      return;
    }
    result_.references.is_quick_bound = false;
    if (const search::LowerBound bound = report.best(); bound.ticks > result_.references.bound.ticks)
      result_.references.bound = bound;
  }

  void train() {
    const LearningChoice choice = choose_learning(problem_, r_.scoring, gap(), seconds_until(training_share));
    result_.learning = choice.why;
    if (choice.recipe.empty()) return;
    say("training");
    const Recipe recipe = recipe_of_training(choice.recipe);
    std::optional<Training> training;
    try {
      training.emplace(recipe);
    } catch (const EnvironmentError& error) {
      result_.learning = fmt::format("no training: {}", error.what());
      for (const std::string& file : {problem_file(), start_file()}) std::filesystem::remove(file);
      return;
    }
    result_.recipe = choice.recipe;
    result_.learning += ", in " + r_.run;
    const RunFolder folder = RunFolder::create(r_.run, training->recipe().resolved());
    const TrainingBackend backend = make_training_backend(r_.world, *training, folder);
    Training::Session session = backend.session();
    session.show_progress = false;
    session.stop = [&] {
      say("training");
      return deadline_.passed();
    };
    training->run(folder, session);
    result_.evaluations += training->evaluations();
    take(training->best().front(), training->recipe().options.policy);
  }

  [[nodiscard]] std::string problem_file() const { return r_.run + ".problem.json"; }
  [[nodiscard]] std::string start_file() const { return r_.run + ".start.json"; }

  // The recipe with this problem, in a file with all constraints but max_cuts, and with the best placement so far.
  [[nodiscard]] Recipe recipe_of_training(const std::string& name) const {
    write_file(problem_file(), formats::write_problem_json(problem_));
    ConfigTable recipe = read_recipe(name, "auto");
    apply_values(recipe, {{"problem", {problem_file(), "auto"}},
                          {"run", {r_.run, "auto"}},
                          {"seed", {static_cast<std::int64_t>(r_.seed), "auto"}},
                          {"stop_at_bound", {true, "auto"}},
                          {"seconds", {seconds_until(training_share), "auto"}}});
    if (has_time()) {
      write_file(start_file(), formats::write_placement_json(problem_, result_.placement, r_.scoring.schedule));
      apply_values(recipe, {{"start", {start_file(), "auto"}}});
    }
    if (problem_.max_cuts != no_cut_limit)
      apply_values(recipe, {{"max_cuts", {std::int64_t{problem_.max_cuts}, "auto"}}});
    return make_recipe(recipe);
  }

  // What a training found.
  void take(const learn::Best& best, const std::string& policy) {
    if (!best.any || !has_time(best.outcome)) {
      result_.learning += "; it found no feasible placement";
      return;
    }
    const bool is_better = !has_time() || better(best.outcome, result_.outcome);
    if (is_better) improved_ = deadline_.elapsed();
    offer(policy, best.placement, best.outcome);
    result_.learning += fmt::format("; it found {}, {}", human_seconds(to_seconds(best.outcome.makespan)),
                                    is_better ? "which is better than the search" : "no better than the search");
  }

  const AutomaticRequest& r_;
  const Problem& problem_;
  const search::Deadline deadline_;
  const PlacingBackend backend_;
  AutomaticResult result_;
  double improved_ = 0;  // when the best placement was found, seconds from the start
};

}  // namespace

LearningChoice choose_learning(const Problem& problem, const evaluate::Scoring& scoring, double gap, double seconds) {
  constexpr double least_gap = 0.03, least_time = 15;
  constexpr std::size_t fewest_ops = 30, most_ops = 50'000;
  if (problem.device_count() < 2) return {"", "no training: there is one device"};
  if (scoring.objective != Objective::step || scoring.schedule != Schedule::fifo)
    return {"", "no training: the recipes are for step times under fifo"};
  if (problem.given_transfer_times || !problem.backward.empty())
    return {"",
            "no training: a problem file, which a training reads, cannot hold this problem's own transfer times or "
            "backward ops"};
  if (gap < least_gap)
    return {"", fmt::format("no training: at most {:.1f} % could be gained, which search does as well", 100 * gap)};
  if (problem.op_count() < fewest_ops)
    return {"", fmt::format("no training: a search covers {} ops better", problem.op_count())};
  if (problem.op_count() > most_ops)
    return {"", fmt::format("no training: {} ops are too many to learn on in this time", problem.op_count())};
  if (seconds < least_time)
    return {"", fmt::format("no training: it needs {:.0f} s at least, and {:.1f} s are left for one", least_time,
                            std::floor(10 * seconds) / 10)};
  return {recommended_recipe,
          fmt::format("a training with {}, because up to {:.0f} % could be gained", recommended_recipe, 100 * gap)};
}

AutomaticResult place_automatically(const AutomaticRequest& request) {
  EMPLACE_CHECK(request.seconds > 0);
  return Automatic(request).run();
}

}  // namespace emplace::experiment
