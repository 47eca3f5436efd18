#include "formats/json/json_scan.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "formats/json/document_builder.hpp"

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

  // The document, if the text is one value.
  std::optional<Document> run() {
    skip_blanks();
    if (!begin_value()) return std::nullopt;
    while (!built_.open_nodes().empty())
      if (!go_on()) return std::nullopt;
    skip_blanks();
    if (at_ != end_) return std::nullopt;
    return std::move(built_).take();
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
    switch (*at_) {
      case '{': return begin_container(Kind::object);
      case '[': return begin_container(Kind::array);
      case '"': return take_text([&](std::string_view value) { return built_.add_text(value); });
      case 't': return take("true") && built_.add_boolean(true);
      case 'f': return take("false") && built_.add_boolean(false);
      case 'n': return take("null") && built_.add_null();
      default: return add_number();
    }
  }

  // Goes on in the innermost open container: its next element or member, or its end.
  bool go_on() {
    const Node& container = built_.innermost();
    const bool is_object = container.kind == Kind::object, is_empty = container.count == 0;
    skip_blanks();
    if (take(is_object ? '}' : ']')) return end_container(is_object);
    if (!is_empty) {
      if (!take(',')) return false;
      skip_blanks();
    }
    if (is_object) {
      if (!take_text([&](std::string_view name) { return built_.add_key(name); })) return false;
      skip_blanks();
      if (!take(':')) return false;
      skip_blanks();
    }
    return begin_value();
  }

  bool begin_container(Kind kind) {
    ++at_;
    return built_.open(kind);
  }
  bool end_container(bool is_object) {
    if (is_object && built_.repeated_key()) return false;
    built_.close();
    return true;
  }

  // Reads a text and returns use(text).
  template <class Use>
  bool take_text(Use&& use) {
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
    if (is_plain) return use(std::string_view(begin, static_cast<std::size_t>(at_ - 1 - begin)));
    const auto decoded = nlohmann::json::parse(begin - 1, at_, nullptr, false);
    return decoded.is_string() && use(decoded.get_ref<const std::string&>());
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
      if (const auto whole = short_whole(decimal)) return built_.add_whole(*whole);
      if (decimal.digits <= most_exact && decimal.exponent < 0 &&
          decimal.exponent > -static_cast<std::int64_t>(std::size(exact_powers))) {
        const double value = static_cast<double>(decimal.digits) / exact_powers[-decimal.exponent];
        return built_.add_real(decimal.negative ? -value : value);
      }
    }
    if (const auto whole = whole_of_decimal(text)) return built_.add_whole(*whole);
    double value = 0;
    const std::errc error = std::from_chars(text.data(), text.data() + text.size(), value).ec;
    // Above the largest double, or below the least, which is 0.
    if (error == std::errc::result_out_of_range) value = std::strtod(std::string(text).c_str(), nullptr);
    return std::isfinite(value) && built_.add_real(value);
  }

  const char* at_;
  const char* const end_;
  DocumentBuilder built_;
};

}  // namespace

std::optional<Document> scan_json(std::string_view text) { return Scanner(text).run(); }

}  // namespace emplace::formats::json
