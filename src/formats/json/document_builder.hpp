// Makes a Document from the values of a text, in its order. In a header, because the parsers call it for every value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/json/json.hpp"

namespace emplace::formats::json {

// Nesting beyond this many levels is an error.
inline constexpr std::size_t deepest_json = 64;

class DocumentBuilder {
 public:
  // Each adds a value to the innermost array or object and returns true, for parsers to go on.
  bool add_null() { return add({}); }
  bool add_boolean(bool value) { return add_whole(Kind::boolean, value ? 1 : 0); }
  bool add_whole(std::int64_t value) { return add_whole(Kind::whole, value); }
  bool add_real(double value) {
    Node node;
    node.kind = Kind::real;
    node.real = value;
    return add(node);
  }
  bool add_text(std::string_view value) {
    count_child();
    return add_key(value);
  }
  // The name of the next member of the innermost object.
  bool add_key(std::string_view name) {
    Node node;
    node.kind = Kind::text;
    node.count = static_cast<std::uint32_t>(name.size());
    node.at = document_.texts.size();
    document_.texts.append(name);
    document_.nodes.push_back(node);
    return true;
  }

  // Begins an array or object; false, and nothing is done, if it would be nested too deep.
  [[nodiscard]] bool open(Kind kind) {
    if (open_.size() == deepest_json) return false;
    count_child();
    open_.push_back(document_.nodes.size());
    Node node;
    node.kind = kind;
    document_.nodes.push_back(node);
    return true;
  }
  // Ends the innermost array or object.
  void close() {
    document_.nodes[open_.back()].at = document_.nodes.size();
    open_.pop_back();
  }
  // A key that the innermost object, with all of its members, has twice: the first of them by alphabet.
  [[nodiscard]] std::optional<std::string_view> repeated_key();

  // Nodes of the arrays and objects that are not closed yet, the innermost last.
  [[nodiscard]] std::span<const std::size_t> open_nodes() const { return open_; }
  [[nodiscard]] const Node& innermost() const { return document_.nodes[open_.back()]; }
  [[nodiscard]] const Document& document() const { return document_; }
  [[nodiscard]] Document take() && { return std::move(document_); }

 private:
  void count_child() {
    if (!open_.empty()) ++document_.nodes[open_.back()].count;
  }
  bool add(Node node) {
    count_child();
    document_.nodes.push_back(node);
    return true;
  }
  bool add_whole(Kind kind, std::int64_t value) {
    Node node;
    node.kind = kind;
    node.whole = value;
    return add(node);
  }

  Document document_;
  std::vector<std::size_t> open_;
  std::vector<std::string_view> keys_;  // of repeated_key()
};

// Few keys are compared in pairs, many are sorted.
inline std::optional<std::string_view> DocumentBuilder::repeated_key() {
  const bool few = innermost().count <= 16;
  bool repeated = false;
  keys_.clear();
  Value(document_, open_.back()).each_member(Place(""), [&](std::string_view key, Value) {
    if (few) repeated = repeated || std::ranges::find(keys_, key) != keys_.end();
    keys_.push_back(key);
  });
  if (few && !repeated) return std::nullopt;
  std::ranges::sort(keys_);
  const auto twin = std::ranges::adjacent_find(keys_);
  if (twin == keys_.end()) return std::nullopt;
  return *twin;
}

}  // namespace emplace::formats::json
