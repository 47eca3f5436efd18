// The pages of sweeps as a browser shows them.
#include <gmock/gmock.h>

#include <array>
#include <cmath>

#include "report/sweep_page.hpp"
#include "tests/report/page_in_browser.hpp"

namespace emplace::report::sweep_page_in_browser_test {
namespace {

using nlohmann::json;
using test::came_to;
using test::failed_with;
using test::text_faults;
using ::testing::HasSubstr;

std::string random_search(std::size_t trials) { return test::sweep_text(fmt::format("trials = {}", trials)); }

// Every seventh fails; what the others come to follows from their values.
std::optional<experiment::TrialResult> plausible(std::size_t trial, const experiment::Assignment& assignment) {
  if (trial % 7 == 3)
    return failed_with("colocrl.cpp: a group </script><b>of</b> ops \xff has no device \"gpu:0\" with " +
                       std::string(200, 'm') + " bytes");
  double sum = 0;
  for (const auto& value : assignment.values) sum += value ? std::sin(3 * *value + 1) : 0.25;
  return came_to(0.35 + 0.05 * std::exp(sum));
}

class PagesInBrowser : public test::PageInBrowser {
 protected:
  void open_sweep(const std::string& text, const test::Outcomes& outcome, std::size_t most = SIZE_MAX) {
    test::write_sweep(folder_ / "sweep", text, outcome, most);
    open(sweep_page(experiment::read_sweep_folder(folder_ / "sweep")).html);
  }
  // Where the parallel plot's last axis is in the window: x, its upper and its lower end.
  std::array<double, 3> last_axis() {
    return evaluate(
        "(() => { const a = [...document.querySelectorAll('[data-chart=parallel] .dimension')].pop();"
        " a.scrollIntoView({block: 'center'}); const l = a.querySelector('line.rule').getBoundingClientRect();"
        " return [l.left, l.top, l.bottom]; })()");
  }
  // A column of the table as it stands there.
  std::vector<std::string> column(int position) {
    return evaluate(
        fmt::format("[...document.querySelectorAll('.trials tbody')].filter((each) => each.offsetHeight > 0)"
                    ".map((each) => each.rows[0].cells[{}].textContent)",
                    position));
  }
};

TEST_F(PagesInBrowser, ASweepHasAMarkInEachChartForEachTrialInAnyLight) {
  open_sweep(random_search(60), plausible);  // 3, 10, ... 59: 9 fail, 51 do not
  for (const auto& [media, scheme, width] : {std::tuple("", "light", 1280), std::tuple("", "dark", 1280),
                                             std::tuple("print", "dark", 720), std::tuple("", "light", 420)}) {
    browser_->look(media, scheme);
    browser_->size(width, 900);
    keep_picture(fmt::format("sweep-{}-{}", media == std::string("print") ? media : scheme, width));
    EXPECT_EQ(count("[data-chart=parallel] path.mark"), 60);
    EXPECT_EQ(count("[data-chart=history] circle.mark"), 51);
    EXPECT_EQ(count("[data-chart=history] path.cross"), 9);
    EXPECT_EQ(count("[data-chart=history] path.sofar"), 1);
    EXPECT_EQ(count("[data-chart=importance] .bar"), 6);
    EXPECT_EQ(count("[data-chart=importance] .noise"), 6);
    EXPECT_EQ(count("[data-chart=curves] path.mark"), 50);
    EXPECT_EQ(count(".trials tbody"), 60);
    if (width == 1280) {
      EXPECT_EQ(evaluate("(() => { const t = document.querySelector('.trials'); return t.scrollWidth <= "
                         "t.parentElement.clientWidth; })()"),
                true)
          << "the table is not cut off";
    }
    EXPECT_EQ(evaluate(text_faults), json::array()) << width;
  }
  EXPECT_THAT(text("main"), HasSubstr("50 of 51 trained trials are drawn"));
  EXPECT_EQ(text(".tile.failed b"), "9");
  // The best is drawn last, over the others.
  EXPECT_EQ(evaluate("[...document.querySelectorAll('[data-chart=parallel] path.mark')].pop().dataset.trial"),
            std::to_string(data_["best"].get<int>()));
  // What trials died of is text.
  EXPECT_EQ(count(".trials tr.error"), 9);
  EXPECT_THAT(text(".trials tr.error"), HasSubstr("a group </script><b>of</b> ops \uFFFD has"));
  EXPECT_EQ(count("main b b, main script, main img"), 0);
}

TEST_F(PagesInBrowser, DraggingAlongAnAxisLeavesTheTrialsInsideInAllCharts) {
  open_sweep(random_search(40), plausible);
  // The last axis from its middle to its lower end: the fast trials.
  const auto [x, top, bottom] = last_axis();
  browser_->drag(x, (top + bottom) / 2, bottom + 4);
  double low = 1e9, high = 0;
  for (const json& trial : data_["trials"])
    if (!trial["objective"].is_null()) {
      low = std::min(low, trial["objective"].get<double>());
      high = std::max(high, trial["objective"].get<double>());
    }
  const bool is_log = high / low > 4;
  const double middle = is_log ? std::sqrt(low * high) : (low + high) / 2;
  int wanted = 0;
  for (const json& trial : data_["trials"])
    wanted += !trial["objective"].is_null() && trial["objective"].get<double>() <= middle ? 1 : 0;
  ASSERT_GT(wanted, 0);
  ASSERT_LT(wanted, 34);
  EXPECT_EQ(text("[data-role=filter]"), fmt::format("{} of 40 trials", wanted));
  EXPECT_EQ(count("[data-chart=parallel] path.mark:not(.out)"), wanted);
  EXPECT_EQ(count("[data-chart=history] .mark:not(.out)"), wanted);
  EXPECT_EQ(column(0).size(), static_cast<std::size_t>(wanted));
  keep_picture("sweep-filtered");
  browser_->size(1000, 900);  // drawn again, with the filter
  EXPECT_EQ(count("[data-chart=parallel] path.mark:not(.out)"), wanted);
  EXPECT_EQ(count("[data-chart=parallel] .brush .selection:not([style*=none])"), 1);
  browser_->click("[data-role=filter] + button");
  EXPECT_EQ(count(".mark.out"), 0);
  EXPECT_EQ(column(0).size(), 40U);
}

TEST_F(PagesInBrowser, AFilterKeepsTrialsInsideThatAreTooManyToDraw) {
  // Of 2010 trials 2000 are drawn. Half came to about 1000, half to about 2000, of which the ten slowest are not drawn.
  test::write_sweep(folder_ / "sweep", random_search(1),
                    [](std::size_t, const experiment::Assignment&) { return came_to(1); });
  std::string html = sweep_page(experiment::read_sweep_folder(folder_ / "sweep")).html;
  json data = test::data_of(html);
  const json one = data["trials"][0];
  data["trials"] = json::array();
  for (int trial = 0; trial < 2010; ++trial) {
    data["trials"].push_back(one);
    data["trials"].back().update(
        {{"trial", trial}, {"objective", (trial < 1005 ? 1000 : 2000) + 0.001 * trial}, {"ended", trial + 1}});
  }
  const std::size_t from = html.find("id=\"data\">") + 10;
  html.replace(from, html.find("</script>", from) - from, data.dump());
  open(html);
  ASSERT_EQ(count("[data-chart=parallel] path.mark"), 2000);
  const auto [x, top, bottom] = last_axis();
  browser_->drag(x, top - 4, (top + bottom) / 2);  // those above the middle, about 1500
  EXPECT_EQ(text("[data-role=filter]"), evaluate("`${report.count(1005)} of ${report.count(2010)} trials`"));
  EXPECT_EQ(count("[data-chart=parallel] path.mark:not(.out)"), 995);
  EXPECT_EQ(count("[data-chart=history] circle.mark:not(.out)"), 1005);
}

TEST_F(PagesInBrowser, ThousandsAreSetApartInTheWholePartOfANumberAlone) {
  open_sweep(random_search(1), plausible);
  const auto shown = [&](const char* number) { return evaluate(std::string("report.count(") + number + ")"); };
  EXPECT_EQ(shown("1.23456"), "1.23456");
  EXPECT_EQ(shown("12345.6789"), "12\u202f345.6789");
  EXPECT_EQ(shown("-1234567"), "-1\u202f234\u202f567");
  EXPECT_EQ(shown("999"), "999");
}

TEST_F(PagesInBrowser, TheColumnOfBudgetsIsThereWhereTheyDiffer) {
  const auto heads = [&] { return evaluate("[...document.querySelectorAll('.trials th')].map((e) => e.textContent)"); };
  open_sweep(random_search(4), plausible);
  EXPECT_EQ(heads().dump().find("budget"), std::string::npos);
  open_sweep(test::sweep_text("trials = 9\nstrategy = \"asha\""), plausible);
  EXPECT_NE(heads().dump().find("budget"), std::string::npos);
}

TEST_F(PagesInBrowser, ABrowserThatDiedIsAnErrorOfTheTest) {
  browser_->end();
  EXPECT_THROW(browser_->call("Page.enable"), std::runtime_error);
}

TEST_F(PagesInBrowser, AClickOnAHeadingSortsAndAnotherTurnsTheOrder) {
  open_sweep(random_search(15), plausible);
  EXPECT_EQ(text("th[aria-sort=ascending] button"), "step time");
  EXPECT_EQ(column(0).front(), std::to_string(data_["best"].get<int>()));
  browser_->click(".trials th:first-child button");
  EXPECT_THAT(column(0),
              ::testing::ElementsAre("0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14"));
  browser_->click(".trials th:first-child button");
  EXPECT_EQ(column(0).front(), "14");
  browser_->click(".trials th:nth-child(3) button");
  browser_->click(".trials th:nth-child(3) button");
  const std::vector<std::string> slowest_first = column(2);
  double slowest = 0;
  for (const json& trial : data_["trials"])
    if (!trial["objective"].is_null()) slowest = std::max(slowest, trial["objective"].get<double>());
  EXPECT_EQ(slowest_first.back(), "–") << "failed trials last, whichever way";
  EXPECT_EQ(slowest_first.front(), evaluate(fmt::format("report.seconds({}, 7)", slowest)).get<std::string>());
}

TEST_F(PagesInBrowser, PointingAtATrialNamesItWithItsValues) {
  open_sweep(random_search(15), plausible);
  const json at = evaluate(
      "(() => { const c = document.querySelector('[data-chart=history] circle.mark'); c.scrollIntoView({block: "
      "'center'});"
      " const b = c.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2, c.dataset.trial]; })()");
  browser_->mouse("mouseMoved", at[0], at[1]);
  browser_->settle();
  const std::string trial = at[2];
  EXPECT_THAT(text("#tip"),
              ::testing::AllOf(HasSubstr("trial " + trial + ": "), HasSubstr("learner"), HasSubstr("groups")));
  EXPECT_GE(count(".mark.hot"), 3);
  EXPECT_EQ(count(fmt::format(".mark.hot:not([data-trial=\"{}\"])", trial)), 0);
  keep_picture("sweep-pointed", false);
  browser_->mouse("mouseMoved", 2, 2);
  browser_->settle();
  EXPECT_EQ(count(".mark.hot"), 0);
  EXPECT_EQ(evaluate("document.getElementById('tip').hidden"), true);
}

TEST_F(PagesInBrowser, TwelveParametersAreReadableAtAnyWidth) {
  open_sweep(
      "trials = 40\nproblem = \"p.json\"\npolicy = \"post\"\nlearner = \"ppo\"\nevaluations = 1000\n[space]\n"
      "grouping = [\"colocation\", \"chain\", \"colocrl-group\", \"op\"]\ngroups = { integers = [8, 512], log = true "
      "}\n"
      "\"ppo.learning_rate\" = { log_uniform = [1e-5, 1e-2] }\n\"ppo.clip_ratio\" = { uniform = [0.1, 0.4] }\n"
      "\"ppo.samples_per_update\" = { integers = [8, 64], step = 8 }\n\"ppo.epochs\" = { integers = [1, 6] }\n"
      "\"ppo.entropy_weight\" = { log_uniform = [0.0003, 0.3] }\n\"ppo.learning_rate_decay_every\" = { integers = [1, "
      "100000], log = true }\n"
      "\"ppo.kl_target\" = { uniform = [0.01, 1] }\n\"ppo.adaptive_beta\" = [true, false]\n\"ppo.beta1\" = { uniform = "
      "[0.8, 0.999] }\n"
      "init = [\"a/very/long/name/of/a/run/folder/in/which/a/policy/is\", \"b\"]\n",
      plausible);
  for (const int width : {1280, 900, 420}) {
    browser_->size(width, 900);
    EXPECT_EQ(evaluate(text_faults), json::array()) << width;
    EXPECT_EQ(count("[data-chart=parallel] .dimension"), 13);
    keep_picture(fmt::format("twelve-parameters-{}", width));
  }
}

TEST_F(PagesInBrowser, ASweepWhoseTrialsAreAllEqualSaysSo) {
  open_sweep(random_search(12), [](std::size_t, const experiment::Assignment&) { return came_to(0.25); });
  EXPECT_THAT(text(".message.equal"), HasSubstr("All 12 trials have the same step time, 250"));
  EXPECT_EQ(count("[data-chart=importance]"), 0) << "there is nothing to explain";
  EXPECT_EQ(count("[data-chart=history]"), 0) << "a flat chart";
  EXPECT_EQ(count(".trials tbody"), 12);
  EXPECT_EQ(evaluate(text_faults), json::array());
  keep_picture("sweep-all-equal");
  open_sweep(random_search(12),
             [](std::size_t trial, const experiment::Assignment&) { return came_to(trial == 3 ? 0.24 : 0.25); });
  EXPECT_EQ(count(".message.equal"), 0);
  EXPECT_EQ(count("[data-chart=history]"), 1);
}

TEST_F(PagesInBrowser, ASweepWithLittleToShowSaysSo) {
  const auto pending = [](std::size_t, const experiment::Assignment&) { return std::nullopt; };
  open_sweep(random_search(4), pending, 0);
  EXPECT_THAT(text(".message"), HasSubstr("No trial has finished yet"));
  EXPECT_EQ(count("svg"), 0);
  open_sweep(random_search(4), [](std::size_t, const experiment::Assignment&) { return failed_with("no"); });
  EXPECT_THAT(text(".message"), HasSubstr("All 4 trials failed"));
  EXPECT_EQ(count(".trials tr.error"), 4);
  EXPECT_THAT(text("main"), HasSubstr("No trial has a result."));
  keep_picture("sweep-all-failed");
  open_sweep(
      random_search(4), [](std::size_t, const experiment::Assignment&) { return came_to(0.5); }, 1);
  EXPECT_EQ(count("[data-chart=parallel] path.mark"), 1);
  EXPECT_EQ(count("[data-chart=history] circle.mark"), 1);
  EXPECT_THAT(text("main"), HasSubstr("at least three trials with a result are needed"));
  EXPECT_EQ(evaluate(text_faults), json::array());
  keep_picture("sweep-one-trial");
}

}  // namespace
}  // namespace emplace::report::sweep_page_in_browser_test
