#include "emplace/dist/world.hpp"

#include <sys/prctl.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/text.hpp"
#include "dist/communicator.hpp"
#include "dist/work_pool.hpp"

namespace emplace::dist {

World::World(int& argc, char**& argv) {
  int started = 0;
  mpi::check(MPI_Initialized(&started), "MPI_Initialized");
  EMPLACE_CHECK(started == 0, "MPI starts only once in a process");
  int threads = 0;
  mpi::check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &threads), "MPI_Init_thread");
  communicator_ = std::make_unique<Communicator>(MPI_COMM_WORLD);
  has_workers_ = is_master() && size() > 1;
  // The class Idle sleeps for microseconds; by default Linux makes each sleep 50 us longer.
  if (size() > 1) ::prctl(PR_SET_TIMERSLACK, 1000UL);
}

World::World(std::unique_ptr<Communicator> part) : communicator_(std::move(part)), is_part_(true) {
  has_workers_ = is_master() && size() > 1;
}

std::unique_ptr<World> World::split(int part) {
  has_workers_ = false;
  return std::unique_ptr<World>(new World(communicator_->split(part)));
}

World::~World() {
  try {
    release_workers(*this, static_cast<int>(is_part_ ? ExitCode::done : ExitCode::failure));
    if (is_part_) {
      communicator_->free();
      return;
    }
  } catch (const std::exception&) {
    abort(static_cast<int>(ExitCode::failure));  // else the workers would wait for ever
  }
  MPI_Finalize();
  // mpirun of Open MPI 4.1 takes one or two seconds longer to end a failing job whose other ranks are gone before it.
  if (job_fails_) std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

WorkPool& World::work_pool() {
  EMPLACE_CHECK(is_master() && size() > 1, "work for workers needs rank 0 and a second rank");
  if (work_pool_ == nullptr) work_pool_ = std::make_unique<WorkPool>(*this);
  return *work_pool_;
}

int World::rank() const { return communicator_->rank(); }
int World::size() const { return communicator_->size(); }
const Traffic& World::traffic() const { return communicator_->traffic(); }
double World::seconds() { return mpi::now(); }

void World::abort(int code) {
  std::fflush(nullptr);
  communicator_->abort(code);
}

void release_workers(World& world, int exit_code) {
  if (!world.has_workers_) return;
  world.has_workers_ = false;
  const auto code = static_cast<std::int32_t>(exit_code);
  for (int worker = 1; worker < world.size(); ++worker)
    world.communicator_->send(std::span(&code, 1), worker, Tag::release);
}

std::size_t ranks_on_this_host() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
    if (const char* const text = std::getenv(name); text != nullptr)
      if (std::int64_t ranks = 0; parse_number(text, ranks) && ranks > 0) return static_cast<std::size_t>(ranks);
  return 1;
}

bool started_by_mpi() {
  // mpirun of Open MPI; any PMIx launcher (srun --mpi=pmix, prterun); PMI-1 and PMI-2 (srun, hydra); smpirun. Slurm's
  // own variables are no evidence: they are also set in a batch script that runs the program without srun.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "SMPI_GLOBAL_SIZE"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

}  // namespace emplace::dist
