// The worked example of docs/simulation.md: its files and tables are read from the page, and both engines must give
// them. docs/simulators.md has it under every published simulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/formats/problem_json.hpp"
#include "simulate/pipeline/pipeline.hpp"
#include "simulate/published/published.hpp"
#include "simulate/timeline/critical_path.hpp"
#include "simulate/timeline/memory_timeline.hpp"
#include "tests/simulate/toy.hpp"

namespace emplace::simulate::worked_example_test {
namespace {

using test::Answer;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Row = std::map<std::string, std::string>;  // column: cell

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells = split(line, '|');
  cells = {cells.begin() + 1, cells.end() - 1};
  for (std::string& cell : cells) {
    const auto begin = cell.find_first_not_of(' ');
    cell = begin == std::string::npos ? "" : cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin);
  }
  return cells;
}

class Page {
 public:
  explicit Page(const std::string& file) : text_(read_file(file)) {}

  [[nodiscard]] const std::string& text() const { return text_; }

  // The fenced block with this name.
  [[nodiscard]] std::string block(const std::string& name) const {
    const std::string fence = "```json " + name + "\n";
    const auto at = text_.find(fence);
    if (at == std::string::npos) throw std::runtime_error("no block " + name);
    const auto begin = at + fence.size();
    return text_.substr(begin, text_.find("```", begin) - begin);
  }

  // The table with this first column in the section with this heading.
  [[nodiscard]] std::vector<Row> table(const std::string& heading, const std::string& first_column) const {
    std::istringstream lines(text_);
    std::string line;
    bool in_section = false;
    std::vector<std::string> columns;
    std::vector<Row> rows;
    while (std::getline(lines, line)) {
      if (line.starts_with("#")) in_section = line == "### " + heading;
      if (!in_section) continue;
      if (!line.starts_with("|")) {
        if (!rows.empty()) return rows;
        columns.clear();
        continue;
      }
      if (line.starts_with("|--")) continue;
      const std::vector<std::string> cells = cells_of(line);
      if (columns.empty()) {
        columns = cells;
      } else if (columns.front() == first_column) {
        Row& row = rows.emplace_back();
        for (std::size_t i = 0; i < columns.size(); ++i) row[columns[i]] = cells.at(i);
      }
    }
    return rows;
  }

 private:
  std::string text_;
};

// "37.333333" microseconds.
Ticks ticks(const std::string& microseconds) {
  const auto point = microseconds.find('.');
  std::string decimals = point == std::string::npos ? "" : microseconds.substr(point + 1);
  decimals.resize(6, '0');
  return std::stoll(microseconds.substr(0, point)) * 1000000 + std::stoll(decimals);
}
std::string text_of(Ticks ticks) {
  std::string text = std::to_string(ticks / 1000000);
  if (ticks % 1000000 != 0) text += "." + std::to_string(1000000 + ticks % 1000000).substr(1);
  return text;
}

class WorkedExample : public ::testing::Test {
 protected:
  [[nodiscard]] Answer run_under(Schedule schedule) const { return test::simulate(problem_, placement_, schedule); }
  [[nodiscard]] static std::string section(Schedule schedule) { return "Under " + std::string(name_of(schedule)); }

  [[nodiscard]] std::string device(DeviceId id) const { return problem_.devices[id.index()].name; }
  [[nodiscard]] std::string device_of(std::size_t op) const { return device(DeviceId{placement_.device[op]}); }
  [[nodiscard]] DeviceId device(const std::string& name) const {
    const auto at = std::ranges::find(problem_.devices, name, &Device::name);
    return DeviceId{static_cast<std::size_t>(at - problem_.devices.begin())};
  }

  // When the op's last input is on its device (R1).
  [[nodiscard]] Ticks ready(std::uint32_t op, const Timeline& timeline) const {
    Ticks latest = 0;
    for (const std::uint32_t tensor : problem_.inputs[op]) {
      latest = std::max(latest, timeline.op_end[problem_.producer[tensor].index()]);
      for (const Timeline::Transfer& transfer : timeline.transfers)
        if (transfer.tensor.value == tensor && transfer.to.value == placement_.device[op])
          latest = std::max(latest, transfer.end);
    }
    return latest;
  }

