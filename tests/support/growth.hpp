// Whether work grows with the square of its size, seen by CPU time, which other processes on the machine hardly change.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace emplace::test {

// Of this process and of its children that have ended.
inline double cpu_seconds() {
  double sum = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    for (const timeval& time : {used.ru_utime, used.ru_stime})
      sum += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  return sum;
}

// work(n) and work(8 n): 8 times the time if it is linear, 64 times if it is quadratic.
template <class Work>
void expect_less_than_quadratic_time(const Work& work, int n) {
  const double begin = cpu_seconds();
  work(n);
  const double middle = cpu_seconds();
  work(8 * n);
  EXPECT_LT(cpu_seconds() - middle, 24 * (middle - begin) + 0.5);
}

}  // namespace emplace::test
