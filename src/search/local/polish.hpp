// Polishing: local search from given placements, with a budget of evaluations for each, and pools that polish several
// at a time. For trainings, which polish their best samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "emplace/problem/grouping.hpp"
#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::search {

struct PolishJob {
  std::uint32_t problem = 0;               // position in the pool's list
  Placement start;                         // timed; with an order unless the schedule is fifo
  std::vector<std::uint32_t> unit_of_op;   // N labels: first, only ops with equal labels move together
  std::vector<std::uint32_t> finer_of_op;  // N labels: then ops with equal ones of these; may be empty
  std::uint64_t seed = 0;
  std::uint64_t evaluations = 1;  // budget: guesses, checks, and the start
};

// A placement with its exact outcome.
struct Polished {
  Placement placement;
  Outcome outcome;
};

struct PolishResult {
  Polished on_units;  // the best whose units have one device each, if those of the start have
  Polished best;      // of all; never worse than on_units, which is never worse than the start
  std::uint64_t evaluations = 0;
};

// Polishes placements of some problems, which must outlive it.
class Polisher {
 public:
  Polisher(std::span<const Problem* const> problems, Schedule schedule);

  // Hill climbing on blocks of the job's units, drawn at random among neighbours on one device, from coarse to fine,
  // then on the units; then in the same way on the finer units, if there are more of them, with half of the budget, and
  // on co-location groups, if there are more of these, with the last quarter. The result depends only on the job. It
  // has stop points (base/interrupt.hpp).
  [[nodiscard]] PolishResult polish(const PolishJob& job);

 private:
  struct Labelled {
    std::vector<std::uint32_t> labels;  // of the last job
    Grouping units;                     // of these labels
    void follow(const Problem& problem, const std::vector<std::uint32_t>& wanted);
  };
  struct Known {
    const Problem* problem;
    Grouping finest;  // co-location groups and single ops; without units until it is needed
    Labelled units, finer;
  };
  Known& known(const PolishJob& job);

  std::vector<Known> problems_;
  Schedule schedule_;
};

class PolishPool {
 public:
  virtual ~PolishPool() = default;
  // results[i] belongs to jobs[i], whichever process did it.
  virtual std::vector<PolishResult> run(std::span<const PolishJob> jobs) = 0;
};

// Does the jobs in this process, one after the other. The problems must outlive it.
std::unique_ptr<PolishPool> make_local_polish_pool(std::span<const Problem* const> problems, Schedule schedule);

}  // namespace emplace::search
