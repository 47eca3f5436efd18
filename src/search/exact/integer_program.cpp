#include "search/exact/integer_program.hpp"

#include <CbcEventHandler.hpp>
#include <CbcModel.hpp>
#include <CbcSolver.hpp>
#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <OsiClpSolverInterface.hpp>
#include <cmath>
#include <numeric>
#include <string>

#include "search/common/deadline.hpp"
#include "search/common/solver_process.hpp"

namespace emplace::search {

int IntegerProgram::add_column(double least, double most, double price, bool whole) {
  lower.push_back(least);
  upper.push_back(most);
  cost.push_back(price);
  integer.push_back(whole);
  return static_cast<int>(cost.size()) - 1;
}

void IntegerProgram::add_row(std::span<const std::pair<int, double>> terms, double least, double most) {
  for (const auto& [column, factor] : terms) {
    column_of.push_back(column);
    coefficient.push_back(factor);
  }
  row_begin.push_back(static_cast<int>(column_of.size()));
  row_lower.push_back(least);
  row_upper.push_back(most);
}

MemoryRow memory_row(std::span<const std::int64_t> bytes, std::int64_t memory) {
  constexpr std::int64_t finest = 1'000'000;  // units in the whole memory
  const auto common =
      std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}, std::gcd<std::int64_t, std::int64_t>);
  const std::int64_t grain = common > 0 && memory / common <= finest ? common : memory / finest + 1;
  MemoryRow row{{}, static_cast<double>(memory / grain)};
  for (const std::int64_t each : bytes) row.size.push_back(static_cast<double>(each / grain));
  return row;
}

namespace {

// Silences all output of the solver, and overrides the default of ending the program at a severe message.
class Silence final : public CoinMessageHandler {
 public:
  int print() override { return 0; }
  void checkSeverity() override {}
  [[nodiscard]] CoinMessageHandler* clone() const override { return new Silence(*this); }
};

void load(OsiClpSolverInterface& solver, const IntegerProgram& p) {
  std::vector<int> lengths;
  std::vector<CoinBigIndex> begin(p.row_begin.begin(), p.row_begin.end());
  for (std::size_t r = 0; r < p.rows(); ++r) lengths.push_back(p.row_begin[r + 1] - p.row_begin[r]);
  const CoinPackedMatrix rows(false, static_cast<int>(p.columns()), static_cast<int>(p.rows()),
                              static_cast<CoinBigIndex>(p.column_of.size()), p.coefficient.data(), p.column_of.data(),
                              begin.data(), lengths.data());
  solver.loadProblem(rows, p.lower.data(), p.upper.data(), p.cost.data(), p.row_lower.data(), p.row_upper.data());
  for (std::size_t c = 0; c < p.columns(); ++c)
    if (p.integer[c]) solver.setInteger(static_cast<int>(c));
}

int go_on(CbcModel*, int) { return 0; }

// Ends the search when the given function returns true.
// A request to stop, of which CBC learns between nodes of the tree. Before the first node, the linear program at its
// root may take minutes; then CLP is stopped.
struct StopRequest {
  const std::function<bool()>& asked;
  bool in_tree = false;
  bool stopped_root = false;  // CBC does not know a bound, and may take the program for infeasible
};
class StopOfTree final : public CbcEventHandler {
 public:
  explicit StopOfTree(StopRequest& request) : request_(request) {}
  CbcAction event(CbcEvent which) override {
    request_.in_tree = request_.in_tree || which == node;
    return request_.stopped_root || (request_.asked && request_.asked()) ? CbcEventHandler::stop : noAction;
  }
  [[nodiscard]] CbcEventHandler* clone() const override { return new StopOfTree(*this); }

 private:
  StopRequest& request_;
};
class StopOfRoot final : public ClpEventHandler {
 public:
  explicit StopOfRoot(StopRequest& request) : request_(request) {}
  int event(Event) override {
    if (!request_.in_tree && request_.asked && request_.asked()) request_.stopped_root = true;
    return request_.stopped_root ? 0 : -1;  // 0: CLP ends with status 5
  }
  [[nodiscard]] ClpEventHandler* clone() const override { return new StopOfRoot(*this); }

