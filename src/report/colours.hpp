// Colours of pictures that are not in a page: those of html/page.css, as text for an SVG file. A test compares them.
#pragma once

#include <array>
#include <string_view>

namespace emplace::report {

struct Colour {
  std::string_view name;  // in page.css, without the dashes
  std::string_view light, dark;
};

// The eight colours without c6, which is too similar to the colour of transfers: of types of ops, most time first.
inline constexpr std::array type_colours = {Colour{"c0", "#0072b2", "#56b4e9"}, Colour{"c1", "#d55e00", "#ff8c42"},
                                            Colour{"c2", "#009e73", "#2fc79a"}, Colour{"c3", "#aa4a83", "#dc8fbd"},
                                            Colour{"c4", "#7a6a00", "#e6d75a"}, Colour{"c5", "#2a93c9", "#8ecbff"},
                                            Colour{"c7", "#b38600", "#e6a800"}};
inline constexpr Colour other_types{"faint", "#b9c0c8", "#565f69"};
inline constexpr Colour transfers_colour{"soft", "#56606b", "#9da7b2"};
inline constexpr Colour ink{"ink", "#1b2026", "#e4e8ec"};
inline constexpr Colour back{"card", "#ffffff", "#181c21"};
inline constexpr Colour grid{"grid", "#e9ecf0", "#262c33"};

}  // namespace emplace::report