  const Page page_{"docs/simulation.md"};
  Problem problem_ = formats::read_problem_json(page_.block("worked-example.problem.json"), "docs/simulation.md");
  const formats::PlacementFile file_ =
      formats::read_placement_json(page_.block("worked-example.placement.json"), "docs/simulation.md", problem_);
  Placement placement_ = file_.placement;
};

constexpr Schedule both[] = {Schedule::fifo, Schedule::priority};

TEST_F(WorkedExample, TransfersLastAsTheFormulaSays) {
  const auto rows = page_.table("Durations", "tensor");
  ASSERT_THAT(rows, SizeIs(5));
  for (const Row& row : rows) {
    const TensorId tensor{std::stoul(row.at("tensor"))};
    const OpId producer = problem_.producer[tensor.index()];
    EXPECT_EQ(problem_.op_names[producer.index()], row.at("from op"));
    EXPECT_EQ(problem_.tensor_bytes[tensor.index()], std::stoll(row.at("bytes")));
    EXPECT_EQ(
        text_of(problem_.transfer(tensor, DeviceId{placement_.device[producer.index()]}, device(row.at("to device")))),
        row.at("duration"));
  }
  EXPECT_EQ(problem_.transfer(TensorId{2}, DeviceId{1}, DeviceId{2}), 37333333);
}

TEST_F(WorkedExample, OpsAreReadyStartAndEndAsThePageSays) {
  for (const Schedule schedule : both) {
    const Answer answer = run_under(schedule);
    const auto rows = page_.table(section(schedule), "op");
    ASSERT_THAT(rows, SizeIs(5));
    for (std::uint32_t op = 0; op < rows.size(); ++op) {
      SCOPED_TRACE(section(schedule) + ", op " + rows[op].at("op"));
      EXPECT_EQ(rows[op].at("op"), problem_.op_names[op]);
      EXPECT_EQ(rows[op].at("device"), device_of(op));
      EXPECT_EQ(rows[op].at("ready"), text_of(ready(op, answer.timeline)));
      EXPECT_EQ(rows[op].at("start"), text_of(answer.timeline.op_start[op]));
      EXPECT_EQ(rows[op].at("end"), text_of(answer.timeline.op_end[op]));
    }
  }
}

TEST_F(WorkedExample, TransfersAreRequestedStartAndEndAsThePageSays) {
  for (const Schedule schedule : both) {
    const Answer answer = run_under(schedule);
    const auto rows = page_.table(section(schedule), "tensor");
    ASSERT_EQ(rows.size(), answer.timeline.transfers.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      SCOPED_TRACE(section(schedule) + ", tensor " + rows[i].at("tensor") + " to " + rows[i].at("to"));
      const Timeline::Transfer& transfer = answer.timeline.transfers[i];
      EXPECT_EQ(rows[i].at("tensor"), std::to_string(transfer.tensor.value));
      EXPECT_EQ(rows[i].at("from"), device(transfer.from));
      EXPECT_EQ(rows[i].at("to"), device(transfer.to));
      std::vector<std::string> channels;
      for (const std::uint32_t channel : problem_.route(transfer.from, transfer.to))
        channels.push_back(problem_.channels[channel].name);
      EXPECT_EQ(rows[i].at("channels"), join(channels, ", "));
      EXPECT_EQ(rows[i].at("requested"), text_of(transfer.requested));
      EXPECT_EQ(rows[i].at("start"), text_of(transfer.start));
      EXPECT_EQ(rows[i].at("end"), text_of(transfer.end));
    }
  }
}

