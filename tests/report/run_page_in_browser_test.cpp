// The pages of runs as a browser shows them.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <filesystem>

#include "report/run_page.hpp"
#include "tests/report/ops.hpp"
#include "tests/report/page_in_browser.hpp"
#include "tests/report/trained_runs.hpp"

namespace emplace::report::run_page_in_browser_test {
namespace {

using nlohmann::json;
using test::text_faults;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* small_model =
    "graph = \"zoo:nmt?layers=2&sequence=6&training=true\"\nmachine = \"k40x2\"\ngrouping = \"chain\"\ngroups = 90\n";

constexpr RunPageLimits quick{.points = 500, .bound_seconds = 0.2};

class RunPageInBrowser : public test::PageInBrowser {
 protected:
  void open_runs(const std::vector<std::string>& folders) { open(run_page(folders, quick).html); }
  // The middle of the longest op, or transfer, of a lane of the timeline in the window, and its position.
  json longest_in_lane(const std::string& kind) {
    return evaluate(
        "(() => { const { timeline, ops } = report.data.placements[0], svg = "
        "document.querySelector('[data-chart=timeline] "
        "svg'), device = '" +
        kind +
        "' === 'device', lasts = (device ? ops : timeline.transfers).lasts, number = timeline.lanes.findIndex((each) "
        "=> "
        "each.kind === '" +
        kind +
        "'), lane = timeline.lanes[number]; let at = 0, best = null; lane.items.forEach((item, i) => { at += "
        "lane.gaps[i];"
        " if (best === null || lasts[item] > best.lasts) best = { item, lasts: lasts[item], middle: at + lasts[item] / "
        "2 };"
        " at += lasts[item]; }); svg.scrollIntoView({ block: 'center' }); const frame = svg.getBoundingClientRect();"
        " const name = [...svg.querySelectorAll('text')].find((each) => each.lastChild.textContent === lane.name);"
        " const box = name.getBoundingClientRect();"
        " const { x } = report.timeScale({ from: 0, to: timeline.end }, frame.width);"
        " return { x: frame.left + x(best.middle), y: box.top + box.height / 2, item: best.item }; })()");
  }
  void expect_whole_words_and_labels();
  std::string style_of(const std::string& selector, const std::string& property) {
    return evaluate("getComputedStyle(document.querySelector('" + selector + "'))." + property);
  }
  std::string drawn(const std::string& chart) {
    return evaluate("[...document.querySelectorAll('[data-chart=" + chart +
                    "] path')].map((each) => each.getAttribute('d')).join(' ')");
  }
};

// No word of a command is broken that fits into a line, no label of a module is cut, and the axis begins with 0.
void RunPageInBrowser::expect_whole_words_and_labels() {
  EXPECT_GT(count(".commands code span"), 4);
  EXPECT_EQ(evaluate("[...document.querySelectorAll('.commands code span')].filter((word) => { const range = "
                     "document.createRange(); range.selectNodeContents(word); return new "
                     "Set([...range.getClientRects()].map((box) => box.top)).size > 1 && "
                     "word.getBoundingClientRect().width < word.parentElement.clientWidth - 30; }).length"),
            0);
  EXPECT_GT(count("[data-chart=groups] text.inside"), 0);
  EXPECT_EQ(evaluate("[...document.querySelectorAll('[data-chart=groups] text.inside')].map((each) => "
                     "each.textContent).filter((each) => each.endsWith('…') && !/[0-9]…$/.test(each))"),
            json::array());
  EXPECT_EQ(text("[data-chart=timeline] svg text.soft"), "0");
}

TEST_F(RunPageInBrowser, ARunHasMarksInEachPictureInAnyLight) {
  open_runs({test::trained(folder_ / "run", small_model, 40)});
  const json& placement = data_["placements"][0];
  ASSERT_TRUE(placement["missing"].is_null()) << placement["missing"];
  int used = 0;
  for (const json& lane : placement["timeline"]["lanes"]) used += lane["kind"] == "device" ? 1 : 0;
  ASSERT_GE(used, 2);
  const int groups = static_cast<int>(placement["groups"]["nodes"].size());
  for (const auto& [media, scheme, width] : {std::tuple("", "light", 1280), std::tuple("", "dark", 1280),
                                             std::tuple("print", "dark", 720), std::tuple("", "light", 420)}) {
    browser_->look(media, scheme);
    browser_->size(width, 900);
    keep_picture(fmt::format("run-{}-{}", media == std::string("print") ? media : scheme, width));
    EXPECT_EQ(count("[data-chart=times] path.mark"), 3) << "best, mean and median";
    EXPECT_EQ(count("[data-chart=times] path.band"), 1) << "from the 10 % to the 90 % quantile";
    EXPECT_EQ(count("[data-chart=times] line.reference"), 3) << "one device, the best of other placers, the bound";
    EXPECT_THAT(
        text("[data-chart=times] + .legend"),
        AllOf(HasSubstr("one device: "), HasSubstr("best found by another placer ("), HasSubstr("lower bound (")));
    for (const char* chart : {"entropy", "kl"})
      EXPECT_EQ(count(fmt::format("[data-chart={}] path.mark", chart)), 1) << chart;
    EXPECT_EQ(count("[data-chart=infeasible]"), 0) << "all samples are feasible: an empty chart";
    EXPECT_THAT(text(".flat"), HasSubstr("never changes: infeasible share (0 %)"));
    EXPECT_GE(count("[data-chart=timeline] path.bars"), used + 1) << "one path per lane";
    EXPECT_EQ(count("[data-chart=timeline] path.critical"), 1);
    EXPECT_EQ(count("[data-chart=memory] path.level"), used);
    EXPECT_GE(count("[data-chart=memory] text.tick"), 2 * used) << "an axis of bytes: 0 and more";
    EXPECT_EQ(count("[data-chart=groups] rect.shape"), groups);
    EXPECT_EQ(count("[data-chart=groups] path.edge"), static_cast<int>(placement["groups"]["edges"].size()));
    expect_whole_words_and_labels();
    EXPECT_NE(style_of("line.reference.best", "stroke"), style_of("path.mark.median", "stroke")) << scheme;
    EXPECT_NE(style_of("line.reference.best", "strokeDasharray"), style_of("path.mark.median", "strokeDasharray"));
    EXPECT_EQ(count("[data-chart=limits] tbody tr"), static_cast<int>(placement["limits"]["limits"].size()));
    EXPECT_EQ(count("[data-chart=moves] tbody tr"), static_cast<int>(placement["limits"]["moves"].size()));
    EXPECT_EQ(count("[data-chart=verdict] tr"), static_cast<int>(placement["head"]["rows"].size()));
    EXPECT_EQ(count("[data-chart=baselines] tbody tr"), static_cast<int>(placement["baselines"].size()) + 1);
    EXPECT_EQ(count("[data-chart=baselines] tr.learned"), 1);
    EXPECT_EQ(evaluate(text_faults), json::array()) << width;
  }
  EXPECT_THAT(text("main"), AllOf(HasSubstr("Train the same again"), HasSubstr("run=" + (folder_ / "run-again")),
                                  HasSubstr("no placement is faster than")));
  EXPECT_THAT(text(".headline"),
              HasSubstr(evaluate("report.seconds(report.data.placements[0].time / 1e12, 6)").get<std::string>()));
}

TEST_F(RunPageInBrowser, TheScaleOfALearningCurveIsSaidAndItsTicksAreWhole) {
  const std::string folder = folder_ / "run";
  make_folder(folder);
  write_file(folder + "/config.toml", "problem = \"p.json\"\npolicy = \"post\"\n");
  std::vector<double> best(10'000);
  for (std::size_t i = 0; i < best.size(); ++i) best[i] = 9.0 / static_cast<double>(1 + i / 100);
  test::write_metrics(folder, best);  // up to 100,000 evaluations: the last tick is at the end of the axis
  open_runs({folder});
  EXPECT_THAT(text("[data-chart=times]"), HasSubstr("step time (ms, log scale)"));
  EXPECT_THAT(text("[data-chart=times]"), HasSubstr("100\u202f000"));
  for (const int width : {1280, 420}) {
    browser_->size(width, 900);
    EXPECT_EQ(evaluate(text_faults), json::array()) << width;
  }
  keep_picture("run-log-scale");
}

TEST_F(RunPageInBrowser, EdgesOfTheGraphGoBetweenDevicesOnly) {
  open_runs({test::trained(folder_ / "run", small_model, 20)});
  const json& groups = data_["placements"][0]["groups"];
  ASSERT_GT(groups["edges"].size(), 0U);
  for (const json& edge : groups["edges"])
    EXPECT_NE(groups["nodes"][edge[0].get<std::size_t>()]["device"],
              groups["nodes"][edge[1].get<std::size_t>()]["device"]);
  EXPECT_LE(groups["nodes"].size(), 40U);
  EXPECT_EQ(count("[data-chart=groups] path.edge.crossing"), static_cast<int>(groups["edges"].size()));
  EXPECT_GE(count("[data-chart=groups] .lane-back"), 2) << "a lane for each device";
}

TEST_F(RunPageInBrowser, OfALongTrainingNoRankIsGivenToItsWholeBudget) {
  const std::string folder = test::trained(folder_ / "run", small_model, 4);
  std::vector<double> best(10'000, 0.3);  // 100,000 evaluations: more than the searches of the page get
  test::write_metrics(folder + "-long", best);
  std::filesystem::rename(folder + "-long/metrics.csv", folder + "/metrics.csv");
  open_runs({folder});
  EXPECT_EQ(count("[data-chart=baselines] tbody.unranked tr"), 1);
  EXPECT_EQ(text("[data-chart=baselines] tbody.unranked td"), "") << "no rank";
  EXPECT_EQ(count("[data-chart=baselines] tbody.ranked tr.learned"), 1) << "what it had after as many evaluations";
  EXPECT_EQ(text("[data-chart=baselines] tbody.ranked td"), "1");
  EXPECT_THAT(text("main"), HasSubstr("and has no rank"));
  EXPECT_EQ(evaluate(text_faults), json::array());
  keep_picture("run-long");
}

TEST_F(RunPageInBrowser, TheTimelineZoomsByWheelDragKeysAndButtonsAndMemoryFollows) {
  open_runs({test::trained(folder_ / "run", small_model, 20)});
  const std::string whole = drawn("timeline"), memory = drawn("memory");
  const json at = longest_in_lane("device");
  browser_->wheel(at["x"], at["y"], -300);
  EXPECT_EQ(drawn("timeline"), whole) << "the wheel scrolls the page until the chart is clicked";
  const json there = longest_in_lane("device");
  for (const char* type : {"mouseMoved", "mousePressed", "mouseReleased"})
    browser_->mouse(type, there["x"], there["y"]);
  EXPECT_EQ(drawn("timeline"), whole);
  browser_->wheel(there["x"], there["y"], -600);
  const std::string near = drawn("timeline");
  EXPECT_NE(near, whole);
  EXPECT_NE(drawn("memory"), memory) << "both show the same stretch";
  EXPECT_EQ(evaluate(text_faults), json::array());
  keep_picture("run-zoomed", false);
  browser_->key("ArrowRight");
  const std::string right = drawn("timeline");
  EXPECT_NE(right, near);
  browser_->key("ArrowLeft");
  EXPECT_EQ(drawn("timeline"), near);
  browser_->mouse("mousePressed", there["x"], there["y"]);
  for (int i = 1; i <= 4; ++i) browser_->mouse("mouseMoved", there["x"].get<double>() - 20 * i, there["y"], true);
  browser_->mouse("mouseReleased", there["x"].get<double>() - 80, there["y"]);
  browser_->settle();
  EXPECT_NE(drawn("timeline"), near);
  browser_->key("0", "0");
  EXPECT_EQ(drawn("timeline"), whole);
  EXPECT_EQ(drawn("memory"), memory);
  browser_->click(".zoom button:last-child");
  EXPECT_NE(drawn("timeline"), whole);
  browser_->click(".zoom button:nth-child(2)");
  EXPECT_EQ(drawn("timeline"), whole);
  browser_->click("[data-value=type]");
  EXPECT_NE(drawn("timeline"), whole) << "coloured by the types of ops";
}

TEST_F(RunPageInBrowser, PointingAtABarSaysWhatItIs) {
  open_runs({test::trained(folder_ / "run", small_model, 20)});
  const json op = longest_in_lane("device");
  browser_->mouse("mouseMoved", op["x"], op["y"]);
  browser_->settle();
  const json& ops = data_["placements"][0]["ops"];
  const std::size_t item = op["item"];
  EXPECT_THAT(text("#tip"),
              AllOf(HasSubstr(ops["names"][item].get<std::string>()),
                    HasSubstr(ops["type_names"][ops["types"][item].get<std::size_t>()].get<std::string>()),
                    HasSubstr(data_["placements"][0]["timeline"]["lanes"][0]["name"].get<std::string>()),
                    HasSubstr("starts"), HasSubstr("group"), HasSubstr("makes")));
  keep_picture("run-pointed", false);
  const json transfer = longest_in_lane("channel");
  browser_->mouse("mouseMoved", transfer["x"], transfer["y"]);
  browser_->settle();
  EXPECT_THAT(text("#tip"), AllOf(HasSubstr("moves"), HasSubstr(" to "), HasSubstr("size")));
  browser_->mouse("mouseMoved", 2, 2);
  browser_->settle();
  EXPECT_EQ(evaluate("document.getElementById('tip').hidden"), true);
}

TEST_F(RunPageInBrowser, AClickOpensAGroupAndAnotherClosesIt) {
  open_runs({test::trained(folder_ / "run", small_model, 20)});
  EXPECT_EQ(count("[data-chart=ops]"), 0);
  browser_->click("[data-chart=groups] .node:nth-child(3)");
  const json& node = data_["placements"][0]["groups"]["nodes"][2];
  EXPECT_EQ(count("[data-chart=ops] rect.shape"), static_cast<int>(node["members"].size()));
  EXPECT_THAT(text(".opened h3"), HasSubstr(node["name"].get<std::string>()));
  EXPECT_EQ(count(".node.chosen"), 1);
  EXPECT_EQ(evaluate(text_faults), json::array());
  browser_->mouse("mouseMoved", 2, 2);
  keep_picture("run-group");
  browser_->click("[data-chart=groups] .node:nth-child(3)");
  EXPECT_EQ(count("[data-chart=ops]"), 0);
  EXPECT_EQ(count(".node.chosen"), 0);
  evaluate("document.querySelector('[data-chart=groups] .node').focus()");
  browser_->key("Enter", "\r");
  EXPECT_EQ(count("[data-chart=ops]"), 1);
  browser_->click(".opened .plain");
  EXPECT_EQ(count("[data-chart=ops]"), 0);
}

TEST_F(RunPageInBrowser, WithoutItsProblemARunStillHasItsCurves) {
  ProblemBuilder builder("gone");
  builder.add_device({"<b>cpu</b>", "cpu", 1000});
  OpSpec only = test::op("</script><img src=x>", {1}, "<i>");
  only.resident = 900;
  builder.add_op(only);
  const Problem problem = builder.build();
  const std::string folder = test::trained_on(problem, folder_ / "run");
  open_runs({folder});
  EXPECT_EQ(count("[data-chart=memory] path.level"), 1);
  EXPECT_EQ(count(".message"), 0);
  EXPECT_EQ(count("[data-chart=timeline] path.bars"), 1);
  EXPECT_EQ(count("main img, main b > b, main i > i, text b"), 0) << "names are text";
  EXPECT_THAT(text("[data-chart=timeline]"), HasSubstr("<b>cpu</b>"));
  EXPECT_EQ(evaluate(text_faults), json::array());
  keep_picture("run-one-op");
  write_file(folder + ".problem.json", formats::write_problem_json(test::scaled(problem, 2)));
  open_runs({folder});
  EXPECT_THAT(text(".message.bad"), HasSubstr("has changed since"));
  std::filesystem::remove(folder + ".problem.json");
  open_runs({folder});
  EXPECT_EQ(count("[data-chart=times] path.mark"), 3);
  EXPECT_EQ(count("[data-chart=timeline]"), 0);
  EXPECT_THAT(text(".message.bad"), AllOf(HasSubstr("cannot be shown"), HasSubstr("run.problem.json")));
  keep_picture("run-without-problem");
}

TEST_F(RunPageInBrowser, OfARunWithoutMetricsSaysThatTheyAreMissing) {
  const std::string folder = test::trained(folder_ / "run", small_model);
  open_runs({folder});
  EXPECT_THAT(text(".figures"), HasSubstr("updates"));
  write_file(folder + "/metrics.csv", "");
  open_runs({folder});
  EXPECT_THAT(text(".pill"), "finished");
  EXPECT_THAT(text(".message"), HasSubstr("metrics.csv is missing or empty"));
  EXPECT_THAT(text(".figures"), ::testing::Not(HasSubstr("updates")));
  EXPECT_THAT(text("main"), HasSubstr("The metrics of the run are missing"));
}

TEST_F(RunPageInBrowser, OfAPipelineTheLoadsAreShown) {
  open_runs({test::trained(folder_ / "run", std::string(small_model) + "objective = \"pipeline\"\n")});
  EXPECT_EQ(count("[data-chart=timeline]"), 0);
  EXPECT_EQ(count("[data-chart=loads] tbody tr"), 3) << "a CPU and two GPUs";
  EXPECT_GT(count("[data-chart=groups] rect.shape"), 1);
  EXPECT_EQ(evaluate(text_faults), json::array());
  keep_picture("run-pipeline");
}

// 50,000 ops in 200 layers on four devices: the page stays small, and far enough in each op has its name.
TEST_F(RunPageInBrowser, FiftyThousandOpsStayReadable) {
  constexpr std::size_t width = 250, layers = 200;
  ProblemBuilder builder("large");
  for (int d = 0; d < 4; ++d) builder.add_device({fmt::format("gpu:{}", d), "gpu", Bytes{8} << 30});
  const ChannelId bus = builder.add_channel({"bus", 1e-6, 1e10});
  for (std::size_t from = 0; from < 4; ++from)
    for (std::size_t to = 0; to < 4; ++to)
      if (from != to) builder.add_route(DeviceId{from}, DeviceId{to}, {bus});
  for (std::size_t op = 0; op < width * layers; ++op)
    builder.add_op(test::op(fmt::format("model/layer{}/block{}/op{}", op / width, op % width / 10, op % 10),
                            std::vector<double>(4, 1e-6 * static_cast<double>(1 + op * 7919 % 97)),
                            std::array{"MatMul", "Add", "Relu"}[op % 3]));
  for (std::size_t op = 0; op + width < width * layers; ++op) {
    const std::size_t first = (op / width + 1) * width, next = first + op % width;
    const std::size_t other = first + (op * 31 + 7) % width;
    std::vector<OpId> readers = {OpId{next}};
    if (other != next) readers.emplace_back(other);
    builder.add_tensor(OpId{op}, 40'000, readers);
  }
  const std::string folder = test::trained_on(builder.build(), folder_ / "run",
                                              "grouping = \"chain\"\ngroups = 64\ncompare = [\"single\"]\n", 1);
  const std::string html = run_page(std::vector{folder}, quick).html;
  EXPECT_LT(html.size(), 9'000'000U);
  open(html);
  EXPECT_EQ(data_["placements"][0]["ops"]["names"].size(), width * layers);
  EXPECT_GE(count("[data-chart=timeline] path.bars"), 4);
  EXPECT_LT(drawn("timeline").size(), 2'000'000U) << "bars narrower than a pixel are drawn together";
  EXPECT_GE(count("[data-chart=groups] rect.shape"), 4);
  EXPECT_LE(count("[data-chart=groups] rect.shape"), 64);
  EXPECT_EQ(evaluate(text_faults), json::array());
  keep_picture("run-50k");
  for (int i = 0; i < 16; ++i) browser_->click(".zoom button:last-child");
  EXPECT_GT(count("[data-chart=timeline] text.inside"), 0);
  EXPECT_THAT(text("[data-chart=timeline] text.inside"), HasSubstr("op"));
  EXPECT_EQ(evaluate(text_faults), json::array());
  browser_->click("[data-chart=groups] .node");
  EXPECT_GT(count("[data-chart=ops] rect.shape"), 0);
  EXPECT_LE(count("[data-chart=ops] rect.shape"), 250);
  keep_picture("run-50k-opened");
}

TEST_F(RunPageInBrowser, RunsHaveTheirCurvesOverOneAnother) {
  std::vector<std::string> folders;
  for (const char* name : {"one", "another"}) {
    folders.push_back(folder_ / name);
    make_folder(folders.back());
    write_file(folders.back() + "/config.toml",
               fmt::format("problem = \"p.json\"\npolicy = \"post\"\nlearner = \"{}\"\n",
                           folders.size() == 1 ? "ppo" : "post"));
    std::vector<double> best(120);
    for (std::size_t i = 0; i < best.size(); ++i)
      best[i] = i == 0 ? std::nan("") : 0.2 + 0.1 * std::floor(30.0 / static_cast<double>(i + folders.size())) / 10;
    test::write_metrics(folders.back(), best);
  }
  for (const std::size_t runs : {2, 1}) {
    open(run_page(std::span(folders).first(runs), quick).html);
    const int lines = static_cast<int>(runs);
    EXPECT_EQ(count("[data-chart=times] path.mark"), 2 * lines) << "best and mean";
    for (const char* chart : {"entropy", "kl"})
      EXPECT_EQ(count(fmt::format("[data-chart={}] path.mark", chart)), lines) << chart;
    EXPECT_EQ(evaluate(text_faults), json::array());
    keep_picture(fmt::format("runs-{}", runs));
  }
  browser_->look("", "dark");
  browser_->click("[data-value=wall_seconds]");
  EXPECT_THAT(text("[data-chart=times]"), HasSubstr("wall clock (s)"));
  keep_picture("runs-dark");
}

TEST_F(RunPageInBrowser, RunsThatDifferInMuchHaveATableThatCanBeRead) {
  std::vector<std::string> folders;
  for (const char* name : {"one", "another-with-a-rather-long-name", "a_third"}) {
    const std::size_t i = folders.size();
    folders.push_back(folder_ / name);
    make_folder(folders.back());
    write_file(folders.back() + "/config.toml",
               fmt::format("graph = \"zoo:nmt?layers={0}&sequence=16&training=true\"\nmachine = \"k40x{0}\"\n"
                           "policy = \"{1}\"\nlearner = \"{2}\"\ngrouping = \"{3}\"\nupdates = {0}00\nseed = {0}\n",
                           i + 1, std::array{"post", "hierarchical", "placeto"}[i],
                           std::array{"ppo", "reinforce", "cross-entropy"}[i],
                           std::array{"chain", "colocation", "colocrl"}[i]));
    test::write_metrics(folders.back(), std::vector<double>(120, 0.1 * static_cast<double>(i + 1)));
  }
  open_runs(folders);
  for (const auto& [scheme, width] : {std::pair("light", 1200), std::pair("dark", 1200), std::pair("light", 400)}) {
    browser_->look("", scheme);
    browser_->size(width, 900);
    EXPECT_GE(evaluate("Math.min(...[...document.querySelectorAll('.runs td')].map((each) => each.clientWidth))"), 60)
        << "no column is only one letter wide";
    EXPECT_GE(evaluate("Math.min(...[...document.querySelectorAll('.axis')].flatMap((axis) => "
                       "d3.pairs([...axis.querySelectorAll('text')].map((each) => each.getBoundingClientRect()))"
                       ".map(([a, b]) => b.left - a.right)))"),
              16)
        << "numbers of an axis stand apart";
    EXPECT_EQ(evaluate(text_faults), json::array()) << width;
    keep_picture(fmt::format("runs-that-differ-{}-{}", scheme, width));
  }
  EXPECT_THAT(text(".card .note"), HasSubstr("different problems"));
  EXPECT_EQ(evaluate("[...document.querySelectorAll('.runs')].map((each) => each.tBodies[0].rows.length)"),
            (json{3, 8}))
      << "one row per run; one row per setting if there are more settings than runs";
}

TEST_F(RunPageInBrowser, SeveralRunsHaveATableAndThePlacementOfWhicheverIsChosen) {
  const std::string few = test::trained(folder_ / "few", small_model, 2);
  const std::string many = test::trained(folder_ / "many", std::string(small_model) + "checkpoint_every = 5\n", 30);
  open_runs({few, many});
  EXPECT_EQ(count("[data-chart=times] path.mark"), 6);
  EXPECT_EQ(count("[data-chart=times] path.band"), 2);
  const json& placements = data_["placements"];
  ASSERT_EQ(placements.size(), 2U);
  EXPECT_LE(placements[0]["time"], placements[1]["time"]) << "the better one first";
  const auto shown = [&](std::size_t i) {
    return evaluate(fmt::format("report.ticksText(report.data.placements[{}].time, 6)", i)).get<std::string>();
  };
  EXPECT_THAT(text(".card:has([data-chart=timeline]) .note"), HasSubstr("a step of " + shown(0)));
  browser_->click("[data-value=placement-1]");
  EXPECT_THAT(text(".card:has([data-chart=timeline]) .note"), HasSubstr("a step of " + shown(1)));
  EXPECT_EQ(evaluate(text_faults), json::array());
  keep_picture("runs-placements");
}

}  // namespace
}  // namespace emplace::report::run_page_in_browser_test
