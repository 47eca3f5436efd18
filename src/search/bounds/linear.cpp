// Solves the combined linear program (assignment_dual.hpp) with CLP. The dual simplex method is used, so that its
// multipliers prove a bound whenever the time runs out. Rows for moves between devices are added when a solution
// violates them, and the next solve starts from the last basis. All of this is in a child process (solver_process.hpp).
#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>
#include <algorithm>
#include <cmath>
#include <limits>

#include "search/bounds/assignment_dual.hpp"
#include "search/bounds/context.hpp"
#include "search/common/solver_process.hpp"

namespace emplace::search {

namespace {

constexpr double infinite = std::numeric_limits<double>::max();  // CLP uses the same value
constexpr std::size_t most_shares = 400'000;                     // with more, one factorisation takes too long
constexpr std::size_t most_moves = 4'000'000;                    // with more, lists of all moves need too much memory
constexpr double missing = 1e-6;                                 // least violation of a move for which a row is added

// Ends a solve when a stop is requested: CLP itself looks at its clock only.
class StopOfSolve final : public ClpEventHandler {
 public:
  explicit StopOfSolve(const Deadline& deadline) : deadline_(deadline) {}
  int event(Event) override { return deadline_.passed() ? 0 : -1; }  // 0: ends with status 5
  [[nodiscard]] ClpEventHandler* clone() const override { return new StopOfSolve(*this); }

 private:
  const Deadline& deadline_;
};

class LinearBound {
 public:
  LinearBound(const StepArcs& arcs, Ticks unit) : a_(arcs), unit_(static_cast<double>(std::max<Ticks>(unit, 1))) {
    moved_.assign(a_.arcs.size() * a_.devices, -1);
    multipliers_.load.assign(a_.devices, 0);
    multipliers_.memory.assign(a_.devices, 0);
    multipliers_.arc.assign(a_.arcs.size(), 0);
    multipliers_.move.assign(a_.arcs.size() * a_.devices, 0);
    multipliers_.tail.assign(a_.ops, 0);
    build();
  }

  Ticks improve(const Deadline& deadline) {
    Ticks best = 0;
    const StopOfSolve handler(deadline);
    program_.passInEventHandler(&handler);
    for (int round = 0; round < 100 && !deadline.passed(); ++round) {
      program_.setMaximumWallSeconds(std::min(deadline.left(), 1e6));
      program_.dual();
      best = std::max(best, certified());
      if (program_.status() != 0 || !add_moves()) break;
    }
    return best;
  }

 private:
  [[nodiscard]] double scaled(Ticks ticks) const { return static_cast<double>(ticks) / unit_; }

