#include "report/page.hpp"
#include "report/placement_json.hpp"

namespace emplace::report {

namespace {

Json move_json(const Problem& problem, const Placement& placement, const Move& move) {
  const std::uint32_t first = move.ops.front();
  const GroupId group = problem.group[first];
  const bool is_group = move.ops.size() > 1 && !group.is_none();
  bool together = true;
  for (const std::uint32_t op : move.ops) together = together && placement.device[op] == placement.device[first];
  return {{"name", page_text(is_group ? problem.group_names[group.index()] : problem.op_names[first], longest_name)},
          {"ops", move.ops.size()},
          {"from", together ? Json(placement.device[first]) : Json()},
          {"to", move.to.index()},
          {"time", move.outcome.timed() ? Json(move.outcome.makespan) : Json()},
          {"feasible", move.outcome.feasible()}};
}

}  // namespace

Json limits_json(const Problem& problem, const Placement& placement, const Explanation& explanation) {
  Json limits = Json::array(), moves = Json::array();
  for (const Limit& limit : explanation.limits)
    limits.push_back({{"kind", name_of(limit.kind)},
                      {"name", page_text(limit.name, longest_name)},
                      {"share", page_number(limit.share)},
                      {"fills", limit.fills},
                      {"sentence", page_text(limit.sentence, 1000)}});
  for (const Move& move : explanation.moves.best) moves.push_back(move_json(problem, placement, move));
  return {{"limits", std::move(limits)},
          {"moves", std::move(moves)},
          {"moves_possible", explanation.moves.possible},
          {"moves_simulated", explanation.moves.simulated}};
}

}  // namespace emplace::report
