// Option records: one description of an option (name, unit, bounds, default, sentence) serves the TOML reader,
// key=value overrides, --help, `emplace list` and the checkpoint's echo.
//
//   struct PpoOptions { double clip_ratio = 0.2; int epochs = 4; };
//   void describe(PpoOptions& o, OptionVisitor& visit) {
//     visit("clip_ratio", o.clip_ratio, {.min = 0, .max = 1, .help = "Largest change of an action's probability."});
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emplace/base/config.hpp"

namespace emplace {

// What the value of an option changes. Resuming, sweeps and `emplace doctor` read it here, so that there is no second
// list of keys.
enum class Affects : std::uint8_t {
  results,  // the results; they can be compared with those of other values
  task,     // the problem or how placements are scored: results of other values cannot be compared
  budget,   // how far a run goes
  speed,    // how fast a run is, and what it keeps and shows; its results are the same bits for every value
  place,    // where files are written
};

// A condition on another option: of the same table, or of the recipe if the table has no such key ("learner").
struct OptionCondition {
  std::string key;
  std::vector<std::string> values;  // as in TOML, texts without quotes
  bool is_not = false;              // the option must have none of the values
};

struct OptionMeta {
  std::optional<double> min = {};         // smallest value allowed
  std::optional<double> max = {};         // largest value allowed
  bool above_min = false;                 // the value must be greater than `min`
  std::string unit = {};                  // "s", "bytes", ...
  std::vector<std::string> choices = {};  // texts allowed; empty: any
  std::string help = {};                  // one sentence
  Affects affects = Affects::results;
  std::vector<OptionCondition> only_with = {};  // the option has an effect only if all of these hold
};

class OptionVisitor {
 public:
  virtual ~OptionVisitor() = default;
  virtual void operator()(const char* name, bool& value, const OptionMeta& meta) = 0;
  virtual void operator()(const char* name, std::int64_t& value, const OptionMeta& meta) = 0;
  virtual void operator()(const char* name, double& value, const OptionMeta& meta) = 0;
  virtual void operator()(const char* name, std::string& value, const OptionMeta& meta) = 0;
  virtual void operator()(const char* name, std::vector<std::string>& value, const OptionMeta& meta) = 0;
  void operator()(const char* name, int& value, const OptionMeta& meta) {
    std::int64_t wide = value;
    OptionMeta bounded = meta;
    if (!bounded.min) bounded.min = -2147483648.0;
    if (!bounded.max) bounded.max = 2147483647.0;
    (*this)(name, wide, bounded);
    value = static_cast<int>(wide);
  }
};

// What `emplace list --json` and --help print of one option.
struct OptionInfo {
  std::string name, type, default_value, help, unit;  // default_value: "" where there is none
  std::vector<std::string> choices;
  Affects affects = Affects::results;
  std::vector<OptionCondition> only_with = {};
};

// Sets options from a table; checks types, bounds and choices of the keys that are there (a default may stand for
// "none" outside the bounds). Does not refuse unread keys (see refuse_unread).
class OptionReader final : public OptionVisitor {
 public:
  explicit OptionReader(const ConfigTable& table) : table_(table) {}
  using OptionVisitor::operator();
  void operator()(const char* name, bool& value, const OptionMeta& meta) override;
  void operator()(const char* name, std::int64_t& value, const OptionMeta& meta) override;
  void operator()(const char* name, double& value, const OptionMeta& meta) override;
  void operator()(const char* name, std::string& value, const OptionMeta& meta) override;
  void operator()(const char* name, std::vector<std::string>& value, const OptionMeta& meta) override;
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  const ConfigTable& table_;
  std::vector<std::string> names_;
};

// Collects names, types, defaults and sentences.
class OptionLister final : public OptionVisitor {
 public:
  using OptionVisitor::operator();
  void operator()(const char* name, bool& value, const OptionMeta& meta) override;
  void operator()(const char* name, std::int64_t& value, const OptionMeta& meta) override;
  void operator()(const char* name, double& value, const OptionMeta& meta) override;
  void operator()(const char* name, std::string& value, const OptionMeta& meta) override;
  void operator()(const char* name, std::vector<std::string>& value, const OptionMeta& meta) override;
  std::vector<OptionInfo> options;
};

// Writes the present values into a table: the echo of a resolved configuration. A value outside its bounds is a default
// that stands for "none" and is left out, as it would be refused when it is read.
class OptionEcho final : public OptionVisitor {
 public:
  explicit OptionEcho(ConfigTable& table) : table_(table) {}
  using OptionVisitor::operator();
  void operator()(const char* name, bool& value, const OptionMeta& meta) override;
  void operator()(const char* name, std::int64_t& value, const OptionMeta& meta) override;
  void operator()(const char* name, double& value, const OptionMeta& meta) override;
  void operator()(const char* name, std::string& value, const OptionMeta& meta) override;
  void operator()(const char* name, std::vector<std::string>& value, const OptionMeta& meta) override;

 private:
  ConfigTable& table_;
};

// Options of type T with the table's values; every key of the table must belong to T.
template <class T>
T read_options(const ConfigTable& table) {
  T options;
  OptionReader reader(table);
  describe(options, reader);
  table.refuse_unread(reader.names());
  return options;
}

template <class T>
std::vector<OptionInfo> list_options() {
  T options;
  OptionLister lister;
  describe(options, lister);
  return std::move(lister.options);
}

template <class T>
ConfigTable echo_options(T options) {
  ConfigTable table;
  OptionEcho echo(table);
  describe(options, echo);
  return table;
}

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
