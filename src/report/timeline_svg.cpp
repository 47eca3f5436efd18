#include "report/timeline_svg.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "report/colours.hpp"
#include "report/names.hpp"
#include "report/page.hpp"

namespace emplace::report {

namespace {

constexpr double title_left = 12, left = 150, width = 800, right = 70, lane_height = 22, bar_height = 14,
                 path_height = 3;
constexpr double smallest = 0.25;  // px: narrower shapes, and gaps between shapes of one colour, are not seen
constexpr double narrow = 2;       // px: below it, neighbours of different colours would only be stripes
constexpr double stripe = 4;       // px: so wide is what replaces them, in the colour of most of it

// Escapes a text for use between tags or in an attribute.
std::string xml(std::string_view text) {
  std::string plain = printable(text);
  std::ranges::replace_if(
      plain, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return html_text(plain);
}

struct Shape {
  double from, to;  // px from the beginning of the lane
  const Colour* colour;
};

// Shapes in order of time. Those too close to tell apart are merged into one; a sequence of narrow ones of different
// colours becomes stretches in the colour that takes most of each.
class SvgLane {
 public:
  void add(double from, double to, const Colour& colour) {
    if (to - from >= narrow || (!waiting_.empty() && from - waiting_.back().to >= smallest)) flush();
    if (to - from >= narrow) {
      put(from, to, colour);
      return;
    }
    waiting_.push_back({from, to, &colour});
    if (to - waiting_.front().from >= stripe) flush();
  }
  const std::vector<Shape>& shapes() {
    flush();
    return shapes_;
  }

 private:
  void put(double from, double to, const Colour& colour) {
    if (!shapes_.empty()) {
      Shape& last = shapes_.back();
      const bool touches = from - last.to < smallest;
      if (touches && (last.colour == &colour || to - last.from < smallest)) {
        last.to = std::max(last.to, to);
        return;
      }
    }
    shapes_.push_back({from, to, &colour});
  }

  // The shapes that wait become one, in the colour that is longest in them.
  void flush() {
    if (waiting_.empty()) return;
    std::vector<std::pair<const Colour*, double>> length;
    double end = 0;
    for (const Shape& shape : waiting_) {
      const auto known = std::ranges::find(length, shape.colour, &std::pair<const Colour*, double>::first);
      if (known == length.end())
        length.emplace_back(shape.colour, shape.to - shape.from);
      else
        known->second += shape.to - shape.from;
      end = std::max(end, shape.to);
    }
    const auto most = std::ranges::max_element(length, {}, &std::pair<const Colour*, double>::second);
    put(waiting_.front().from, end, *most->first);
    waiting_.clear();
  }

  std::vector<Shape> shapes_, waiting_;
};

class Picture {
 public:
  Picture(const Problem& problem, const Placement& placement, const simulate::Timeline& timeline,
          std::span<const simulate::PathStep> path)
      : problem_(problem), placement_(placement), timeline_(timeline), path_(path) {
    EMPLACE_CHECK(!timeline.op_end.empty(), "a picture needs a timeline");
    end_ = std::max<Ticks>(1, std::ranges::max(timeline.op_end));
    choose_colours();
  }

  std::string draw() {
    place_lanes();
    const double bottom = top_ + lane_height * static_cast<double>(lanes_.size());
    const double height = bottom + 26 + 20 * std::ceil(static_cast<double>(legend_.size()) / 4) + 8;
    text_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1:.0f}\" viewBox=\"0 0 {0} {1:.0f}\" "
        "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"11\">\n<title>{2}</title>\n{3}"
        "<rect width=\"100%\" height=\"100%\" {4}/>\n"
        "<text x=\"{5:.0f}\" y=\"20\" font-size=\"14\" font-weight=\"bold\" {6}>{2}</text>\n"
        "<text x=\"{0}\" y=\"20\" dx=\"-8\" font-size=\"14\" text-anchor=\"end\" {6}>{7} a step</text>\n",
        left + width + right, height, xml(cell_name(problem_.name, 80)), style(), fill(back), title_left, fill(ink),
        human_seconds(to_seconds(end_)));
    draw_axis(bottom);
    for (std::size_t i = 0; i < lanes_.size(); ++i) draw_lane(lanes_[i], top_ + lane_height * static_cast<double>(i));
    draw_legend(bottom + 26);
    return std::move(text_) + "</svg>\n";
  }

