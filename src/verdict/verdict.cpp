#include "verdict/verdict.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

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
  Judge(const Problem& problem, Objective objective, const Subject& subject, const References& references)
      : problem_(problem),
        what_(objective == Objective::pipeline ? "load" : "step time"),
        s_(subject),
        r_(references) {}

  Verdict verdict() && {
    add_rows();
    if (s_.outcome.feasible())
      compare();
    else
      say("no feasible placement was found");
    if (s_.curve) describe_curve();
    verdict_.next = next();
    return std::move(verdict_);
  }

 private:
  void say(std::string sentence) { verdict_.sentences.push_back(std::move(sentence)); }
  [[nodiscard]] Ticks time() const { return s_.outcome.makespan; }
  [[nodiscard]] bool slower_than(const std::optional<Reference>& reference) const {
    return reference && s_.outcome.feasible() && ratio(reference->outcome.makespan, time()) < 1 - equal_share;
  }
  [[nodiscard]] bool equals(const Reference& reference) const {
    return std::abs(ratio(reference.outcome.makespan, time()) - 1) <= equal_share;
  }
  // The best of the others, if it is neither one device nor the expert, which have sentences of their own.
  [[nodiscard]] bool has_other_placer() const {
    return r_.quick && r_.quick->method != "single" && r_.quick->method != "expert";
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
    if (has_other_placer()) row(fmt::format("best other placer ({})", r_.quick->method), r_.quick);
    if (!s_.measured) verdict_.rows.emplace_back(fmt::format("bound ({})", r_.bound.method), r_.bound.ticks);
  }

  void compare() {
    if (slower_than(r_.single))
      say(fmt::format("worse than one device: everything on {} takes {}", quote(r_.single_device),
                      time_text(r_.single->outcome.makespan)));
    if (slower_than(r_.expert))
      say(fmt::format("worse than the expert's placement, which takes {}", time_text(r_.expert->outcome.makespan)));
    if (has_other_placer() && slower_than(r_.quick))
      say(fmt::format("worse than the placement of {}, which takes {}", r_.quick->method,
                      time_text(r_.quick->outcome.makespan)));
    if (r_.single && !slower_than(r_.single))
      say(equals(*r_.single) ? fmt::format("as fast as one device ({})", quote(r_.single_device))
                             : fmt::format("{:.2f} times as fast as one device ({})",
                                           ratio(r_.single->outcome.makespan, time()), quote(r_.single_device)));
    if (s_.measured) return;
    if (s_.proved_optimal || time() == r_.bound.ticks)
      say("no placement is faster: this one is optimal");
    else if (gap() <= equal_share)
      say(fmt::format("no placement is faster than {} ({}): this one is optimal within 0.1 %",
                      time_text(r_.bound.ticks), r_.bound.method));
    else
      say(fmt::format("no placement is faster than {} ({}): at most {:.1f} % could be gained",
                      time_text(r_.bound.ticks), r_.bound.method, 100 * gap()));
  }

  void describe_curve() {
    if (s_.curve->still_falling) say("the step time was still falling at the end of the training: more time will help");
    if (s_.curve->converged)
      say("the policy has converged, nearly all of its samples are equal: more time will not help");
    if (s_.curve->never_learned) say("the policy's samples did not become faster: it has not learned");
  }

  [[nodiscard]] bool is_optimal() const { return s_.proved_optimal || gap() <= 0; }
  [[nodiscard]] std::string problem_arguments() const {
    return s_.machine.empty() ? shell_word(s_.problem) : shell_word(s_.problem + "@" + s_.machine);
  }

  [[nodiscard]] std::string next() const {
    const bool is_search = s_.run.empty();
    const bool lost = slower_than(r_.quick);
    if (!is_search && s_.curve && s_.curve->still_falling && !lost)
      return fmt::format("emplace train --resume {} seconds={:.0f}", shell_word(s_.run), 2 * s_.seconds.value_or(60));
    if (s_.outcome.feasible() && (is_optimal() || gap() < worth_while) && !s_.placement_file.empty())
      return fmt::format("emplace export {} {} --for onnx", problem_arguments(), shell_word(s_.placement_file));
    const std::string start =
        s_.outcome.feasible() && !lost && !s_.placement_file.empty() ? " --start " + shell_word(s_.placement_file) : "";
    if (s_.problem.empty()) return {};
    return fmt::format("emplace place best {}{}{} --seconds {:.0f}{}", problem_arguments(),
                       s_.constraints.empty() ? "" : " ", s_.constraints,
                       std::max(60.0, 4 * (is_search ? s_.seconds.value_or(15) : 15)), start);
  }

  const Problem& problem_;
  const std::string what_;
  const Subject& s_;
  const References& r_;
  Verdict verdict_;
};

}  // namespace

Verdict judge(const Problem& problem, Objective objective, const Subject& subject, const References& references) {
  return Judge(problem, objective, subject, references).verdict();
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
