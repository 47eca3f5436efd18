// Whether MPI works between rank 0 and each other rank, and how fast, for `emplace doctor`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/library.hpp"
#include "emplace/dist/world.hpp"

namespace emplace::dist {

// What a rank says of itself, and what rank 0 measured of its messages to it.
struct RankReport {
  int rank = 0;
  std::string host;
  std::string program;              // what it was told that it is
  std::vector<std::int32_t> cores;  // that it may run on
  double round_trip_s = 0;          // median of 8 bytes there and back; 0 for rank 0 itself
  double bytes_per_s = 0;           // of 1 MiB there and back: the bytes of both ways by the median time
};

// Rank 0: asks one rank after the other; while two of them measure, the others nap. The first report is its own.
// EnvironmentError where a message comes back other than it was sent.
std::vector<RankReport> ping(World& world, const std::string& program);
// The other ranks: answer until rank 0 releases them, with the exit code that it wants.
int answer_pings(World& world, const std::string& program);

// The MPI standard and the library behind it. May be asked before MPI starts.
std::vector<Library> mpi_libraries();

}  // namespace emplace::dist
