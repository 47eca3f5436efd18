// Whether MPI works between rank 0 and each other rank, and how fast, for `emplace doctor`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/library.hpp"
#include "emplace/dist/world.hpp"

namespace emplace::dist {

// What a rank reports about itself, and the speed of messages between it and rank 0.
struct RankReport {
  int rank = 0;
  std::string host;
  std::string program;              // the `program` that the rank passed to answer_pings() or ping()
  std::vector<std::int32_t> cores;  // the cores that the rank may run on
  double round_trip_s = 0;          // median time of 8 bytes there and back; 0 for rank 0 itself
  double bytes_per_s = 0;           // of 1 MiB there and back: the bytes of both ways by the median time
};

// For rank 0: measures one rank after another, while the others sleep. The first report is that of rank 0.
// EnvironmentError if a message comes back with other bytes.
std::vector<RankReport> ping(World& world, const std::string& program);
// For the other ranks: answers until rank 0 releases them; returns the exit code that rank 0 sent.
int answer_pings(World& world, const std::string& program);

// The versions of the MPI standard and of the MPI library. May be called before MPI starts.
std::vector<Library> mpi_libraries();

}  // namespace emplace::dist
