#include "formats/json/json_peek.hpp"

#include <nlohmann/json.hpp>

namespace emplace::formats::json {

namespace {

constexpr std::size_t deepest_peek = 64;  // as in json_parse.cpp

// Each function returns false where reading shall end.
class TopKeysHandler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TopKeysHandler(TopKeys& found) : found_(found) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool string(string_t& text) override {
    if (is_format_) found_.format = text;
    return value();
  }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& name) override {
    if (depth_ != 1) return true;
    is_format_ = name == "emplace";
    found_.model_topology = name == "modelTopology";
    return !found_.model_topology;
  }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return depth_ > 0 && open(); }  // an outermost array has no keys
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  [[nodiscard]] bool value() const { return depth_ > 0 && !is_format_; }
  bool open() { return !is_format_ && ++depth_ <= deepest_peek; }
  bool close() { return --depth_ > 0; }

  TopKeys& found_;
  std::size_t depth_ = 0;
  bool is_format_ = false;  // whether the next value is that of the outermost key "emplace"
};

}  // namespace

TopKeys top_keys(std::string_view text) {
  TopKeys found;
  TopKeysHandler handler(found);
  static_cast<void>(nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &handler));
  return found;
}

}  // namespace emplace::formats::json