 private:
  // The colours of dark mode. Programs without CSS use the attributes of the shapes, which are light.
  static std::string style() {
    std::string rules;
    const auto add = [&](const Colour& colour) {
      rules += fmt::format(".{0}{{fill:{1}}}.{0}-line{{stroke:{1}}}", colour.name, colour.dark);
    };
    for (const Colour& colour : type_colours) add(colour);
    for (const Colour& colour : {other_types, transfers_colour, ink, back, grid}) add(colour);
    return "<style>@media (prefers-color-scheme: dark){" + rules + "}</style>\n";
  }
  static std::string fill(const Colour& colour) {
    return fmt::format("class=\"{}\" fill=\"{}\"", colour.name, colour.light);
  }

  struct NamedLane {
    std::string name;
    double busy = 0;  // share
    SvgLane bars, critical;
  };

  [[nodiscard]] double x(Ticks time) const { return width * static_cast<double>(time) / static_cast<double>(end_); }

  // The types with most time get a colour each; the others share one.
  void choose_colours() {
    std::map<std::string, Ticks> time;
    for (std::size_t op = 0; op < problem_.op_count(); ++op)
      time[problem_.op_types[op]] += timeline_.op_end[op] - timeline_.op_start[op];
    std::vector<std::pair<std::string, Ticks>> types(time.begin(), time.end());
    std::ranges::stable_sort(types, std::greater<>(), &std::pair<std::string, Ticks>::second);
    for (std::size_t i = 0; i < types.size() && i < type_colours.size(); ++i) {
      if (types[i].second == 0) break;
      colour_of_[types[i].first] = &type_colours[i];
      legend_.emplace_back(types[i].first.empty() ? "no type" : cell_name(types[i].first, 24), &type_colours[i]);
    }
    if (types.size() > legend_.size()) legend_.emplace_back("other types", &other_types);
    if (!timeline_.transfers.empty()) legend_.emplace_back("transfers", &transfers_colour);
    if (!path_.empty()) legend_.emplace_back("critical path", &ink);
  }

  void place_lanes() {
    std::vector<std::vector<std::uint32_t>> of_device(problem_.device_count());
    for (std::uint32_t op = 0; op < problem_.op_count(); ++op) of_device[placement_.device[op]].push_back(op);
    std::vector<std::size_t> lane_of_device(problem_.device_count(), 0), lane_of_channel(problem_.channels.size(), 0);
    for (std::size_t d = 0; d < problem_.device_count(); ++d) {
      if (of_device[d].empty()) continue;
      std::ranges::stable_sort(of_device[d], {}, [&](std::uint32_t op) { return timeline_.op_start[op]; });
      lane_of_device[d] = lanes_.size();
      NamedLane& lane = lanes_.emplace_back();
      lane.name = cell_name(problem_.devices[d].name, 24);
      for (const std::uint32_t op : of_device[d]) {
        const auto colour = colour_of_.find(problem_.op_types[op]);
        add(lane, timeline_.op_start[op], timeline_.op_end[op],
            colour == colour_of_.end() ? other_types : *colour->second);
      }
    }
    std::vector<std::uint32_t> by_start(timeline_.transfers.size());
    for (std::uint32_t i = 0; i < by_start.size(); ++i) by_start[i] = i;
    std::ranges::stable_sort(by_start, {}, [&](std::uint32_t i) { return timeline_.transfers[i].start; });
    std::vector<std::vector<std::uint32_t>> of_channel(problem_.channels.size());
    for (const std::uint32_t i : by_start)
      for (const std::uint32_t channel : problem_.route(timeline_.transfers[i].from, timeline_.transfers[i].to))
        of_channel[channel].push_back(i);
    for (std::size_t channel = 0; channel < of_channel.size(); ++channel) {
      if (of_channel[channel].empty()) continue;
      lane_of_channel[channel] = lanes_.size();
      NamedLane& lane = lanes_.emplace_back();
      lane.name = cell_name(problem_.channels[channel].name, 24);
      for (const std::uint32_t i : of_channel[channel])
        add(lane, timeline_.transfers[i].start, timeline_.transfers[i].end, transfers_colour);
    }
    for (const simulate::PathStep& step : path_) {
      if (step.is_op()) {
        lanes_[lane_of_device[placement_.device[step.op.index()]]].critical.add(x(step.start), x(step.end), ink);
        continue;
      }
      const simulate::Timeline::Transfer& transfer = timeline_.transfers[step.transfer];
      for (const std::uint32_t channel : problem_.route(transfer.from, transfer.to))
        lanes_[lane_of_channel[channel]].critical.add(x(step.start), x(step.end), ink);
    }
  }

