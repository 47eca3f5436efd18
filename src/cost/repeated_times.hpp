// The times of ops in several runs, of which a profile gets one for each op.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "cost/profile.hpp"

namespace emplace::cost {

// Collects times, and writes the rows and the run time of a profile. Of several runs the first one, a warm-up, is
// dropped, and the median of the others counts.
class RepeatedTimes {
 public:
  explicit RepeatedTimes(Profile& profile) : profile_(profile) {}

  // Returns the row of the op. `place` begins messages. InputError for a time that is negative, no number or too long,
  // and for too many ops.
  ProfileRow& add(const std::string& op, std::string type, double seconds, const std::string& place,
                  std::size_t column = 0);
  // The time of a whole run; ignored if it is not above zero.
  void add_run(double seconds);
  // Writes the times into the profile's rows and `run_s`. If the file has the times of whole runs, an op that was
  // measured n times in each of them has the sum of its n times.
  void finish();

 private:
  struct Samples {
    std::vector<std::vector<double>> of_column;
  };

  Profile& profile_;
  std::unordered_map<std::string, std::size_t> row_of_;
  std::vector<Samples> samples_;  // per row
  std::vector<double> runs_;
};

}  // namespace emplace::cost
