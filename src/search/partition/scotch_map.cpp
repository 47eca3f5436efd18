// No other file uses Scotch.
#include "search/partition/scotch_map.hpp"

#include <cstdarg>
#include <cstdint>
#include <cstdio>  // scotch.h needs both
#include <string>

#include "emplace/base/error.hpp"

extern "C" {
#include <scotch.h>
}

namespace {
thread_local std::string scotch_message;  // Scotch's last error message

void note(const char* format, std::va_list arguments) {
  char text[512];
  std::vsnprintf(text, sizeof text, format, arguments);
  scotch_message = text;
}
}  // namespace

// Programs that use Scotch must define these functions; those of its library libscotcherr print.
extern "C" {
void SCOTCH_errorProg(const char*) {}
void SCOTCH_errorPrint(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  note(format, arguments);
  va_end(arguments);
}
void SCOTCH_errorPrintW(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  note(format, arguments);
  va_end(arguments);
}
}

namespace emplace::search {

namespace {

// Sums over edges of weight x distance stay below 2^31 * 2^14 * 2, so 64 bits cannot overflow.
constexpr double scotch_weight = 0x1p31;
// Distances; rounding to integers is within 6 % even for the closest pair.
constexpr double closest = 16, farthest = 0x1p14;
constexpr double total_speed = 0x1p16;

void check(int failed, const char* what) {
  if (failed != 0) throw EnvironmentError("Scotch failed to {}: {}", what, scotch_message);
}

// Has its own seeded random numbers: without a context, each call would continue the random stream of the one before.
class Context {
 public:
  explicit Context(std::uint64_t seed) {
    check(SCOTCH_contextInit(&context_), "make a context");
    check(SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMDETERMINISTIC, 1), "be deterministic");
    check(SCOTCH_contextThreadSpawn(&context_, 1, nullptr), "run in one thread");
    SCOTCH_contextRandomSeed(&context_, static_cast<SCOTCH_Num>(seed >> 1));
    SCOTCH_contextRandomReset(&context_);
  }
  ~Context() { SCOTCH_contextExit(&context_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  SCOTCH_Context* get() { return &context_; }

 private:
  SCOTCH_Context context_;
};

// A graph bound to a context. It owns the lists, into which Scotch keeps pointers.
class BoundGraph {
 public:
  BoundGraph(Context& context, std::vector<SCOTCH_Num> begin, std::vector<SCOTCH_Num> vertex_weight,
             std::vector<SCOTCH_Num> neighbour, std::vector<SCOTCH_Num> edge_weight)
      : begin_(std::move(begin)),
        vertex_weight_(std::move(vertex_weight)),
        neighbour_(std::move(neighbour)),
        edge_weight_(std::move(edge_weight)) {
    SCOTCH_graphInit(&graph_);
    SCOTCH_graphInit(&bound_);
    check(SCOTCH_graphBuild(&graph_, 0, static_cast<SCOTCH_Num>(vertex_weight_.size()), begin_.data(),
                            begin_.data() + 1, vertex_weight_.data(), nullptr,
                            static_cast<SCOTCH_Num>(neighbour_.size()), neighbour_.data(), edge_weight_.data()),
          "build a graph");
    check(SCOTCH_contextBindGraph(context.get(), &graph_, &bound_), "bind a graph");
  }
  ~BoundGraph() {
    SCOTCH_graphExit(&bound_);
    SCOTCH_graphExit(&graph_);
  }
  BoundGraph(const BoundGraph&) = delete;
  BoundGraph& operator=(const BoundGraph&) = delete;
  SCOTCH_Graph* get() { return &bound_; }

 private:
  SCOTCH_Graph graph_, bound_;
  std::vector<SCOTCH_Num> begin_, vertex_weight_, neighbour_, edge_weight_;
};

class Strategy {
 public:
  Strategy() { check(SCOTCH_stratInit(&strategy_), "make a strategy"); }
  ~Strategy() { SCOTCH_stratExit(&strategy_); }
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
  SCOTCH_Strat* get() { return &strategy_; }

 private:
  SCOTCH_Strat strategy_;
};

// The devices as a complete graph, weighted by speed and distance, which Scotch splits recursively.
class Architecture {
 public:
  Architecture(Context& context, const Processors& processors) {
    const std::size_t count = processors.count();
    std::vector<SCOTCH_Num> begin{0}, neighbour, distance;
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b) {
        if (a == b) continue;
        neighbour.push_back(static_cast<SCOTCH_Num>(b));
        distance.push_back(
            static_cast<SCOTCH_Num>(std::min(closest * processors.distance[a * count + b] + 0.5, farthest)));
      }
      begin.push_back(static_cast<SCOTCH_Num>(neighbour.size()));
    }
    BoundGraph graph(context, std::move(begin), scaled(processors.speed, total_speed), std::move(neighbour),
                     std::move(distance));
    Strategy strategy;
    check(SCOTCH_archInit(&architecture_), "make an architecture");
    check(SCOTCH_archBuild(&architecture_, graph.get(), 0, nullptr, strategy.get()), "describe the devices");
  }
  ~Architecture() { SCOTCH_archExit(&architecture_); }
  Architecture(const Architecture&) = delete;
  Architecture& operator=(const Architecture&) = delete;
  SCOTCH_Arch* get() { return &architecture_; }

 private:
  SCOTCH_Arch architecture_;
};

}  // namespace

std::vector<std::uint32_t> scotch_map(const UnitGraph& graph, const Processors& processors, double imbalance,
                                      std::uint64_t seed) {
  EMPLACE_CHECK(SCOTCH_numSizeof() == sizeof(SCOTCH_Num), "scotch.h and libscotch.a differ in the size of numbers");
  std::vector<std::uint32_t> part(graph.begin.size() - 1, 0);
  if (processors.count() == 1) return part;

  Context context(seed);
  Architecture architecture(context, processors);
  BoundGraph units(context, {graph.begin.begin(), graph.begin.end()}, scaled(processors.work, scotch_weight),
                   {graph.neighbour.begin(), graph.neighbour.end()}, scaled(graph.weight, 2 * scotch_weight));
  Strategy strategy;
  check(SCOTCH_stratGraphMapBuild(strategy.get(), SCOTCH_STRATDEFAULT, static_cast<SCOTCH_Num>(processors.count()),
                                  imbalance),
        "make a strategy");
  // SCOTCH_graphMapFixed is not used for units that only one device can run: version 7.0.3 then puts their neighbours
  // on the wrong device.
  std::vector<SCOTCH_Num> place(part.size(), 0);
  check(SCOTCH_graphMap(units.get(), architecture.get(), strategy.get(), place.data()), "map the graph");
  for (std::size_t unit = 0; unit < part.size(); ++unit) {
    EMPLACE_CHECK(place[unit] >= 0 && place[unit] < static_cast<SCOTCH_Num>(processors.count()));
    part[unit] = static_cast<std::uint32_t>(place[unit]);
  }
  return part;
}

}  // namespace emplace::search
