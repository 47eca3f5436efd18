#include "emplace/simulate/engine.hpp"

namespace emplace {

std::unique_ptr<Engine> make_exact_engine(const Problem& problem, Schedule schedule) {
  return make_reference_engine(problem, schedule);
}

}  // namespace emplace
