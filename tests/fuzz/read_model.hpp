// Bytes as a file that a reader of models takes.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>

#include "base/log.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"

namespace emplace {

// Any bytes are a graph that costs and passes survive, or an InputError. `has_open_sizes`: the format has inputs that
// --batch and --shape can size.
inline void read_model(std::initializer_list<const char*> names, const std::uint8_t* data, std::size_t size,
                       bool has_open_sizes = true) {
  static const int file = [] {
    log::configure(log::Level::off, false);
    return ::memfd_create("fuzz", 0);
  }();
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  formats::ReadOptions options;
  if (has_open_sizes && size % 2 == 0) options.batch = 4;
  if (has_open_sizes && size % 5 == 0) options.shapes["x"] = {2, 3};
  for (const char* name : names) try {
      const Graph graph =
          find_entry(formats::readers(), name, "reader").read("/proc/self/fd/" + std::to_string(file), options);
      graph.validate("accepted");
      static_cast<void>(statistics(graph));
      const Graph pruned = prune(graph).graph;
      pruned.validate("pruned");
      share_parameters(pruned).graph.validate("shared");
    } catch (const InputError&) {
    }
}

}  // namespace emplace
