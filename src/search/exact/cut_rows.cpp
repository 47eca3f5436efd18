#include "search/exact/cut_rows.hpp"

#include <set>
#include <utility>

namespace emplace::search {

void add_cut_rows(IntegerProgram& program, const Problem& problem, const std::vector<std::uint32_t>& unit_of_op,
                  const std::function<int(std::uint32_t unit, std::size_t device)>& column) {
  if (problem.max_cuts == no_cut_limit) return;
  std::vector<std::pair<int, double>> all;
  for (std::size_t tensor = 0; tensor < problem.tensor_count(); ++tensor) {
    const std::uint32_t producer = unit_of_op[problem.producer[tensor].index()];
    std::set<std::uint32_t> consumers;
    for (const std::uint32_t op : problem.consumers[tensor]) consumers.insert(unit_of_op[op]);
    consumers.erase(producer);
    if (consumers.empty()) continue;
    const int cut = program.add_column(0, 1, 0, false);
    all.emplace_back(cut, 1);
    for (const std::uint32_t consumer : consumers)
      for (std::size_t d = 0; d < problem.device_count(); ++d) {
        const int from = column(producer, d), to = column(consumer, d);
        if (from < 0) continue;
        std::vector<std::pair<int, double>> row{{cut, 1}, {from, -1}};
        if (to >= 0) row.emplace_back(to, 1);
        program.add_row(row, 0, IntegerProgram::unlimited);
      }
  }
  if (!all.empty()) program.add_row(all, -IntegerProgram::unlimited, problem.max_cuts);
}

}  // namespace emplace::search