 private:
  StopRequest& request_;
};

}  // namespace

IntegerAnswer minimise_here(const IntegerProgram& program, const IntegerLimits& limits, bool cuts) {
  Silence silence;
  OsiClpSolverInterface solver;
  solver.passInMessageHandler(&silence);
  load(solver, program);
  // The solver's own limit of time does not end the linear programs of its preparation, and a program whose first
  // linear program ended early looks infeasible. So these are stopped a little later, and a late answer proves nothing.
  constexpr double grace = 1;  // second
  const Deadline deadline(limits.seconds), last(limits.seconds + grace, limits.stop);
  const std::function<bool()> asked = [&] { return last.passed(); };
  StopRequest request{asked};
  const StopOfRoot in_root(request);
  solver.getModelPtr()->passInEventHandler(&in_root);
  CbcModel model(solver);
  model.passInMessageHandler(&silence);
  const StopOfTree in_tree(request);
  model.passInEventHandler(&in_tree);
  CbcSolverUsefulData settings;
  settings.noPrinting_ = true;
  settings.useSignalHandler_ = false;
  CbcMain0(model, settings);
  const std::string seconds = std::to_string(limits.seconds), nodes = std::to_string(limits.nodes);
  std::vector<const char*> arguments{"emplace",  "-logLevel",     "0",         "-timeMode",   "elapsed",
                                     "-seconds", seconds.c_str(), "-maxNodes", nodes.c_str(), "-ratioGap",
                                     "0",        "-allowableGap", "0"};
  if (!cuts || limits.plain_branching) arguments.insert(arguments.end(), {"-cuts", "off"});
  if (limits.plain_branching) arguments.insert(arguments.end(), {"-heuristicsOnOff", "off", "-strongBranching", "0"});
  arguments.insert(arguments.end(), {"-solve", "-quit"});
  CbcMain1(static_cast<int>(arguments.size()), arguments.data(), model, go_on, settings);

  IntegerAnswer answer;
  const bool in_time = !request.stopped_root && deadline.left() > 0;
  if (model.isProvenInfeasible()) {
    answer.finished = in_time;
    return answer;
  }
  if (!request.stopped_root) {
    answer.finished = in_time && model.isProvenOptimal();
    answer.bound = model.getBestPossibleObjValue();
  }
  if (const double* const values = model.bestSolution(); values != nullptr) {
    answer.solution.assign(values, values + program.columns());
    answer.objective = model.getObjValue();
  }
  return answer;
}

namespace {

// The answer as numbers, and back.
std::vector<double> numbers_of(const IntegerAnswer& answer) {
  std::vector<double> numbers{answer.finished ? 1.0 : 0.0, answer.objective, answer.bound};
  numbers.insert(numbers.end(), answer.solution.begin(), answer.solution.end());
  return numbers;
}
IntegerAnswer answer_of(const std::vector<double>& numbers) {
  IntegerAnswer answer;
  answer.finished = numbers.at(0) != 0;
  answer.objective = numbers.at(1);
  answer.bound = numbers.at(2);
  answer.solution.assign(numbers.begin() + 3, numbers.end());
  return answer;
}

}  // namespace

IntegerAnswer minimise(const IntegerProgram& program, const IntegerLimits& limits) {
  const Deadline deadline(limits.seconds);
  for (const bool cuts : {true, false}) {
    const auto text = run_solver("CBC", cuts ? "it starts again without cuts" : "the program is not solved",
                                 limits.stop, [&](const std::function<bool()>& stopped) {
                                   const double seconds = std::max(deadline.left(), least_seconds);
                                   return text_of(numbers_of(minimise_here(
                                       program, {seconds, limits.nodes, stopped, limits.plain_branching}, cuts)));
                                 });
    if (text) return answer_of(numbers_of<double>(*text));
  }
  IntegerAnswer failed;
  failed.failed = true;
  return failed;
}

}  // namespace emplace::search