  // Columns: C, starts, shares. Rows: one per unit, then load, memory, heads, tails, arcs.
  void build() {
    const std::size_t devices = a_.devices;
    share_.assign(a_.units.count() * devices, -1);
    int columns = 1 + static_cast<int>(a_.ops);
    for (std::size_t unit = 0; unit < a_.units.count(); ++unit)
      for (std::size_t d = 0; d < devices; ++d)
        if (a_.allows(unit, d)) share_[unit * devices + d] = columns++;
    for (std::size_t unit = 0; unit < a_.units.count(); ++unit) {
      for (std::size_t d = 0; d < devices; ++d)
        if (const int column = share_[unit * devices + d]; column >= 0) put(column, 1);
      close_row(1, 1);
    }
    first_load_ = rows();
    for (std::size_t d = 0; d < devices; ++d) {
      put(0, 1);
      for (std::size_t unit = 0; unit < a_.units.count(); ++unit) {
        if (share_[unit * devices + d] < 0) continue;
        Ticks time = 0;
        for (const std::uint32_t op : a_.units.members[unit]) time += a_.time[op * devices + d];
        put(share_[unit * devices + d], -scaled(time));
      }
      close_row(0, infinite);
    }
    memory_row_.assign(devices, -1);
    for (std::size_t d = 0; d < devices; ++d) {
      const Bytes limit = a_.problem.devices[d].memory;
      if (limit == no_memory_limit) continue;
      memory_row_[d] = rows();
      for (std::size_t unit = 0; unit < a_.units.count(); ++unit) {
        double resident = 0;
        for (const std::uint32_t op : a_.units.members[unit]) resident += static_cast<double>(a_.problem.resident[op]);
        if (const int column = share_[unit * devices + d]; column >= 0 && resident > 0)
          put(column, -resident / static_cast<double>(std::max<Bytes>(limit, 1)));
      }
      close_row(limit > 0 ? -1 : 0, infinite);
    }
    for (std::size_t op = 0; op < a_.ops; ++op) {
      put(start(op), 1);
      put_shares(op, [&](std::size_t at) { return -scaled(a_.head[at]); });
      close_row(0, infinite);
    }
    first_tail_ = rows();
    for (std::size_t op = 0; op < a_.ops; ++op) {
      put(0, 1);
      put(start(op), -1);
      put_shares(op, [&](std::size_t at) { return -scaled(a_.time[at] + a_.tail[at]); });
      close_row(0, infinite);
    }
    first_arc_ = rows();
    for (const StepArcs::Arc& arc : a_.arcs) {
      put(start(arc.to), 1);
      put(start(arc.from), -1);
      put_shares(arc.from, [&](std::size_t at) { return -scaled(a_.time[at]); });
      close_row(0, infinite);
    }
    const std::vector<double> zeros(static_cast<std::size_t>(columns), 0),
        ends(static_cast<std::size_t>(columns), infinite);
    std::vector<double> cost = zeros;
    cost[0] = 1;
    std::vector<CoinBigIndex> begin(row_begin_.begin(), row_begin_.end());
    std::vector<int> length;
    for (std::size_t r = 0; r + 1 < row_begin_.size(); ++r) length.push_back(row_begin_[r + 1] - row_begin_[r]);
    const CoinPackedMatrix matrix(false, columns, rows(), static_cast<CoinBigIndex>(element_.size()), element_.data(),
                                  column_of_.data(), begin.data(), length.data());
    program_.setLogLevel(0);
    program_.loadProblem(matrix, zeros.data(), ends.data(), cost.data(), row_lower_.data(), row_upper_.data());
  }

  // Adds rows and columns for moves whose transfer the solution does not count. Returns false if there are none.
  bool add_moves() {
    const double* const x = program_.primalColumnSolution();
    struct Wanted {
      std::size_t at;
      double violation;
    };
    std::vector<Wanted> wanted;
    const std::vector<double> values(x, x + program_.numberColumns());
    for (std::size_t e = 0; e < a_.arcs.size(); ++e)
      for (std::size_t d = 0; d < a_.devices; ++d) {
        const std::size_t at = e * a_.devices + d;
        if (moved_[at] >= 0 || a_.transfer[at] == 0) continue;
        const double violation = (share(values, a_.arcs[e].to, d) - share(values, a_.arcs[e].from, d));
        if (violation > missing) wanted.push_back({at, violation * scaled(a_.transfer[at])});
      }
    if (wanted.empty()) return false;
    const std::size_t most = std::max<std::size_t>(1000, a_.arcs.size() / 2);
    std::sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) {
      return a.violation > b.violation || (a.violation == b.violation && a.at < b.at);
    });
    if (wanted.size() > most) wanted.resize(most);
    for (const Wanted& want : wanted) {
      const std::size_t e = want.at / a_.devices, d = want.at % a_.devices;
      const int arc_row[] = {first_arc_ + static_cast<int>(e)};
      const double pays[] = {-scaled(a_.transfer[want.at])};
      const int column = program_.numberColumns();
      program_.addColumn(1, arc_row, pays, 0, infinite, 0);
      std::vector<int> columns{column};
      std::vector<double> elements{1};
      const auto shared = [&](std::uint32_t op, double factor) {
        if (const int c = share_[a_.units.unit_of_op[op] * a_.devices + d]; c >= 0) {
          columns.push_back(c);
          elements.push_back(factor);
        }
      };
      shared(a_.arcs[e].to, -1);
      shared(a_.arcs[e].from, 1);
      moved_[want.at] = program_.numberRows();
      program_.addRow(static_cast<int>(columns.size()), columns.data(), elements.data(), 0, infinite);
    }
    return true;
  }

