// A JSON text as a compact, read-only tree, and functions that read values with checks: every error names the file and
// the place.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace emplace::formats::json {

enum class Kind : std::uint8_t { null, boolean, whole, real, text, array, object };

// The place of a value in the file. Places form a chain of local variables; the text ("file.json: ops[3].seconds[1]")
// is only made for an error message.
class Place {
 public:
  explicit Place(std::string_view file) : name_(file) {}
  Place(const Place& parent, std::string_view key) : parent_(&parent), name_(key) {}
  Place(const Place& parent, std::size_t index) : parent_(&parent), index_(index) {}
  [[nodiscard]] std::string str() const;

 private:
  void append_to(std::string& text) const;

  static constexpr std::size_t no_index = std::numeric_limits<std::size_t>::max();
  const Place* parent_ = nullptr;
  std::string_view name_;
  std::size_t index_ = no_index;
};

// A value, in 16 bytes. Nodes are stored in preorder; the members of an object are keys and values in turn.
struct Node {
  Kind kind = Kind::null;
  std::uint32_t count = 0;  // text: bytes; array: elements; object: members
  union {
    std::int64_t whole = 0;  // also of a number written "4096.0" or "1e3"; boolean: 0 or 1
    double real;
    std::uint64_t at;  // text: offset in Document::texts; array and object: the node after the last child
  };
};

class Value;

// A list that grows without copying, as an untrusted file may have very many nodes.
class Nodes {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  Node& operator[](std::size_t node) { return pieces_[node / of_piece][node % of_piece]; }
  const Node& operator[](std::size_t node) const { return pieces_[node / of_piece][node % of_piece]; }
  void push_back(Node node) {
    if (next_ == end_) {
      pieces_.push_back(std::make_unique_for_overwrite<Node[]>(of_piece));
      next_ = pieces_.back().get();
      end_ = next_ + of_piece;
    }
    *next_++ = node;
    ++size_;
  }

 private:
  static constexpr std::size_t of_piece = 4096;
  std::vector<std::unique_ptr<Node[]>> pieces_;
  Node *next_ = nullptr, *end_ = nullptr;  // the free part of the last piece
  std::size_t size_ = 0;
};

struct Document {
  Nodes nodes;
  std::string texts;
  [[nodiscard]] Value root() const;
};

// Throws InputError, with line and column, if the text is not JSON (RFC 8259: no comments, no NaN, valid UTF-8, nothing
// after the value); also if a number is too large for a double, a key is repeated or nesting exceeds 64.
Document parse(std::string_view text, const std::string& file);

class Value {
 public:
  Value(const Document& document, std::size_t node) : document_(&document), node_(node) {}

  [[nodiscard]] Kind kind() const { return node().kind; }
  [[nodiscard]] bool is_null() const { return kind() == Kind::null; }
  [[nodiscard]] std::string describe() const;  // "null", "1.5", "the text 'x'", "an array"

  // Each throws InputError if the value is of another kind or out of range.
  [[nodiscard]] std::string_view text(const Place& place) const;
  [[nodiscard]] bool boolean(const Place& place) const;
  [[nodiscard]] double number(const Place& place) const;
  [[nodiscard]] std::int64_t whole(const Place& place, std::int64_t least, std::int64_t most) const;
  [[nodiscard]] std::size_t array_size(const Place& place) const;

  // Calls visit(position, element) for each element.
  template <class Visit>
  void each_element(const Place& place, Visit&& visit) const {
    std::size_t at = node_ + 1;
    for (std::size_t i = 0, count = array_size(place); i < count; ++i, at = after(at)) visit(i, Value(*document_, at));
  }
  // Calls visit(key, value) for each member, in the order of the file.
  template <class Visit>
  void each_member(const Place& place, Visit&& visit) const {
    std::size_t at = node_ + 1;
    for (std::size_t i = 0, count = object_size(place); i < count; ++i) {
      visit(Value(*document_, at).raw_text(), Value(*document_, at + 1));
      at = after(at + 1);
    }
  }

 private:
  [[nodiscard]] const Node& node() const { return document_->nodes[node_]; }
  [[nodiscard]] std::string_view raw_text() const {
    return std::string_view(document_->texts).substr(node().at, node().count);
  }
  [[nodiscard]] std::size_t object_size(const Place& place) const;
  [[nodiscard]] std::size_t after(std::size_t at) const {
    const Node& n = document_->nodes[at];
    return n.kind == Kind::array || n.kind == Kind::object ? n.at : at + 1;
  }

  const Document* document_;
  std::size_t node_;
};

// The members of an object by name. The constructor throws InputError for a key that is not in `known`; the message
// suggests the most similar known key.
class Fields {
 public:
  Fields(Value object, const Place& place, std::span<const std::string> known);

  [[nodiscard]] const Value* find(std::string_view key) const;  // nullptr if absent
  [[nodiscard]] const Value& need(std::string_view key) const;  // InputError if absent
  [[nodiscard]] Place place(std::string_view key) const { return {place_, key}; }
  [[nodiscard]] const Place& place() const { return place_; }

  [[nodiscard]] std::string text(std::string_view key) const { return std::string(need(key).text(place(key))); }
  [[nodiscard]] std::string text_or_empty(std::string_view key) const;
  [[nodiscard]] double number(std::string_view key) const { return need(key).number(place(key)); }
  [[nodiscard]] std::int64_t whole(std::string_view key, std::int64_t least, std::int64_t most) const {
    return need(key).whole(place(key), least, most);
  }

 private:
  const Place& place_;
  std::vector<std::pair<std::string_view, Value>> members_;
};

// The text as a JSON string, quotes included; InputError if it is not valid UTF-8.
std::string escaped(std::string_view text);

}  // namespace emplace::formats::json
