#include "cost/repeated_times.hpp"

#include <limits>

#include "base/statistics.hpp"
#include "base/text.hpp"
#include "cost/profile_forms.hpp"
#include "emplace/base/error.hpp"

namespace emplace::cost {

namespace {

double typical(std::vector<double> seconds) {
  if (seconds.size() > 1) seconds.erase(seconds.begin());
  return median(std::move(seconds));
}

// Consecutive times of one run added up, where each of `runs` runs has the same number of them.
std::vector<double> by_run(std::vector<double> seconds, std::size_t runs) {
  if (runs == 0 || seconds.size() <= runs || seconds.size() % runs != 0) return seconds;
  const std::size_t times = seconds.size() / runs;
  std::vector<double> sums(runs);
  for (std::size_t i = 0; i < seconds.size(); ++i) sums[i / times] += seconds[i];
  return sums;
}

}  // namespace

ProfileRow& RepeatedTimes::add(const std::string& op, std::string type, double seconds, const std::string& place,
                               std::size_t column) {
  if (!(seconds >= 0) || !(seconds <= longest_op_s))
    throw InputError(place, "the time of op {} must be from 0 to {:g} s, got {:g}", quote(op), longest_op_s, seconds);
  const auto [at, fresh] = row_of_.emplace(op, profile_.rows.size());
  if (fresh) {
    if (profile_.rows.size() == most_rows) throw InputError(place, "more than {} ops", most_rows);
    ProfileRow& row = profile_.rows.emplace_back();
    row.op = op;
    row.type = std::move(type);
    samples_.emplace_back();
  }
  std::vector<std::vector<double>>& columns = samples_[at->second].of_column;
  if (columns.size() <= column) columns.resize(column + 1);
  columns[column].push_back(seconds);
  return profile_.rows[at->second];
}

void RepeatedTimes::add_run(double seconds) {
  if (seconds > 0 && seconds <= longest_op_s) runs_.push_back(seconds);
}

void RepeatedTimes::finish() {
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    std::vector<double>& seconds = profile_.rows[i].seconds;
    seconds.assign(profile_.devices.size(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t column = 0; column < samples_[i].of_column.size(); ++column)
      if (std::vector<double>& of = samples_[i].of_column[column]; !of.empty())
        seconds[column] = typical(by_run(std::move(of), runs_.size()));
  }
  if (!runs_.empty()) profile_.run_s = typical(std::move(runs_));
}

}  // namespace emplace::cost
