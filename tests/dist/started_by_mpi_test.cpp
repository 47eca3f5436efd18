#include <gtest/gtest.h>
#include <stdlib.h>

#include "emplace/dist/world.hpp"

namespace emplace::dist::started_by_mpi_test {
namespace {

TEST(StartedByMpi, KnowsTheLaunchersByTheirVariables) {
  const char* const names[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "SMPI_GLOBAL_SIZE"};
  for (const char* name : names) unsetenv(name);
  EXPECT_FALSE(started_by_mpi());
  for (const char* name : names) {
    setenv(name, "2", 1);
    EXPECT_TRUE(started_by_mpi()) << name;
    unsetenv(name);
  }
  // In a batch script that runs the program without srun, Slurm's rank is set, but there is no MPI.
  setenv("SLURM_PROCID", "0", 1);
  EXPECT_FALSE(started_by_mpi());
  unsetenv("SLURM_PROCID");
}

}  // namespace
}  // namespace emplace::dist::started_by_mpi_test
