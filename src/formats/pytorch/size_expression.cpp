#include "formats/pytorch/size_expression.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.hpp"

namespace emplace::formats {

namespace {

constexpr int deepest_expression = 64;
constexpr double most_exact_size = 9007199254740992.0;  // 2^53: larger whole numbers are not all doubles

// A text of the notation, read from left to right: calls of functions whose arguments are calls, numbers or quoted
// names; "key=value" arguments, as a symbol has, are skipped.
class SizeExpression {
 public:
  SizeExpression(std::string_view text, const SymbolValues& symbols) : text_(text), symbols_(symbols) {}

  std::optional<double> whole_text() {
    const std::optional<double> value = read(0);
    skip_blanks();
    return at_ == text_.size() ? value : std::nullopt;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char wanted) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  std::string_view word() {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_' ||
                                  text_[at_] == '.' || text_[at_] == '-'))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::optional<double> read(int depth) {
    if (depth > deepest_expression) return std::nullopt;
    const std::string_view name = word();
    if (!take('(')) {
      double number = 0;
      return parse_number(name, number) ? std::optional(number) : std::nullopt;
    }
    return name == "Symbol" ? symbol() : call(name, depth);
  }

  std::optional<double> symbol() {
    if (!take('\'')) return std::nullopt;
    const std::size_t end = text_.find('\'', at_), close = text_.find(')', at_);
    if (end == std::string_view::npos || close == std::string_view::npos || close < end) return std::nullopt;
    const auto found = symbols_.find(text_.substr(at_, end - at_));
    at_ = close + 1;
    return found == symbols_.end() ? std::nullopt : std::optional(static_cast<double>(found->second));
  }

  std::optional<double> call(std::string_view function, int depth) {
    std::vector<double> values;
    bool known = true;
    do {
      const std::optional<double> value = read(depth + 1);
      known = known && value.has_value();
      values.push_back(value.value_or(0));
    } while (take(','));
    if (!take(')')) return std::nullopt;
    return known ? result_of(function, values) : std::nullopt;
  }

  static std::optional<double> result_of(std::string_view function, const std::vector<double>& values) {
    if (values.empty()) return std::nullopt;
    const double first = values[0];
    if (values.size() == 1) {
      if (function == "Integer" || function == "Float") return first;
      if (function == "CeilToInt" || function == "ceiling") return std::ceil(first);
      if (function == "FloorToInt" || function == "floor") return std::floor(first);
      if (function == "TruncToInt") return std::trunc(first);
      if (function == "ToFloat" || function == "Identity") return first;
    }
    if (function == "Add" || function == "Mul" || function == "Max" || function == "Min") {
      double result = first;
      for (std::size_t i = 1; i < values.size(); ++i)
        result = function == "Add"   ? result + values[i]
                 : function == "Mul" ? result * values[i]
                 : function == "Max" ? std::max(result, values[i])
                                     : std::min(result, values[i]);
      return result;
    }
    if (function == "ModularIndexing" && values.size() == 3 && values[1] != 0 && values[2] != 0)
      return remainder(std::floor(first / values[1]), values[2]);
    if (values.size() != 2) return std::nullopt;
    const double second = values[1];
    if (function == "Pow" || function == "PowByNatural") return std::pow(first, second);
    if (second == 0) return std::nullopt;
    if (function == "Rational" || function == "IntTrueDiv" || function == "FloatTrueDiv") return first / second;
    if (function == "FloorDiv" || function == "CleanDiv") return std::floor(first / second);
    if (function == "CeilDiv") return std::ceil(first / second);
    if (function == "Mod" || function == "PythonMod") return remainder(first, second);
    return std::nullopt;
  }

  // Of Python: it has the sign of the divisor.
  static double remainder(double value, double divisor) { return value - divisor * std::floor(value / divisor); }

  std::string_view text_;
  const SymbolValues& symbols_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::string> symbol_of(std::string_view expression) {
  constexpr std::string_view begin = "Symbol('";
  if (!expression.starts_with(begin)) return std::nullopt;
  const std::size_t end = expression.find('\'', begin.size());
  if (end == std::string_view::npos || expression.find(')') + 1 != expression.size()) return std::nullopt;
  return std::string(expression.substr(begin.size(), end - begin.size()));
}

std::optional<std::int64_t> value_of_size(std::string_view expression, const SymbolValues& symbols) {
  const std::optional<double> value = SizeExpression(expression, symbols).whole_text();
  if (!value || !(*value >= 0) || *value > most_exact_size || *value != std::floor(*value)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

}  // namespace emplace::formats