TEST_F(WorkedExample, TheStepTimesAreThoseOfThePage) {
  EXPECT_EQ(run_under(Schedule::fifo).outcome, (Outcome{.makespan = 182333333}));
  EXPECT_THAT(page_.text(), HasSubstr("The step time is 182.333333 us (182333333 ps)."));
  // The schedule is in the placement.
  EXPECT_EQ(file_.schedule, Schedule::priority);
  EXPECT_EQ(run_under(Schedule::priority).outcome, (Outcome{.makespan = 152333333}));
  EXPECT_THAT(page_.text(), HasSubstr("The step time is 152.333333 us (152333333 ps)."));
}

TEST_F(WorkedExample, DevicesHoldTheBytesOfThePageAtEveryInstant) {
  for (const Schedule schedule : both) {
    const Answer answer = run_under(schedule);
    const std::vector<Holding> held = holdings(problem_, placement_, answer.timeline);
    const auto held_at = [&](std::size_t device, Ticks time) {
      Bytes bytes = 0;
      for (const Holding& holding : held)
        if (holding.device.index() == device &&
            (holding.kind == Holding::Kind::resident || (holding.begin <= time && time < holding.end)))
          bytes += holding.bytes;
      return std::to_string(bytes);
    };
    std::set<Ticks> instants;
    for (const Holding& holding : held) instants.insert({holding.begin, holding.end});
    auto rows = page_.table(section(schedule), "from");
    ASSERT_EQ(rows.size(), instants.size() + 1);
    const Row peaks = rows.back();
    rows.pop_back();
    EXPECT_EQ(peaks.at("from"), "peak");
    for (std::size_t d = 0; d < problem_.device_count(); ++d) {
      const std::string& name = problem_.devices[d].name;
      auto instant = instants.begin();
      Bytes peak = 0;
      for (const Row& row : rows) {
        SCOPED_TRACE(section(schedule) + ", " + name + " at " + row.at("from"));
        EXPECT_EQ(ticks(row.at("from")), *instant);
        EXPECT_EQ(row.at(name), held_at(d, *instant++));
        peak = std::max<Bytes>(peak, std::stoll(row.at(name)));
      }
      EXPECT_EQ(peaks.at(name), std::to_string(answer.usage.device_peak[d]));
      EXPECT_EQ(answer.usage.device_peak[d], peak);
    }
  }
}

TEST_F(WorkedExample, Gpu1HasJustTheMemoryThatPriorityNeeds) {
  EXPECT_EQ(problem_.devices[1].memory, 167000);
  EXPECT_EQ(run_under(Schedule::priority).usage.device_peak[1], 167000);
  // With allocations before frees, at 75: 165000 and the scratch of b.
  EXPECT_EQ(165000 + problem_.scratch[1], 170000);
}

TEST_F(WorkedExample, ChannelsAndDevicesAreBusyAsThePageSays) {
  const std::string section = "Channels and devices";
  const auto occupied = page_.table(section, "schedule");
  ASSERT_THAT(occupied, SizeIs(6));
  for (const Row& row : occupied) {
    std::vector<std::string> times;
    for (const Timeline::Transfer& transfer : run_under(schedule_of(row.at("schedule"), "")).timeline.transfers)
      for (const std::uint32_t channel : problem_.route(transfer.from, transfer.to))
        if (problem_.channels[channel].name == row.at("channel"))
          times.push_back(text_of(transfer.start) + "-" + text_of(transfer.end));
    EXPECT_EQ(row.at("occupied"), join(times, ", ")) << row.at("schedule") << ", " << row.at("channel");
  }
  const auto channels = page_.table(section, "channel"), devices = page_.table(section, "device");
  ASSERT_EQ(channels.size(), problem_.channels.size());
  ASSERT_EQ(devices.size(), problem_.device_count());
  for (const Schedule schedule : both) {
    const Usage usage = run_under(schedule).usage;
    for (std::size_t c = 0; c < channels.size(); ++c) {
      EXPECT_EQ(channels[c].at("channel"), problem_.channels[c].name);
      EXPECT_EQ(channels[c].at("busy"), text_of(usage.channel_busy[c]));
      EXPECT_EQ(channels[c].at("bytes"), std::to_string(usage.channel_bytes[c]));
    }
    for (std::size_t d = 0; d < devices.size(); ++d) {
      EXPECT_EQ(devices[d].at("device"), problem_.devices[d].name);
      EXPECT_EQ(devices[d].at("busy"), text_of(usage.device_busy[d]));
    }
  }
}

