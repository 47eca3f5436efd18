#include "verdict/verdict.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "emplace/search/placer.hpp"

namespace emplace::verdict {

namespace {

// Gains below this share of the step time are not worth another command.
constexpr double worth_while = 0.01;
// Times that differ by less than this share are called equal.
constexpr double equal_share = 0.001;

std::string time_text(Ticks ticks) { return human_seconds(to_seconds(ticks)); }

double ratio(Ticks a, Ticks b) { return static_cast<double>(a) / static_cast<double>(b); }

class Judge {
 public:
  Judge(Objective objective, const Subject& subject, const References& references)
      : what_(objective == Objective::pipeline ? "load" : "step time"), s_(subject), r_(references) {}

  Verdict verdict() && {
    add_rows();
    if (s_.outcome.feasible())
      compare();
    else if (!s_.why_nothing.empty())
      say("no placement is feasible: " + s_.why_nothing +
          (s_.reason.empty() ? "" : "; of the one found: " + s_.reason));
    else
      say((s_.was_given || r_.quick ? "this placement is not feasible" : "no feasible placement was found") +
          (s_.reason.empty() ? "" : ": " + s_.reason));
    if (s_.curve) describe_curve();
    verdict_.next = next();
    return std::move(verdict_);
  }

 private:
  void say(std::string sentence) { verdict_.sentences.push_back(std::move(sentence)); }
  [[nodiscard]] Ticks time() const { return s_.outcome.makespan; }
  [[nodiscard]] bool slower_than(const std::optional<Reference>& reference) const {
    return reference && s_.outcome.feasible() && !s_.split &&
           ratio(reference->outcome.makespan, time()) < 1 - equal_share;
  }
  [[nodiscard]] bool equals(const Reference& reference) const {
    return std::abs(ratio(reference.outcome.makespan, time()) - 1) <= equal_share;
  }
  // The best of the others, if it is neither one device nor the expert, which have sentences of their own.
  [[nodiscard]] bool has_other_placer() const {
    return r_.quick && r_.quick->method != "single" && r_.quick->method != "expert";
  }
  // The fastest of all that are known, and its method.
  [[nodiscard]] std::pair<std::string, std::optional<Ticks>> best_known() const {
    std::pair<std::string, std::optional<Ticks>> best;
    const auto consider = [&](const std::string& method, const Outcome& outcome) {
      if (outcome.feasible() && outcome.timed() && (!best.second || outcome.makespan < *best.second))
        best = {method, outcome.makespan};
    };
    consider(s_.method, s_.outcome);
    for (const auto* reference : {&s_.split, &r_.single, &r_.expert, &r_.quick})
      if (*reference) consider((*reference)->method, (*reference)->outcome);
    return best;
  }
  // The share of the step time that could at most be gained.
  [[nodiscard]] double gap() const {
    return s_.measured || !s_.outcome.feasible() ? 1 : 1 - std::min(1.0, ratio(r_.bound.ticks, time()));
  }

  void add_rows() {
    const auto row = [&](std::string name, const std::optional<Reference>& reference) {
      verdict_.rows.emplace_back(std::move(name),
                                 reference ? std::optional(reference->outcome.makespan) : std::nullopt);
    };
    verdict_.rows.emplace_back(what_, s_.outcome.timed() ? std::optional(time()) : std::nullopt);
    row(r_.single ? fmt::format("one device ({})", printable(r_.single_device)) : "one device", r_.single);
    if (r_.expert) row("expert", r_.expert);
    if (const auto& [method, ticks] = best_known(); ticks && !has_row_of(*ticks))
      verdict_.rows.emplace_back(fmt::format("best known here ({})", printable(method)), ticks);
    if (!s_.measured && s_.why_nothing.empty())
      verdict_.rows.emplace_back(fmt::format("bound ({})", proof_text(r_.bound)), r_.bound.ticks);
  }
  [[nodiscard]] bool has_row_of(Ticks ticks) const {
    return std::ranges::any_of(verdict_.rows, [&](const auto& row) { return row.second == ticks; });
  }

