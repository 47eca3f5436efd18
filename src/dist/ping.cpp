#include "dist/ping.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "base/cores.hpp"
#include "base/statistics.hpp"
#include "dist/communicator.hpp"
#include "dist/failure.hpp"
#include "dist/pack.hpp"

namespace emplace::dist {

namespace {

constexpr std::size_t short_bytes = 8, long_bytes = std::size_t{1} << 20;
// The first messages to a rank are slow, because they open the connection.
constexpr std::size_t warm_ups = 10, short_trips = 101, long_trips = 5;

// Polls without sleeping, so that the time of MPI alone is measured. Yields, because ranks may share a core.
std::vector<std::byte> receive_at_once(const Communicator& comm, int source, Tag tag) {
  while (true) {
    if (const auto arrival = comm.poll(source, static_cast<int>(tag))) return comm.receive<std::byte>(*arrival);
    std::this_thread::yield();
  }
}

// Seconds of each round trip of a message of so many bytes, which the other rank sends back as it is.
std::vector<double> round_trips(const Communicator& comm, int rank, std::size_t bytes, std::size_t trips) {
  std::vector<double> seconds;
  std::vector<std::byte> message(bytes);
  for (std::size_t trip = 0; trip < trips; ++trip) {
    for (std::size_t i = 0; i < bytes; ++i) message[i] = static_cast<std::byte>((i + trip) * 37 >> 3);
    const double start = mpi::now();
    comm.send(std::span<const std::byte>(message), rank, Tag::ping);
    const std::vector<std::byte> back = receive_at_once(comm, rank, Tag::ping);
    seconds.push_back(mpi::now() - start);
    if (back != message)
      throw EnvironmentError("a message of {} bytes to rank {} and back came back changed: MPI does not work here",
                             bytes, rank);
  }
  return seconds;
}

void add_text(Packer& packer, const std::string& text) { packer.list(std::vector<char>(text.begin(), text.end())); }
std::string take_text(Unpacker& unpacker) {
  const auto text = unpacker.list<char>();
  return {text.begin(), text.end()};
}

// host, program: length u32, byte x length; cores: count u32, i32 x count.
std::vector<std::byte> pack_self(const std::string& program) {
  Packer packer;
  add_text(packer, host_name());
  add_text(packer, program);
  packer.list(allowed_cores());
  return packer.take();
}

RankReport unpack_report(int rank, std::span<const std::byte> message) {
  Unpacker unpacker(message);
  RankReport report{.rank = rank, .host = take_text(unpacker), .program = take_text(unpacker), .cores = {}};
  report.cores = unpacker.list<std::int32_t>();
  unpacker.done();
  return report;
}

}  // namespace

std::vector<RankReport> ping(World& world, const std::string& program) {
  const Communicator& comm = world.communicator();
  std::vector<RankReport> reports = {unpack_report(master, pack_self(program))};
  for (int rank = 1; rank < world.size(); ++rank) {
    // The number of messages that the other rank has to send back at once.
    const std::uint64_t trips = warm_ups + short_trips + 1 + long_trips;
    comm.send(std::span(&trips, 1), rank, Tag::report);
    RankReport report = unpack_report(rank, receive_at_once(comm, rank, Tag::report));
    round_trips(comm, rank, short_bytes, warm_ups);
    report.round_trip_s = median(round_trips(comm, rank, short_bytes, short_trips));
    round_trips(comm, rank, long_bytes, 1);
    report.bytes_per_s = 2 * static_cast<double>(long_bytes) / median(round_trips(comm, rank, long_bytes, long_trips));
    reports.push_back(std::move(report));
  }
  return reports;
}

int answer_pings(World& world, const std::string& program) try {
  const Communicator& comm = world.communicator();
  while (true) {
    const Arrival arrival = comm.wait(master);
    if (arrival.tag == Tag::release) return comm.receive<std::int32_t>(arrival).at(0);
    EMPLACE_CHECK(arrival.tag == Tag::report, "the master sent tag {}", static_cast<int>(arrival.tag));
    const std::uint64_t trips = comm.receive<std::uint64_t>(arrival).at(0);
    comm.send(std::span<const std::byte>(pack_self(program)), master, Tag::report);
    for (std::uint64_t trip = 0; trip < trips; ++trip)
      comm.send(std::span<const std::byte>(receive_at_once(comm, master, Tag::ping)), master, Tag::ping);
  }
} catch (...) {
  end_job(world);
}

std::vector<Library> mpi_libraries() {
  int version = 0, subversion = 0, length = 0;
  mpi::check(MPI_Get_version(&version, &subversion), "MPI_Get_version");
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  mpi::check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  text.resize(std::min(text.find_first_of(",\n", 0), static_cast<std::size_t>(length)));
#if defined(OMPI_MAJOR_VERSION)
  const std::string headers = fmt::format("{}.{}.{}", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
#elif defined(MPICH_VERSION)
  const std::string headers = MPICH_VERSION;
#else
  const std::string headers;
#endif
  return {
      {"MPI standard", fmt::format("{}.{}", MPI_VERSION, MPI_SUBVERSION), fmt::format("{}.{}", version, subversion)},
      {"MPI library", headers, text}};
}

}  // namespace emplace::dist
