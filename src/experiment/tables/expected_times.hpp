// Expected times of the cells of a table, from the times of the finished cells.
#pragma once

#include <map>
#include <string>

#include "experiment/tables/cell.hpp"

namespace emplace::experiment {

class ExpectedTimes {
 public:
  void took(const CellTask& task, double seconds);
  // Seconds: the budget, if it is in seconds; else the mean over the finished cells of the method; else over all
  // finished cells of the same kind (trainings or placers); else 0.
  [[nodiscard]] double of(const CellTask& task) const;

 private:
  struct Times {
    double sum = 0;
    std::size_t count = 0;
    [[nodiscard]] double mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
  };
  std::map<std::string, Times> of_method_;
  Times of_trainings_, of_placers_;
};

}  // namespace emplace::experiment
