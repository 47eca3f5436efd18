#include "integer_program.hpp"

#include <coin/Cbc_C_Interface.h>

#include <cmath>
#include <csignal>
#include <memory>
#include <string>

#include "emplace/base/error.hpp"

namespace emplace {

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

namespace {

struct Delete {
  void operator()(Cbc_Model* model) const { Cbc_deleteModel(model); }
};
using Model = std::unique_ptr<Cbc_Model, Delete>;

// By columns, as CBC wants it.
void load(Cbc_Model* model, const IntegerProgram& p) {
  std::vector<int> start(p.columns() + 1, 0), row(p.column_of.size());
  std::vector<double> value(p.column_of.size());
  for (const int column : p.column_of) ++start[static_cast<std::size_t>(column) + 1];
  for (std::size_t c = 0; c < p.columns(); ++c) start[c + 1] += start[c];
  std::vector<int> next = start;
  for (std::size_t r = 0; r < p.rows(); ++r)
    for (int i = p.row_begin[r]; i < p.row_begin[r + 1]; ++i) {
      const auto item = static_cast<std::size_t>(i);
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(p.column_of[item])]++);
      row[at] = static_cast<int>(r);
      value[at] = p.coefficient[item];
    }
  Cbc_loadProblem(model, static_cast<int>(p.columns()), static_cast<int>(p.rows()), start.data(), row.data(),
                  value.data(), p.lower.data(), p.upper.data(), p.cost.data(), p.row_lower.data(), p.row_upper.data());
  for (std::size_t c = 0; c < p.columns(); ++c)
    if (p.integer[c]) Cbc_setInteger(model, static_cast<int>(c));
}

// CBC takes SIGINT for itself and does not give it back.
class KeepInterruptHandler {
 public:
  KeepInterruptHandler() { sigaction(SIGINT, nullptr, &before_); }
  ~KeepInterruptHandler() { sigaction(SIGINT, &before_, nullptr); }
  KeepInterruptHandler(const KeepInterruptHandler&) = delete;
  KeepInterruptHandler& operator=(const KeepInterruptHandler&) = delete;

 private:
  struct sigaction before_ {};
};

}  // namespace

IntegerAnswer minimise(const IntegerProgram& program, const IntegerLimits& limits) {
  const Model model(Cbc_newModel());
  if (!model) throw EnvironmentError("CBC made no model");
  load(model.get(), program);
  Cbc_setLogLevel(model.get(), 0);
  const auto set = [&](const char* name, const std::string& value) {
    Cbc_setParameter(model.get(), name, value.c_str());
  };
  set("timeMode", "elapsed");
  set("seconds", std::to_string(limits.seconds));
  set("maxNodes", std::to_string(limits.nodes));
  set("ratioGap", "0");
  set("allowableGap", "0");
  {
    const KeepInterruptHandler keep;
    Cbc_solve(model.get());
  }
  IntegerAnswer answer;
  const bool optimal = Cbc_isProvenOptimal(model.get()) != 0, none = Cbc_isProvenInfeasible(model.get()) != 0;
  answer.finished = optimal || none;
  if (none) return answer;
  answer.bound = Cbc_getBestPossibleObjValue(model.get());
  // Without a solution the value is CBC's infinity.
  if (Cbc_numberSavedSolutions(model.get()) > 0 || optimal) {
    const double* const values = Cbc_bestSolution(model.get());
    if (values != nullptr) answer.solution.assign(values, values + program.columns());
    answer.objective = Cbc_getObjValue(model.get());
  }
  return answer;
}

}  // namespace emplace
