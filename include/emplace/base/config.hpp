// Configuration values, each with the place it came from; TOML files, key=value overrides and `?key=value` queries are
// parsed into them. A key of a ConfigTable that is never read is an error, whose message names the most similar valid
// key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace emplace {

class ConfigTable;
struct ConfigValue;
using ConfigList = std::vector<ConfigValue>;

struct ConfigValue {
  std::variant<bool, std::int64_t, double, std::string, ConfigList, std::vector<ConfigTable>>
      data;                    // a table is one element
  std::string place;           // "file.toml:12" or "command line"
  bool is_table_list = false;  // [[name]]: a list of tables, not a single one

  [[nodiscard]] const char* type_name() const;
  [[nodiscard]] std::string to_toml() const;  // the text after "key = "

  // Equal values, wherever they came from.
  friend bool operator==(const ConfigValue& a, const ConfigValue& b);
};

// Values under unique keys, in the order in which they were set. Values of a wrong type and keys that are never read
// are InputErrors with file and line.
class ConfigTable {
 public:
  // Defined in the .cpp file, because a value may hold tables: these functions need the complete type ConfigValue.
  ConfigTable();
  explicit ConfigTable(std::string place);
  ConfigTable(const ConfigTable&);
  ConfigTable(ConfigTable&&) noexcept;
  ConfigTable& operator=(const ConfigTable&);
  ConfigTable& operator=(ConfigTable&&) noexcept;
  ~ConfigTable();

  // Parses TOML. `file` names the text in messages. Refuses texts over 16 MiB and nesting beyond 64.
  static ConfigTable parse_toml(std::string_view text, const std::string& file);
  static ConfigTable read_toml(const std::string& path);
  // Parses one `value` of the command line: as TOML if it is valid TOML, else as plain text.
  static ConfigValue parse_value(std::string_view text, const std::string& place);

  [[nodiscard]] const std::string& place() const { return place_; }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] bool contains(std::string_view key) const { return find(key) != nullptr; }
  [[nodiscard]] const ConfigValue* find(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> keys() const;
  void set(const std::string& key, ConfigValue value);  // replaces
  void erase(std::string_view key);
  // "post.elite_fraction": sets inside the named sub-table, which is made if absent.
  void set_path(std::string_view dotted, ConfigValue value);

  // Typed reads; each marks the key as read. A missing key without default is an InputError.
  std::string text(std::string_view key) const;
  std::string text(std::string_view key, std::string fallback) const;
  double number(std::string_view key) const;
  double number(std::string_view key, double fallback) const;
  std::int64_t whole(std::string_view key, std::int64_t fallback) const;
  bool flag(std::string_view key, bool fallback) const;
  std::vector<std::string> texts(std::string_view key) const;          // [] if absent
  const ConfigTable& table(std::string_view key) const;                // an empty table if absent
  const std::vector<ConfigTable>& tables(std::string_view key) const;  // [[key]]; [] if absent
  [[nodiscard]] std::string place_of(std::string_view key) const;

  // Throws InputError for the first key that was never read, naming the nearest of `known` (and of the keys read).
  void refuse_unread(const std::vector<std::string>& known = {}) const;

  [[nodiscard]] std::string to_toml() const;

  // The same keys with equal values, in any order and wherever they came from.
  friend bool operator==(const ConfigTable& a, const ConfigTable& b);

 private:
  const ConfigValue& need(std::string_view key) const;

  std::vector<std::pair<std::string, ConfigValue>> values_;
  mutable std::vector<std::string> read_;
  std::string place_;
};

// Returns the value in the type of an option. Throws InputError, which names the place and both types, if it has
// another type.
std::int64_t as_whole(const ConfigValue& value, std::string_view key);
double as_number(const ConfigValue& value, std::string_view key);
bool as_flag(const ConfigValue& value, std::string_view key);
std::string as_text(const ConfigValue& value, std::string_view key);
std::vector<std::string> as_texts(const ConfigValue& value, std::string_view key);

}  // namespace emplace