TEST_F(WorkedExample, InOrderRunsAsPriorityOrFifoDependingOnTheOrder) {
  EXPECT_EQ(run_under(Schedule::in_order).timeline, run_under(Schedule::priority).timeline);
  placement_.order = {0, 1, 2, 3, 4};
  EXPECT_EQ(run_under(Schedule::in_order).timeline, run_under(Schedule::fifo).timeline);
}

TEST_F(WorkedExample, TheCriticalPathIsThatOfThePage) {
  auto rows = page_.table("Critical path", "schedule");
  ASSERT_THAT(rows, SizeIs(11));
  for (const Schedule schedule : both) {
    const Timeline timeline = run_under(schedule).timeline;
    for (const PathStep& step : critical_path(problem_, placement_, schedule, timeline)) {
      ASSERT_FALSE(rows.empty());
      const Row row = rows.front();
      rows.erase(rows.begin());
      EXPECT_EQ(row.at("schedule"), name_of(schedule));
      std::string name;
      if (step.is_op()) {
        name = "op " + problem_.op_names[step.op.index()];
      } else {
        const Timeline::Transfer& transfer = timeline.transfers[step.transfer];
        name = "tensor " + std::to_string(transfer.tensor.value) + " to " + device(transfer.to);
      }
      EXPECT_EQ(row.at("step"), name);
      EXPECT_EQ(row.at("start"), text_of(step.start));
      EXPECT_EQ(row.at("end"), text_of(step.end));
      EXPECT_EQ(row.at("why not earlier"), name_of(step.reason));
    }
  }
  EXPECT_TRUE(rows.empty());
}

TEST_F(WorkedExample, UnderFifoThePathWaitsFor30Microseconds) {
  const auto shares = [&](Schedule schedule) {
    return shares_of(critical_path(problem_, placement_, schedule, run_under(schedule).timeline));
  };
  EXPECT_EQ(shares(Schedule::fifo).computing, ticks("70"));
  EXPECT_EQ(shares(Schedule::fifo).transferring, ticks("82.333333"));
  EXPECT_EQ(shares(Schedule::fifo).waiting, ticks("30"));
  EXPECT_EQ(shares(Schedule::priority).waiting, 0);
}

std::string reason_of(const Problem& problem, const Outcome& outcome) {
  switch (outcome.why) {
    case Infeasible::no: return "feasible, ";
    case Infeasible::unsupported_op:
      return "unsupported op, op " + problem.op_names[outcome.subject] + " on " + problem.devices[outcome.device].name;
    case Infeasible::missing_route:
      return "missing route, tensor " + std::to_string(outcome.subject) + " to " + problem.devices[outcome.device].name;
    case Infeasible::split_group: return "split group, " + problem.group_names[outcome.subject];
    case Infeasible::memory: return "memory, " + problem.devices[outcome.device].name;
    default: return "no reason of R6";
  }
}

