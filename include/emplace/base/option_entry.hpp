// Entries of lists (registry.hpp) whose options are one record.
#pragma once

#include <memory>

#include "emplace/base/options.hpp"

namespace emplace {

// Fills options, make and resolve of an entry that makes a `Made` of its Options and of what else its factory is given.
// `read` may check more than each option by itself.
template <class Made, class Options, class Entry>
void make_from_options(Entry& entry, Options (*read)(const ConfigTable& table) = read_options<Options>) {
  entry.options = list_options<Options>;
  entry.make = [read](const ConfigTable& table, const auto&... rest) {
    return std::make_unique<Made>(read(table), rest...);
  };
  entry.resolve = [read](const ConfigTable& table) { return echo_options(read(table)); };
}

}  // namespace emplace
