// Each kind of plug-in (placers, policies, evaluators, readers, ...) has one list of entries: name, summary, paper,
// options, factory. `emplace list`, --help, the conformance tests and the benchmark rows iterate over that list. The
// entries of emplace are written out in one source file per kind; a program that links emplace adds its own with
// register_placer(), register_policy(), register_evaluator() and register_reader().
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"

namespace emplace {

// The fields that every kind of entry has; a folder's entry type derives from it and adds its factory.
struct EntryInfo {
  std::string name = {};
  std::string summary = {};    // one sentence
  std::string reference = {};  // paper or source
  std::function<std::vector<OptionInfo>()> options = [] { return std::vector<OptionInfo>{}; };
};

template <class Entry>
std::vector<std::string> entry_names(std::span<const Entry> entries) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(entry.name);
  return names;
}

// Throws InputError: there is no entry called `name`; suggests the most similar of `names`, or lists them.
[[noreturn]] void throw_unknown_entry(std::string_view name, std::span<const std::string> names, std::string_view kind,
                                      std::string_view place);
// Throws InputError unless `name` can be the name of a new entry: lower-case letters, digits and single '-' between
// them, and not among `names`.
void check_new_entry(std::string_view name, std::span<const std::string> names, std::string_view kind);

// Returns the entry called `name`. Throws InputError, which suggests the most similar name, if there is none. `kind`
// ("policy", "placer", ...) and `place` are for that message.
template <class Entry>
const Entry& find_entry(std::span<const Entry> entries, std::string_view name, std::string_view kind,
                        std::string_view place = {}) {
  for (const Entry& entry : entries)
    if (entry.name == name) return entry;
  throw_unknown_entry(name, entry_names(entries), kind, place);
}

// The list of one kind: the entries of emplace and, after them, those that the program added. Entries are added before
// the list is used (at the beginning of main), by one thread.
template <class Entry>
class Registry {
 public:
  Registry(std::string_view kind, std::vector<Entry> built_in) : kind_(kind), entries_(std::move(built_in)) {}
  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
  // InputError for a name that is taken or malformed.
  void add(Entry entry) {
    check_new_entry(entry.name, entry_names(entries()), kind_);
    entries_.push_back(std::move(entry));
  }

 private:
  std::string_view kind_;
  std::vector<Entry> entries_;
};

}  // namespace emplace
