// Random dnn-partitioning problems for RapidCheck: few nodes, colours, backward nodes, costs with many ties.
#pragma once

#include <rapidcheck.h>

#include "simulate/pipeline/pipeline.hpp"
#include "tests/support/partitioning.hpp"

namespace emplace::test {

struct RandomSplit {
  Partitioning problem;
  simulate::PipelineOptions count;
};

// Half of them train: every forward node may have a backward one of its colour, with the edges mirrored.
inline rc::Gen<RandomSplit> random_split(int most_nodes = 8) {
  return rc::gen::exec([most_nodes] {
    RandomSplit random;
    Partitioning& p = random.problem;
    const bool training = *rc::gen::arbitrary<bool>();
    const int forward = *rc::gen::inRange(1, (training ? most_nodes / 2 : most_nodes) + 1);
    const auto node = [&](int color, bool backward) {
      const bool idle = *rc::gen::inRange(0, 4) == 0;
      p.nodes.push_back({.accelerator = idle ? 0.0 : *rc::gen::inRange(0, 7),
                         .cpu = idle ? 0.0 : *rc::gen::inRange(0, 20),
                         .cost = static_cast<double>(*rc::gen::inRange(0, 4)),
                         .size = *rc::gen::inRange(0, 4),
                         .color = color,
                         .backward = backward});
    };
    for (int v = 0; v < forward; ++v)
      node(*rc::gen::weightedElement<int>({{training ? 8 : 4, v}, {1, *rc::gen::inRange(0, forward)}}), false);
    for (int v = 1; v < forward; ++v)
      for (int u = 0; u < v; ++u)
        if (*rc::gen::inRange(0, 5) < (u + 1 == v ? 3 : 1)) p.edges.emplace_back(u, v);
    if (training) {
      const auto edges = p.edges;
      for (int v = 0; v < forward; ++v) node(p.nodes[static_cast<std::size_t>(v)].color, true);
      for (const auto& [u, v] : edges) p.edges.emplace_back(forward + v, forward + u);
      for (int v = 0; v < forward; ++v)
        if (*rc::gen::arbitrary<bool>()) p.edges.emplace_back(v, forward + v);
    }
    p.accelerators = *rc::gen::inRange<std::size_t>(1, 4);
    p.cpus = *rc::gen::inRange<std::size_t>(0, 2);
    p.memory = *rc::gen::weightedElement<Bytes>({{2, 1000}, {1, 6}, {1, 3}});
    random.count = {*rc::gen::inRange(0, 4) == 0, training && *rc::gen::inRange(0, 3) == 0};
    return random;
  });
}

inline std::ostream& operator<<(std::ostream& out, const RandomSplit& random) {
  return out << random.problem.text() << (random.count.overlap ? " overlap" : "")
             << (random.count.separate_phases ? " separate phases" : "") << "\n";
}

}  // namespace emplace::test
