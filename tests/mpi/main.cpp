// mpi_cases NAME: runs one case on all ranks. `mpi_cases` alone lists them.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>

#include "dist/communicator.hpp"
#include "tests/mpi/cases.hpp"
#include "tests/mpi/command_cases.hpp"
#include "tests/mpi/controller_cases.hpp"
#include "tests/mpi/evaluation_cases.hpp"
#include "tests/mpi/failure_cases.hpp"
#include "tests/mpi/learner_worker_cases.hpp"
#include "tests/mpi/part_cases.hpp"
#include "tests/mpi/placer_pool_cases.hpp"

namespace emplace::test {

namespace {

// Runs a case with messages cut into small parts, as is done with messages of more than 1 GiB.
template <int (*its_work)(dist::World&)>
int in_parts(dist::World& world) {
  world.communicator().cut_into(72);
  return its_work(world);
}

int work(dist::World& world) { return dist::serve(world); }

}  // namespace

std::span<const Case> cases() {
  static constexpr Case list[] = {
      {"same_outcomes_fifo", same_outcomes_fifo, simulate},
      {"same_outcomes_priority", same_outcomes_priority, simulate},
      {"same_outcomes_in_order", same_outcomes_in_order, simulate},
      {"long_messages", long_messages, echo},
      {"outcomes_in_parts", in_parts<same_outcomes_in_order>, simulate, in_parts<work>},
      {"samples_and_gradients_in_parts", in_parts<same_samples_and_gradients>, simulate, in_parts<work>},
      {"answers_in_parts", in_parts<same_answers>, simulate, in_parts<work>},
      {"slow_workers_get_less", slow_workers_get_less, uneven},
      {"same_samples_and_gradients", same_samples_and_gradients, simulate},
      {"works_on_after_a_failure", works_on_after_a_failure, simulate},
      {"slow_workers_draw_less", slow_workers_draw_less, uneven},
      {"master_that_cannot_read_gradients", master_that_cannot_read_gradients, simulate},
      {"master_that_cannot_deal_chunks", master_that_cannot_deal_chunks, simulate},
      {"worker_that_cannot_learn", worker_that_cannot_learn, simulate},
      {"worker_that_answers_something_else", draw_for_ever, simulate, answer_something_else},
      {"failures_in_a_part", failures_in_a_part, simulate, failures_in_a_part},
      {"parts_of_a_job", parts_of_a_job, simulate, parts_of_a_job},
      {"one_controller_has_synchronous_bits", one_controller_has_synchronous_bits, simulate},
      {"controllers_of_unequal_speed", controllers_of_unequal_speed, slow_on_rank_2},
      {"controllers_are_stopped", controllers_are_stopped, very_slow_on_rank_2},
      {"controllers_fail_in_a_part", controllers_fail_in_a_part, simulate, controllers_fail_in_a_part},
      {"controller_that_breaks", controller_that_breaks, breaks_on_rank_2},
      {"same_measurements", same_measurements, simulate},
      {"programs_know_their_rank", programs_know_their_rank, simulate},
      {"program_that_a_worker_cannot_find", measure_for_ever, without_its_program},
      {"same_answers", same_answers, simulate},
      {"same_polish", same_polish, simulate},
      {"polish_in_parts", in_parts<same_polish>, simulate, in_parts<work>},
      {"stopped_jobs", stopped_jobs, simulate},
      {"more_batches_after_jobs", more_batches_after_jobs, simulate},
      {"worker_that_throws", evaluate_for_ever, breaks},
      {"worker_with_bad_input", evaluate_for_ever, refuses_its_input},
      {"worker_that_cannot_start", evaluate_for_ever, cannot_be_made},
      {"master_with_bad_input", release_with_bad_input, simulate},
      {"master_that_throws_first", throw_before_the_release, simulate},
      {"master_that_throws_later", throw_between_batches, simulate},
      {"master_that_throws_while_jobs_run", throw_while_jobs_run, simulate},
      {"finish_while_workers_wait", finish_while_workers_wait, simulate},
  };
  return list;
}

}  // namespace emplace::test

int main(int argc, char** argv) {
  using namespace emplace;
  try {
    dist::World world(argc, argv);
    const auto cases = test::cases();
    const auto wanted = std::find_if(cases.begin(), cases.end(), [&](const test::Case& one) {
      return argc == 2 && std::string_view(argv[1]) == one.name;
    });
    if (wanted == cases.end()) {
      for (const test::Case& one : cases)
        if (world.is_master()) fmt::print("{}\n", one.name);
      if (world.is_master()) dist::release_workers(world, 0);
      return argc == 1 ? 0 : 3;  // 3: no case with this name; no case ends with it
    }
    if (!world.is_master() && wanted->worker != nullptr) return wanted->worker(world);
    return world.is_master() ? wanted->master(world) : dist::serve(world, wanted->factory(world.rank()));
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
