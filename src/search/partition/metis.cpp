// METIS (Karypis and Kumar 1998) with two constraints: work in proportion to the devices' speed, and memory to their
// size. It uses recursive bisection, which the manual recommends for several constraints; on chains the direct k-way
// method misses them by far. No other file uses METIS.
#include <fcntl.h>
#include <metis.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <numeric>

#include "emplace/base/error.hpp"
#include "search/common/predicted_time.hpp"
#include "search/methods.hpp"
#include "search/partition/partition.hpp"

namespace emplace::search {

namespace {

// The first is METIS's own default. With larger ones it can keep more units together.
constexpr double metis_imbalances[] = {0.03, 0.1, 0.4, 1.5};
// Sums of weights have to stay below 2^31, with 1 for every small one.
constexpr double metis_weight = 0x1p30;
constexpr double smallest_share = 1e-4;  // of the work; METIS divides by shares in single precision

// Silences standard output: METIS prints there if a part of its recursion has no vertices. One object exists at a time:
// a second thread would keep /dev/null as the output to restore.
class Muted {
 public:
  Muted() : only_(mutex_of_output()), kept_(::dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    const int nowhere = kept_ < 0 ? -1 : ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    ::dup2(nowhere, STDOUT_FILENO);
    ::close(nowhere);
  }
  ~Muted() {
    if (kept_ < 0) return;
    std::fflush(stdout);
    ::dup2(kept_, STDOUT_FILENO);
    ::close(kept_);
  }
  Muted(const Muted&) = delete;
  Muted& operator=(const Muted&) = delete;

 private:
  static std::mutex& mutex_of_output() {
    static std::mutex mutex;
    return mutex;
  }

  std::lock_guard<std::mutex> only_;
  int kept_;
};

struct Constraint {
  std::vector<std::int64_t> weight;  // U
  std::vector<double> share;         // K, sums to 1
  double slack;                      // a device may hold its share times this
};

Constraint work_constraint(const Processors& processors, double imbalance) {
  Constraint work{scaled(processors.work, metis_weight), {}, 1 + imbalance};
  const double sum = std::accumulate(processors.speed.begin(), processors.speed.end(), 0.0);
  for (const double speed : processors.speed) work.share.push_back(std::max(speed / sum, smallest_share));
  return work;
}

// Shares are in proportion to the devices' memory. If all memory is larger than the need by some factor, a device may
// hold its share times that factor. Returns nothing if memory is no constraint.
std::optional<Constraint> memory_constraint(const Problem& problem, const Units& units, const Processors& processors) {
  double memory = 0, need[2] = {0, 0};
  bool limited = false;
  constexpr MemoryView views[] = {MemoryView::outputs, MemoryView::resident};
  for (int v : {0, 1})
    for (std::size_t unit = 0; unit < units.count(); ++unit)
      need[v] += static_cast<double>(units.memory(unit, views[v]));
  std::vector<double> size;
  for (const std::uint8_t d : processors.device) {
    limited = limited || problem.devices[d].memory != no_memory_limit;
    size.push_back(std::min(static_cast<double>(problem.devices[d].memory), need[0]));
    memory += size.back();
  }
  // All outputs together are more than is ever needed at one time: if they cannot fit, only resident bytes are counted.
  const int v = need[0] <= memory ? 0 : 1;
  if (!limited || need[v] == 0 || memory == 0) return std::nullopt;
  Constraint constraint{{}, {}, std::max(1.001, memory / need[v])};
  std::vector<double> bytes;
  for (std::size_t unit = 0; unit < units.count(); ++unit)
    bytes.push_back(static_cast<double>(units.memory(unit, views[v])));
  constraint.weight = scaled(bytes, metis_weight);
  for (const double s : size) constraint.share.push_back(std::max(s / memory, smallest_share));
  return constraint;
}

void check(int status) {
  EMPLACE_CHECK(status != METIS_ERROR_INPUT);
  if (status == METIS_ERROR_MEMORY) throw EnvironmentError("METIS ran out of memory");
  if (status != METIS_OK) throw EnvironmentError("METIS ended with an error or was told to terminate");
}

std::vector<std::uint32_t> partition(const std::vector<Constraint>& constraints, const UnitGraph& graph,
                                     std::size_t parts, std::uint64_t seed) {
  idx_t vertices = static_cast<idx_t>(graph.begin.size() - 1), kinds = static_cast<idx_t>(constraints.size());
  idx_t part_count = static_cast<idx_t>(parts), cut = 0;
  std::vector<idx_t> weights;
  for (std::size_t u = 0; u + 1 < graph.begin.size(); ++u)
    for (const Constraint& constraint : constraints) weights.push_back(static_cast<idx_t>(constraint.weight[u]));
  std::vector<real_t> shares, slacks;
  for (const Constraint& constraint : constraints) slacks.push_back(static_cast<real_t>(constraint.slack));
  for (std::size_t k = 0; k < parts; ++k)
    for (const Constraint& constraint : constraints)
      shares.push_back(static_cast<real_t>(constraint.share[k] /
                                           std::accumulate(constraint.share.begin(), constraint.share.end(), 0.0)));
  const std::vector<std::int64_t> edges = scaled(graph.weight, metis_weight);
  std::vector<idx_t> begin(graph.begin.begin(), graph.begin.end());
  std::vector<idx_t> neighbours(graph.neighbour.begin(), graph.neighbour.end());
  std::vector<idx_t> edge_weights(edges.begin(), edges.end());
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = static_cast<idx_t>(seed & 0x7fffffff);
  options[METIS_OPTION_NUMBERING] = 0;
  std::vector<idx_t> part(graph.begin.size() - 1, 0);
  {
    const Muted muted;
    check(METIS_PartGraphRecursive(&vertices, &kinds, begin.data(), neighbours.data(), weights.data(), nullptr,
                                   edge_weights.data(), &part_count, shares.data(), slacks.data(), options, &cut,
                                   part.data()));
  }
  return {part.begin(), part.end()};
}

PlacerResult place_metis(const PlacerRequest& request, const ConfigTable& options) {
  const auto known = read_options<PartitionOptions>(options);
  return place_by_partition(request, known, every_device(*request.problem), metis_imbalances,
                            [&](const Units& units, const UnitGraph& graph, const Processors& processors,
                                double imbalance, std::uint64_t seed) {
                              std::vector<Constraint> constraints{work_constraint(processors, imbalance)};
                              if (auto memory = memory_constraint(*request.problem, units, processors);
                                  memory && known.knows != "graph")
                                constraints.push_back(std::move(*memory));
                              return partition(constraints, graph, processors.count(), seed);
                            });
}

}  // namespace

PlacerEntry metis_placer() {
  PlacerEntry entry;
  entry.name = "metis";
  entry.summary = "METIS partitions the graph, with work in proportion to the devices' speed and memory to their size.";
  entry.reference = "Karypis and Kumar 1998; Zhou et al. 2020";
  entry.options = list_options<PartitionOptions>;
  entry.unfit = [](const PlacerRequest& request) { return why_too_long("metis", request); };
  entry.place = place_metis;
  return entry;
}

}  // namespace emplace::search
