#include "report/placement_page.hpp"

#include <array>

#include "base/version.hpp"
#include "report/page.hpp"
#include "report/placement_json.hpp"

namespace emplace::report {

namespace {

constexpr std::array<std::string_view, 10> placement_scripts = {
    "head.js",   "time_window.js", "limits.js", "timeline.js",  "memory.js",
    "layers.js", "lanes.js",       "groups.js", "baselines.js", "placement.js"};
constexpr std::string_view page_script = "found.js";

}  // namespace

std::string placement_page(const PlacementSubject& subject, const verdict::Verdict& verdict) {
  FoundPlacement found;
  found.source = subject.source;
  found.loaded = subject.loaded;
  found.placement = subject.placement;
  found.scoring = subject.scoring;
  found.units = make_grouping(found.problem(), GroupingKind::colocation);
  found.recipe.options.policy = subject.method;
  found.recipe.options.compare = {};
  found.bound = subject.bound;
  found.head = verdict;
  PlacementLimits limits;
  limits.placed = 0;  // no other placers: the verdict has them
  Json placement = placement_json(found, {.evaluations = subject.evaluations}, limits);
  placement["run"] = 0;
  placement["number"] = 0;
  const bool pipeline = subject.scoring.objective == Objective::pipeline;
  const std::string& name = found.problem().name;
  const Json data = {{"kind", "placement"},
                     {"name", page_text(name, 200)},
                     {"program", "emplace " + version()},
                     {"says", page_text(subject.file.empty() ? "A placement found by " + subject.method
                                                             : "The placement in " + subject.file,
                                        300)},
                     {"measure", pipeline ? "load" : "step time"},
                     {"placement", std::move(placement)}};
  std::vector<std::string_view> scripts(placement_scripts.begin(), placement_scripts.end());
  scripts.push_back(page_script);
  return to_html({.title = name + " · emplace", .data = page_data(data), .scripts = scripts});
}

}  // namespace emplace::report
