#include "formats/json/json_scan.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace emplace::formats::json {

namespace {

// Powers of ten that are doubles.
constexpr double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A number as it is read: (-1)^negative * digits * 10^exponent. Without `exact` it has more digits than fit here.
struct Decimal {
  std::uint64_t digits = 0;
  std::int64_t exponent = 0;
  bool negative = false, exact = true;
};

// The whole number, if it has less than 19 digits.
std::optional<std::int64_t> short_whole(Decimal decimal) {
  constexpr std::uint64_t most = 1'000'000'000'000'000'000;
  if (decimal.digits == 0) return 0;  // with an exponent that may be very large
  for (; decimal.exponent < 0 && decimal.digits % 10 == 0; ++decimal.exponent) decimal.digits /= 10;
  for (; decimal.exponent > 0 && decimal.digits < most / 10; --decimal.exponent) decimal.digits *= 10;
  if (decimal.exponent != 0 || decimal.digits >= most) return std::nullopt;
  const auto value = static_cast<std::int64_t>(decimal.digits);
  return decimal.negative ? -value : value;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  // Whether the text is one value, which is then in `document`.
  bool run(Document& document) {
    document_ = &document;
    skip_blanks();
    if (!begin_value()) return false;
    while (!open_.empty())
      if (!go_on()) return false;
    skip_blanks();
    return at_ == end_;
  }

 private:
  void skip_blanks() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).substr(0, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  // Reads a scalar or the opening bracket of an array or object.
  bool begin_value() {
    if (at_ == end_) return false;
    if (!open_.empty()) ++document_->nodes[open_.back()].count;
    switch (*at_) {
      case '{': return begin_container(Kind::object);
      case '[': return begin_container(Kind::array);
      case '"': return add_text();
      case 't': return take("true") && add_whole(Kind::boolean, 1);
      case 'f': return take("false") && add_whole(Kind::boolean, 0);
      case 'n': return take("null") && add({});
      default: return add_number();
    }
  }

  // Goes on in the innermost open container: its next element or member, or its end.
  bool go_on() {
    const bool is_object = document_->nodes[open_.back()].kind == Kind::object;
    const bool is_empty = document_->nodes[open_.back()].count == 0;
    skip_blanks();
    if (take(is_object ? '}' : ']')) return end_container();
    if (!is_empty) {
      if (!take(',')) return false;
      skip_blanks();
    }
    if (is_object) {
      if (!add_text()) return false;
      skip_blanks();
      if (!take(':')) return false;
      skip_blanks();
    }
    return begin_value();
  }

  bool begin_container(Kind kind) {
    if (open_.size() == deepest_json) return false;
    ++at_;
    open_.push_back(document_->nodes.size());
    Node node;
    node.kind = kind;
    return add(node);
  }
  bool end_container() {
    Node& node = document_->nodes[open_.back()];
    node.at = document_->nodes.size();
    if (node.kind == Kind::object && has_repeated_keys(open_.back())) return false;
    open_.pop_back();
    return true;
  }

  // Few keys are compared in pairs, many are sorted.
  bool has_repeated_keys(std::size_t object) {
    constexpr std::size_t few = 16;
    keys_.clear();
    bool repeated = false;
    Value(*document_, object).each_member(Place(""), [&](std::string_view key, Value) {
      if (document_->nodes[object].count <= few) repeated = repeated || std::ranges::find(keys_, key) != keys_.end();
      keys_.push_back(key);
    });
    if (document_->nodes[object].count <= few) return repeated;
    std::ranges::sort(keys_);
    return std::ranges::adjacent_find(keys_) != keys_.end();
  }

  bool add(Node node) {
    document_->nodes.push_back(node);
    return true;
  }
  bool add_whole(Kind kind, std::int64_t value) {
    Node node;
    node.kind = kind;
    node.whole = value;
    return add(node);
  }
  bool add_real(double value) {
    Node node;
    node.kind = Kind::real;
    node.real = value;
    return add(node);
  }

  bool add_text() {
    if (!take('"')) return false;
    const char* const begin = at_;
    bool is_plain = true;  // ASCII without escapes
    for (; at_ != end_ && *at_ != '"'; ++at_) {
      const auto byte = static_cast<unsigned char>(*at_);
      if (byte < 0x20) return false;
      if (byte >= 0x80 || byte == '\\') is_plain = false;
      if (byte == '\\' && ++at_ == end_) return false;
    }
    if (!take('"')) return false;
    return is_plain ? append_text({begin, static_cast<std::size_t>(at_ - 1 - begin)}) : append_decoded(begin - 1);
  }
  bool append_text(std::string_view value) {
    Node node;
    node.kind = Kind::text;
    node.count = static_cast<std::uint32_t>(value.size());
    node.at = document_->texts.size();
    document_->texts.append(value);
    return add(node);
  }
  // `begin`: the opening quote of the text that ends here.
  bool append_decoded(const char* begin) {
    const auto decoded = nlohmann::json::parse(begin, at_, nullptr, false);
    return decoded.is_string() && append_text(decoded.get_ref<const std::string&>());
  }

  // Appends the digits that follow to the number; whether there was one at least.
  bool take_digits(Decimal& decimal) {
    constexpr std::uint64_t most = 100'000'000'000'000'000;  // ten times more, plus a digit, fits
    const char* const begin = at_;
    for (; at_ != end_ && is_digit(*at_); ++at_) {
      decimal.exact = decimal.exact && decimal.digits < most;
      if (decimal.exact) decimal.digits = 10 * decimal.digits + static_cast<std::uint64_t>(*at_ - '0');
    }
    return at_ != begin;
  }
  bool take_exponent(Decimal& decimal) {
    constexpr std::int64_t most = 1'000'000;
    const bool negative = take('-');
    if (!negative) take('+');
    const char* const begin = at_;
    std::int64_t exponent = 0;
    for (; at_ != end_ && is_digit(*at_); ++at_) exponent = std::min(most, 10 * exponent + (*at_ - '0'));
    decimal.exponent += negative ? -exponent : exponent;
    return at_ != begin;
  }

  bool add_number() {
    const char* const begin = at_;
    Decimal decimal;
    decimal.negative = take('-');
    const bool leads_with_zero = at_ != end_ && *at_ == '0';
    const char* const digits = at_;
    if (!take_digits(decimal) || (leads_with_zero && at_ - digits > 1)) return false;
    if (take('.')) {
      const char* const fraction = at_;
      if (!take_digits(decimal)) return false;
      decimal.exponent = fraction - at_;
    }
    if ((take('e') || take('E')) && !take_exponent(decimal)) return false;
    return add_decimal(decimal, {begin, static_cast<std::size_t>(at_ - begin)});
  }

  // Digits and power of ten are doubles in most numbers; their quotient, rounded once, is then the nearest double.
  bool add_decimal(const Decimal& decimal, std::string_view text) {
    constexpr std::uint64_t most_exact = std::uint64_t{1} << 53;
    if (decimal.exact) {
      if (const auto whole = short_whole(decimal)) return add_whole(Kind::whole, *whole);
      if (decimal.digits <= most_exact && decimal.exponent < 0 &&
          decimal.exponent > -static_cast<std::int64_t>(std::size(exact_powers))) {
        const double value = static_cast<double>(decimal.digits) / exact_powers[-decimal.exponent];
        return add_real(decimal.negative ? -value : value);
      }
    }
    if (const auto whole = whole_of_decimal(text)) return add_whole(Kind::whole, *whole);
    double value = 0;
    const std::errc error = std::from_chars(text.data(), text.data() + text.size(), value).ec;
    // Above the largest double, or below the least, which is 0.
    if (error == std::errc::result_out_of_range) value = std::strtod(std::string(text).c_str(), nullptr);
    return std::isfinite(value) && add_real(value);
  }

  const char* at_;
  const char* const end_;
  Document* document_ = nullptr;
  std::vector<std::size_t> open_;  // nodes of the containers that are not yet closed
  std::vector<std::string_view> keys_;
};

}  // namespace

std::optional<Document> scan_json(std::string_view text) {
  Document document;
  if (!Scanner(text).run(document)) return std::nullopt;
  return document;
}

}  // namespace emplace::formats::json