  [[nodiscard]] double share(const std::vector<double>& values, std::uint32_t op, std::size_t d) const {
    const int column = share_[a_.units.unit_of_op[op] * a_.devices + d];
    return column < 0 ? 0 : values[static_cast<std::size_t>(column)];
  }

  // The bound that the program's row prices prove.
  Ticks certified() {
    const double* const price = program_.dualRowSolution();
    const auto at = [&](int first, std::size_t i) { return price[static_cast<std::size_t>(first) + i]; };
    for (std::size_t d = 0; d < a_.devices; ++d) {
      multipliers_.load[d] = at(first_load_, d);
      if (memory_row_[d] >= 0)
        multipliers_.memory[d] =
            price[memory_row_[d]] * unit_ / static_cast<double>(std::max<Bytes>(a_.problem.devices[d].memory, 1));
    }
    for (std::size_t op = 0; op < a_.ops; ++op) multipliers_.tail[op] = at(first_tail_, op);
    for (std::size_t e = 0; e < a_.arcs.size(); ++e) multipliers_.arc[e] = at(first_arc_, e);
    for (std::size_t i = 0; i < moved_.size(); ++i)
      if (moved_[i] >= 0) multipliers_.move[i] = price[moved_[i]] * unit_;
    return dual_certificate(a_, multipliers_);
  }

  [[nodiscard]] int rows() const { return static_cast<int>(row_lower_.size()); }
  [[nodiscard]] static int start(std::size_t op) { return 1 + static_cast<int>(op); }
  void put(int column, double value) {
    column_of_.push_back(column);
    element_.push_back(value);
  }
  template <class Factor>
  void put_shares(std::size_t op, Factor&& factor) {
    for (std::size_t d = 0; d < a_.devices; ++d)
      if (const int column = share_[a_.units.unit_of_op[op] * a_.devices + d]; column >= 0)
        if (const double value = factor(op * a_.devices + d); value != 0) put(column, value);
  }
  void close_row(double lower, double upper) {
    row_begin_.push_back(static_cast<int>(column_of_.size()));
    row_lower_.push_back(lower);
    row_upper_.push_back(upper);
  }

  const StepArcs& a_;
  const double unit_;  // ticks
  ClpSimplex program_;
  std::vector<int> share_;       // U x D: column; -1: none
  std::vector<int> moved_;       // E x D: row; -1: not added yet
  std::vector<int> memory_row_;  // D: row; -1: no limit
  int first_load_ = 0, first_tail_ = 0, first_arc_ = 0;
  std::vector<int> row_begin_{0}, column_of_;
  std::vector<double> element_, row_lower_, row_upper_;
  Multipliers multipliers_;
};

Ticks linear_bound_here(const BoundContext& context, const Deadline& deadline) {
  const StepArcs arcs(context.problem, context.possible, context.times());
  for (std::size_t unit = 0; unit < arcs.units.count(); ++unit) {
    bool any = false;
    for (std::size_t d = 0; d < arcs.devices; ++d) any = any || arcs.allows(unit, d);
    if (!any) return 0;  // no placement is feasible
  }
  return LinearBound(arcs, context.best).improve(deadline);
}

Ticks linear_program_bound(BoundContext& context) {
  const Problem& p = context.problem;
  if (p.op_count() * p.device_count() > most_shares || p.edge_count() * p.device_count() > most_moves ||
      context.deadline.passed())
    return 0;
  const auto text = run_solver(
      "CLP", "the bound linear-program is not known", [&] { return context.deadline.passed(); },
      [&](const std::function<bool()>& stopped) {
        return text_of(std::vector{linear_bound_here(context, Deadline(context.deadline.left(), stopped))});
      });
  return text ? numbers_of<Ticks>(*text).at(0) : 0;
}

}  // namespace

BoundEntry linear_bound() {
  BoundEntry entry;
  entry.name = "linear-program";
  entry.summary = "Assignment, load, precedence with transfers and memory in one linear program.";
  entry.reference = "Tarnawski et al. 2020, relaxed";
  entry.bound = linear_program_bound;
  return entry;
}

}  // namespace emplace::search
