// A helper for plug-in entries (registry.hpp) whose options are one record (options.hpp).
#pragma once

#include <memory>

#include "emplace/base/options.hpp"

namespace emplace {

// Sets `options`, `make` and `resolve` of an entry whose factory constructs a `Made` from Options and the factory's
// further arguments. `read` reads the Options; a caller's own `read` can also check options against each other.
template <class Made, class Options, class Entry>
void make_from_options(Entry& entry, Options (*read)(const ConfigTable& table) = read_options<Options>) {
  entry.options = list_options<Options>;
  entry.make = [read](const ConfigTable& table, const auto&... rest) {
    return std::make_unique<Made>(read(table), rest...);
  };
  entry.resolve = [read](const ConfigTable& table) { return echo_options(read(table)); };
}

}  // namespace emplace