TEST_F(WorkedExample, VariationsEndAsThePageSays) {
  const std::map<std::string, std::function<void(Problem&, std::vector<std::uint8_t>&)>> changes = {
      {"gpu:1 has 166999 bytes", [](Problem& problem, auto&) { problem.devices[1].memory = 166999; }},
      {"the bus has contention", [](Problem& problem, auto&) { problem.channels[2].contention = true; }},
      {"b on gpu:0", [](Problem&, auto& device) { device[1] = 0; }},
      {"b on gpu:0, which has 100000 bytes",
       [](Problem& problem, auto& device) {
         problem.devices[0].memory = 100000;
         device[1] = 0;
       }},
      {"b on gpu:0, a on gpu:1", [](Problem&, auto& device) { device[1] = 0, device[0] = 1; }},
      {"b on gpu:0, a and e on gpu:1", [](Problem&, auto& device) { device[1] = 0, device[0] = device[4] = 1; }},
  };
  const auto rows = page_.table("Variations", "change");
  ASSERT_THAT(rows, SizeIs(7));
  for (const Row& row : rows) {
    SCOPED_TRACE(row.at("change") + ", " + row.at("schedule"));
    Problem problem = problem_;
    Placement placement = placement_;
    changes.at(row.at("change"))(problem, placement.device);
    const Outcome outcome =
        test::simulate(problem, placement, schedule_of(row.at("schedule"), "docs/simulation.md")).outcome;
    EXPECT_EQ(row.at("reason") + ", " + row.at("subject"), reason_of(problem, outcome));
    EXPECT_EQ(row.at("overflow"), std::to_string(outcome.overflow));
    EXPECT_EQ(row.at("step time"), outcome.timed() ? text_of(outcome.makespan) : "-");
  }
}

TEST_F(WorkedExample, WithContentionOnTheBusTensor3WaitsForTensor2) {
  problem_.channels[2].contention = true;
  const auto transfers = run_under(Schedule::priority).timeline.transfers;
  EXPECT_EQ(transfers.back(), (Timeline::Transfer{TensorId{3}, DeviceId{1}, DeviceId{2}, ticks("105"),
                                                  ticks("112.333333"), ticks("116.333333")}));
}

TEST_F(WorkedExample, WithBOnGpu0Tensor3WaitsBehindTheOlderRequestsOnTheUplink) {
  placement_.device[1] = 0;
  const Timeline timeline = run_under(Schedule::fifo).timeline;
  EXPECT_EQ(timeline.op_start[1], ticks("10"));
  EXPECT_EQ(timeline.op_end[1], ticks("40"));
  EXPECT_EQ(timeline.op_start[2], ticks("55"));
  EXPECT_EQ(timeline.op_end[2], ticks("75"));
  EXPECT_EQ(timeline.op_start[4], ticks("112.333333"));
  EXPECT_THAT(timeline.transfers, ::testing::Contains(Timeline::Transfer{TensorId{3}, DeviceId{0}, DeviceId{2},
                                                                         ticks("40"), ticks("89"), ticks("91")}));
}

TEST_F(WorkedExample, PublishedSimulatorsGiveTheTableOfTheirPage) {
  const Page page("docs/simulators.md");
  const auto rows = page.table("5.3 The worked example of simulation.md", "simulator");
  ASSERT_THAT(rows, SizeIs(simulators().size() - 2));
  for (std::size_t i = 0; i < simulators().size(); ++i) {
    const std::string& name = simulators()[i].name;
    SCOPED_TRACE(name);
    const auto engine = choose_simulator(name).make(problem_);
    Usage usage;
    std::vector<Ticks> starts;
    const Outcome outcome = engine->evaluate(placement_, {.usage = &usage, .timeline = nullptr, .starts = &starts});
    if (name.starts_with("tarnawski")) {
      EXPECT_EQ(reason_of(problem_, outcome), "missing route, tensor 0 to gpu:1");
      continue;
    }
    const Row& row = rows.at(i);
    EXPECT_EQ(row.at("simulator"), "`" + name + "`");
    EXPECT_EQ(ticks(row.at("reported")), outcome.makespan);
    EXPECT_EQ(ticks(row.at("start of b")), starts[1]);
    EXPECT_EQ(ticks(row.at("start of c")), starts[2]);
    EXPECT_EQ(ticks(row.at("start of e")), starts[4]);
    std::vector<std::string> peaks;
    for (const Bytes peak : usage.device_peak) peaks.push_back(std::to_string(peak));
    EXPECT_EQ(row.at("peaks of gpu:0, gpu:1, cpu:0"), join(peaks, ", "));
  }
}

}  // namespace
}  // namespace emplace::simulate::worked_example_test