  void compare() {
    if (slower_than(r_.single))
      say(fmt::format("worse than one device: everything on {} takes {}", quote(r_.single_device),
                      time_text(r_.single->outcome.makespan)));
    if (slower_than(r_.expert))
      say(fmt::format("worse than the expert's placement, which takes {}", time_text(r_.expert->outcome.makespan)));
    if (has_other_placer() && slower_than(r_.quick))
      say(fmt::format("worse than the placement of {}, which takes {}{}", r_.quick->method,
                      time_text(r_.quick->outcome.makespan),
                      s_.without_quick ? " and had no part in this training (demonstrations=false)" : ""));
    if (r_.single && !slower_than(r_.single)) say(beside_one_device());
    if (s_.split)
      say(fmt::format("splitting gains {}, too little: {} by {}",
                      gain_text(1 - ratio(s_.split->outcome.makespan, time())), time_text(s_.split->outcome.makespan),
                      s_.split->method));
    if (has_other_placer() && best_known().second == time() && !is_optimal())
      say("the fastest placement that is known here");
    if (s_.measured) return;
    verdict_.about_bound = about_bound();
    say(verdict_.about_bound);
  }

  [[nodiscard]] std::string about_bound() const {
    if (is_optimal()) return "no placement is faster: this one is optimal";
    return fmt::format("no placement is faster than {} ({}{}): {}", time_text(r_.bound.ticks), proof_text(r_.bound),
                       r_.is_quick_bound ? ", a quick bound; `emplace bound` may prove more" : "",
                       gap() <= equal_share ? "this one is optimal within 0.1 %"
                                            : fmt::format("at most {} could be gained", gain_text(gap())));
  }
  [[nodiscard]] std::string beside_one_device() const {
    constexpr double much = 1.01;
    const std::string device = quote(r_.single_device);
    const double faster = ratio(r_.single->outcome.makespan, time());
    if (equals(*r_.single)) return fmt::format("as fast as one device ({})", device);
    return faster < much ? fmt::format("{} less than one device ({})", gain_text(1 - 1 / faster), device)
                         : fmt::format("{:.2f} times as fast as one device ({})", faster, device);
  }
  static std::string gain_text(double share) {
    return share < equal_share ? "less than 0.1 %" : fmt::format("{:.1f} %", 100 * share);
  }

  void describe_curve() {
    if (s_.curve->too_short && !is_optimal())
      say("the training had too few updates to tell whether more time will help");
    if (s_.curve->still_falling && !is_optimal())
      say("the step time was still falling at the end of the training: more time will help");
    if (s_.curve->converged)
      say("the policy has converged, nearly all of its samples are equal: more time will not help");
    if (s_.curve->never_learned) say("the policy's samples did not become faster: it has not learned");
  }

  [[nodiscard]] bool is_optimal() const { return s_.proved_optimal || gap() <= 0; }

  [[nodiscard]] std::string next() const {
    const Commands& commands = s_.commands;
    if (!s_.why_nothing.empty()) return {};
    const bool lost = slower_than(r_.quick);
    const double longer = std::max(1.0, std::ceil(2 * s_.seconds.value_or(60)));
    const std::string resume = commands.resume.empty() ? "" : fmt::format("{} seconds={:.0f}", commands.resume, longer);
    if (!resume.empty() && s_.curve && s_.curve->still_falling && !lost && !is_optimal()) return resume;
    if (s_.outcome.feasible() && (is_optimal() || gap() < worth_while)) return commands.keep;
    if (commands.search.empty()) return resume;
    constexpr double least = 60, usual = 15, more = 4;
    const double seconds = std::max(least, more * (resume.empty() ? s_.seconds.value_or(usual) : usual));
    const std::string start =
        s_.outcome.feasible() && !lost && !commands.start.empty() ? " " + commands.start : std::string();
    return fmt::format("{} --seconds {:.0f}{}{}", commands.search, seconds, start,
                       commands.output.empty() ? "" : " " + commands.output);
  }

  const std::string what_;
  const Subject& s_;
  const References& r_;
  Verdict verdict_;
};

}  // namespace

std::string proof_text(const search::LowerBound& bound) {
  const bool is_placer = std::ranges::any_of(
      search::placers(), [&](const search::PlacerEntry& entry) { return entry.name == bound.method; });
  return is_placer ? fmt::format("proved by the placer {}", bound.method) : bound.method;
}

Verdict judge(Objective objective, const Subject& subject, const References& references) {
  return Judge(objective, subject, references).verdict();
}

std::string text_of(const Verdict& verdict) {
  std::size_t width = 0;
  for (const auto& [name, time] : verdict.rows) width = std::max(width, name.size());
  std::string text = "verdict\n";
  for (const auto& [name, time] : verdict.rows)
    text += fmt::format("  {:<{}}  {}\n", name, width, time ? time_text(*time) : "none");
  for (const std::string& sentence : verdict.sentences) text += fmt::format("{}\n", sentence);
  if (!verdict.next.empty()) text += fmt::format("next: {}\n", verdict.next);
  return text;
}

}  // namespace emplace::verdict
