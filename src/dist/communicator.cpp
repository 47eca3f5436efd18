#include "dist/communicator.hpp"

#include <cstdlib>
#include <limits>
#include <utility>

#include "dist/idle.hpp"

namespace emplace::dist {

namespace mpi {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  throw EnvironmentError("{}: {}", call, std::string_view(text, static_cast<std::size_t>(length)));
}

int count_of(std::size_t elements) {
  EMPLACE_CHECK(elements <= static_cast<std::size_t>(std::numeric_limits<int>::max()), "{} elements in one message",
                elements);
  return static_cast<int>(elements);
}

}  // namespace mpi

Sending::Sending(std::vector<std::byte> message, int to, Tag tag, MPI_Comm comm, std::size_t part)
    : message_(std::move(message)) {
  in_parts(message_.size(), part, [&](std::size_t begin, std::size_t count) {
    requests_.push_back(MPI_REQUEST_NULL);
    mpi::check(MPI_Isend(message_.data() + begin, mpi::count_of(count), MPI_BYTE, to, static_cast<int>(tag), comm,
                         &requests_.back()),
               "MPI_Isend");
  });
}

Sending::~Sending() {
  for (MPI_Request& request : requests_)
    if (request != MPI_REQUEST_NULL) MPI_Wait(&request, MPI_STATUS_IGNORE);
}

Sending::Sending(Sending&& other) noexcept
    : message_(std::move(other.message_)), requests_(std::exchange(other.requests_, {})) {}

Communicator::Communicator(MPI_Comm comm) : comm_(comm) {
  mpi::check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  mpi::check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  mpi::check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
}

std::unique_ptr<Communicator> Communicator::split(int part) const {
  MPI_Comm comm = MPI_COMM_NULL;
  mpi::check(MPI_Comm_split(comm_, part, rank_, &comm), "MPI_Comm_split");
  auto split = std::make_unique<Communicator>(comm);
  split->cut_into(part_bytes_);
  return split;
}

void Communicator::free() { mpi::check(MPI_Comm_free(&comm_), "MPI_Comm_free"); }

std::optional<Arrival> Communicator::poll(int source, int tag) const {
  int there = 0;
  MPI_Status status;
  mpi::check(MPI_Iprobe(source, tag, comm_, &there, &status), "MPI_Iprobe");
  if (there == 0) return std::nullopt;
  int bytes = 0;
  mpi::check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  return Arrival{status.MPI_SOURCE, static_cast<Tag>(status.MPI_TAG), bytes};
}

Arrival Communicator::wait(int source, int tag) const {
  const double start = mpi::now();
  for (Idle idle;; idle.wait())
    if (const std::optional<Arrival> arrival = poll(source, tag)) {
      traffic_.waited_s += mpi::now() - start;
      return *arrival;
    }
}

std::optional<Arrival> Communicator::wait_unless(int source, const std::function<bool()>& give_up) const {
  const double start = mpi::now();
  std::optional<Arrival> arrival;
  for (Idle idle; !(arrival = poll(source)) && !give_up();) idle.wait();
  traffic_.waited_s += mpi::now() - start;
  return arrival;
}

void Communicator::announce(std::span<const std::byte> bytes, Tag tag) const {
  const std::uint64_t size = bytes.size();
  for (int rank = 0; rank < size_; ++rank)
    if (rank != rank_) send(std::span(&size, 1), rank, tag);
  // The root's buffer is only read.
  broadcast(std::span(const_cast<std::byte*>(bytes.data()), bytes.size()), rank_);
}

std::vector<std::byte> Communicator::receive_broadcast(const Arrival& arrival) const {
  std::vector<std::byte> bytes(receive<std::uint64_t>(arrival).at(0));
  broadcast(std::span(bytes), arrival.source);
  return bytes;
}

void Communicator::abort(int code) const {
  MPI_Abort(comm_, code);
  std::_Exit(code);
}

std::string host_name() {
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  if (MPI_Get_processor_name(name, &length) != MPI_SUCCESS) return "unknown host";
  return {name, static_cast<std::size_t>(length)};
}

}  // namespace emplace::dist
