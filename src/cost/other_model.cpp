// Refuses profiles of other models.
#include "cost/measured.hpp"
#include "cost/op_names.hpp"
#include "emplace/base/error.hpp"

namespace emplace::cost {

void refuse_other_model(const ProfileUse& use, const Graph& graph) {
  constexpr double least = 0.5;
  const double rows = static_cast<double>(use.joined) / static_cast<double>(use.times);
  const double time = use.total_s > 0 ? use.joined_s / use.total_s : rows;
  if (rows < least || time < least)
    throw InputError(use.file,
                     "seems to be of another model: {} of its {} times ({:.0f} %), which are {:.0f} % of the time, are "
                     "of ops of the graph, and half must be; it also has {}",
                     use.joined, use.times, 100 * rows, 100 * time,
                     some_ops(use.unmatched.ops.empty() ? use.other_type.ops : use.unmatched.ops, &graph));
  if (use.whole_run && use.covered_share < least)
    throw InputError(
        use.file,
        "seems to be of another model: the ops that it measured are {:.0f} % of the graph's estimated time, "
        "and half must be",
        100 * use.covered_share);
}

}  // namespace emplace::cost
