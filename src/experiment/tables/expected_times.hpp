// How long the cells of a table may take, by those that are made.
#pragma once

#include <map>
#include <string>

#include "experiment/tables/cell.hpp"

namespace emplace::experiment {

class ExpectedTimes {
 public:
  void took(const CellTask& task, double seconds);
  // Seconds: the budget where that is one; else the mean of the method's other cells, of all such cells without those,
  // or 0 where nothing is known.
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
