// Builds our tree with nlohmann's SAX parser, whose messages say what is wrong with a text. nlohmann's own tree would
// keep the last of repeated keys without an error and take far more memory.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/json/document_builder.hpp"
#include "formats/json/json_scan.hpp"

namespace emplace::formats::json {

std::optional<std::int64_t> whole_of_decimal(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  std::int64_t exponent = 0;
  bool known_exponent = true;
  if (const std::size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    std::string_view power = text.substr(e + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    std::int32_t parsed = 0;
    known_exponent = std::from_chars(power.data(), power.data() + power.size(), parsed).ec == std::errc{};
    exponent = parsed;
    text = text.substr(0, e);
  }
  const std::size_t point = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view fraction = text.substr(std::min(point + 1, text.size()));
  std::string digits(negative ? "-" : "");
  digits.append(text.substr(0, point)).append(fraction);
  exponent -= static_cast<std::int64_t>(fraction.size());
  while (!digits.empty() && digits.back() == '0') {
    digits.pop_back();
    ++exponent;
  }
  if (digits.find_first_of("123456789") == std::string::npos) return 0;
  if (!known_exponent || exponent < 0 || exponent > 18) return std::nullopt;
  digits.append(static_cast<std::size_t>(exponent), '0');
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

namespace {

// A piece of a broken file for a message: short, on one line, and with ASCII characters only.
std::string shown(std::string_view piece) {
  std::string ascii;
  for (const char c : piece.substr(0, 60)) {
    const auto byte = static_cast<unsigned char>(c);
    ascii += byte >= 0x20 && byte < 0x7F ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return ascii + (piece.size() > 60 ? "..." : "");
}

class Handler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Handler(std::string_view source, const std::string& file) : source_(source), file_(file) {}

  [[nodiscard]] Document take() && { return std::move(built_).take(); }

  bool null() override { return built_.add_null(); }
  bool boolean(bool value) override { return built_.add_boolean(value); }
  bool number_integer(number_integer_t value) override { return built_.add_whole(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= std::numeric_limits<std::int64_t>::max()) return built_.add_whole(static_cast<std::int64_t>(value));
    return built_.add_real(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    if (const auto whole = whole_of_decimal(text)) return built_.add_whole(*whole);
    return built_.add_real(value);
  }
  bool string(string_t& value) override { return built_.add_text(value); }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(Kind::object); }
  bool key(string_t& value) override { return built_.add_key(value); }
  bool end_object() override {
    if (const auto twin = built_.repeated_key()) {
      const std::string where = path();
      throw InputError(file_, "{}{}the key {} is given twice", where, where.empty() ? "" : ": ", quote(*twin));
    }
    built_.close();
    return true;
  }
  bool start_array(std::size_t) override { return open(Kind::array); }
  bool end_array() override {
    built_.close();
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& error) override {
    // The parser gives the number of the offending byte; the message needs the line and the column, both from 1.
    const std::string_view before = source_.substr(0, std::min(position > 0 ? position - 1 : 0, source_.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t column =
        before.size() - (before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1);
    // "[json.exception...] parse error at line 1, column 2: syntax error while parsing value - WHAT; last read: ..."
    std::string_view what = error.what();
    for (const std::string_view lead : {"] ", "column ", ": ", " - "})
      if (const auto at = what.find(lead); at != std::string_view::npos && at < 120)
        what.remove_prefix(at + lead.size());
    what = what.substr(0, what.find("; last read"));
    throw InputError(file_, "line {}, column {}: not valid JSON: {}, near '{}'", line, column + 1, shown(what),
                     shown(token));
  }

 private:
  bool open(Kind kind) {
    if (!built_.open(kind)) throw InputError(file_, "{}: nested deeper than {} levels", path(), deepest_json);
    return true;
  }
  // The path of the innermost open container, such as "ops[3]"; "" for the outermost.
  [[nodiscard]] std::string path() const {
    const Document& document = built_.document();
    const std::span<const std::size_t> containers = built_.open_nodes();
    std::string text;
    for (std::size_t level = 0; level + 1 < containers.size(); ++level) {
      const Node& node = document.nodes[containers[level]];
      if (node.kind == Kind::array) {
        text += fmt::format("[{}]", node.count - 1);
        continue;
      }
      const Node& key = document.nodes[containers[level + 1] - 1];
      if (!text.empty()) text += '.';
      text += shown(std::string_view(document.texts).substr(key.at, key.count));
    }
    return text;
  }

  DocumentBuilder built_;
  std::string_view source_;
  const std::string& file_;
};

}  // namespace

Document explain_json(std::string_view text, const std::string& file) {
  Handler handler(text, file);
  EMPLACE_CHECK(nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &handler));
  return std::move(handler).take();
}

Document parse(std::string_view text, const std::string& file) {
  constexpr std::size_t longest = std::size_t{1} << 31;  // counts and offsets fit 32 bits
  if (text.size() > longest) throw InputError(file, "has {} bytes, at most {} are read", text.size(), longest);
  std::optional<Document> document = scan_json(text);
  return document ? std::move(*document) : explain_json(text, file);
}

std::string escaped(std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (std::ranges::all_of(text, is_plain)) return "\"" + std::string(text) + "\"";
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::type_error&) {
    throw InputError("", "the name '{}' is not valid UTF-8 and cannot be written as JSON", shown(text));
  }
}

}  // namespace emplace::formats::json