  void add(NamedLane& lane, Ticks start, Ticks end, const Colour& colour) const {
    lane.bars.add(x(start), x(end), colour);
    lane.busy += static_cast<double>(end - start) / static_cast<double>(end_);
  }

  void draw_axis(double bottom) {
    const double seconds = to_seconds(end_);
    const double power = std::pow(10, std::floor(std::log10(seconds / 4)));
    double step = power;
    for (const double factor : {2.0, 5.0, 10.0})
      if (seconds / step > 8) step = factor * power;
    for (int i = 0; i * step <= seconds * (1 + 1e-9); ++i) {
      const double at = left + width * i * step / seconds;
      text_ += fmt::format(
          "<line x1=\"{0:.2f}\" y1=\"{1:.0f}\" x2=\"{0:.2f}\" y2=\"{2:.0f}\" class=\"grid-line\" stroke=\"{5}\"/>\n"
          "<text x=\"{0:.2f}\" y=\"{3:.0f}\" text-anchor=\"middle\" {6}>{4}</text>\n",
          at, top_ - 4, bottom, bottom + 15, i == 0 ? "0" : human_seconds(i * step), grid.light,
          fill(transfers_colour));
    }
  }

  void draw_lane(NamedLane& lane, double y) {
    text_ += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\" {}>{}</text>\n", left - 8, y + 15,
                         fill(ink), xml(lane.name));
    text_ += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" {}>{:.0f} %</text>\n", left + width + 8, y + 15,
                         fill(transfers_colour), 100 * lane.busy);
    draw_shapes(lane.critical, y + 1, path_height);
    draw_shapes(lane.bars, y + 5, bar_height);
  }

  // One path for each colour, so that a picture of thousands of ops stays small.
  void draw_shapes(SvgLane& lane, double y, double height) {
    std::map<std::string_view, std::pair<const Colour*, std::string>> path_of;
    for (const Shape& shape : lane.shapes()) {
      path_of[shape.colour->name].first = shape.colour;
      path_of[shape.colour->name].second +=
          fmt::format("M{:.2f} {:.0f}h{:.2f}v{:.0f}h-{:.2f}z", left + shape.from, y,
                      std::max(smallest, shape.to - shape.from), height, std::max(smallest, shape.to - shape.from));
    }
    for (const auto& [name, path] : path_of)
      text_ += fmt::format("<path {} d=\"{}\"/>\n", fill(*path.first), path.second);
  }

  void draw_legend(double y) {
    for (std::size_t i = 0; i < legend_.size(); ++i) {
      const double at = left + 200 * static_cast<double>(i % 4), row = y + 20 * static_cast<double>(i / 4);
      text_ += fmt::format(
          "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"12\" height=\"{}\" {}/>\n<text x=\"{:.0f}\" y=\"{:.0f}\" {}>"
          "{}</text>\n",
          at, legend_[i].first == "critical path" ? row + 5 : row, legend_[i].first == "critical path" ? 3 : 12,
          fill(*legend_[i].second), at + 18, row + 10, fill(ink), xml(legend_[i].first));
    }
  }

  const Problem& problem_;
  const Placement& placement_;
  const simulate::Timeline& timeline_;
  std::span<const simulate::PathStep> path_;
  Ticks end_ = 1;
  double top_ = 42;
  std::map<std::string, const Colour*> colour_of_;
  std::vector<std::pair<std::string, const Colour*>> legend_;
  std::vector<NamedLane> lanes_;
  std::string text_;
};

}  // namespace

std::string timeline_svg(const Problem& problem, const Placement& placement, const simulate::Timeline& timeline,
                         std::span<const simulate::PathStep> path) {
  return Picture(problem, placement, timeline, path).draw();
}

}  // namespace emplace::report
