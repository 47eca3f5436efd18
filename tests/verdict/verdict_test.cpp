// The sentences of verdicts on placements of chain-5, where one device takes 24 ms and the other 28 ms.
#include "verdict/verdict.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/problem/tiny.hpp"

namespace emplace::verdict::verdict_test {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

struct Trial {
  explicit Trial(Problem of = chain_5(2)) : problem(std::move(of)) {
    evaluator = evaluate::make_local_evaluator(list, Schedule::fifo);
    request.problem = &problem;
    request.evaluator = evaluator.get();
    references = find_references(request);
  }
  [[nodiscard]] Subject subject(Ticks time) const {
    Subject subject{.method = "post",
                    .outcome = {},
                    .commands = {.search = "emplace place best p.json",
                                 .start = "--start out.json",
                                 .output = "-o out-2.json",
                                 .keep = "emplace report p.json out.json"}};
    subject.outcome.makespan = time;
    return subject;
  }
  [[nodiscard]] Verdict verdict(const Subject& subject) const { return judge(Objective::step, subject, references); }

  Problem problem;
  const Problem* list[1] = {&problem};
  std::unique_ptr<evaluate::Evaluator> evaluator;
  search::PlacerRequest request;
  References references;
};

TEST(References, HaveTheFastestDeviceTheBestQuickPlacerAndABound) {
  const Trial trial;
  ASSERT_TRUE(trial.references.single);
  EXPECT_EQ(trial.references.single->outcome.makespan, 24 * ms);
  EXPECT_EQ(trial.references.single_device, "gpu:1");
  EXPECT_FALSE(trial.references.expert);
  ASSERT_TRUE(trial.references.quick);
  EXPECT_LE(trial.references.quick->outcome.makespan, 24 * ms);
  EXPECT_GT(trial.references.bound.ticks, 0);
}

TEST(References, HaveTheExpertsPlacementWhereTheProblemHasOne) {
  Problem problem = chain_5(2);
  problem.expert.assign(problem.op_count(), 0);
  const Trial trial(std::move(problem));
  ASSERT_TRUE(trial.references.expert);
  EXPECT_EQ(trial.references.expert->outcome.makespan, 28 * ms);
}

TEST(References, HaveOpsThatTheDeviceCannotRunWhereTheyRun) {
  const Trial trial(tiny(plain_devices(2), {{"a", {3, no}}, {"b", {no, 1}}}, {}));
  ASSERT_TRUE(trial.references.single);
  EXPECT_EQ(trial.references.single->outcome, (Outcome{.makespan = 3 * ms}));
  EXPECT_THAT(trial.references.single->placement.device, ElementsAre(0, 1));
  EXPECT_TRUE(trial.references.quick);
}

TEST(References, HaveNoDeviceIfItsMemoryIsTooSmall) {
  const Trial trial(
      tiny({{"gpu:0", "gpu", 10}, {"gpu:1", "gpu", 10}}, {{"a", {1, 1}, "", 8}, {"b", {1, 1}, "", 8}}, {}));
  EXPECT_FALSE(trial.references.single);
  ASSERT_TRUE(trial.references.quick);
  EXPECT_EQ(trial.references.quick->outcome, (Outcome{.makespan = 1 * ms}));
}

TEST(References, HaveNoQuickPlacersWithoutTimeAndSayWhetherEveryDeviceWasTried) {
  const Trial trial;
  const References references = find_references(trial.request, {.predicted = 0});
  EXPECT_EQ(references.quick->method, "single");
  EXPECT_TRUE(references.tried_every_device);
}

TEST(Verdict, NamesTheConstraintsInTheCommandThatMayFindABetterOne) {
  const Trial trial;
  Subject subject = trial.subject(309 * ms);
  subject.commands.search += " --pin 'a/*=gpu:0' --max-cuts 4";
  EXPECT_EQ(trial.verdict(subject).next,
            "emplace place best p.json --pin 'a/*=gpu:0' --max-cuts 4 --seconds 60 -o out-2.json");
}

TEST(Verdict, SaysThatAResultIsWorseThanOneDeviceAndWhichCommandFindsABetterOne) {
  const Trial trial;
  const Verdict verdict = trial.verdict(trial.subject(309 * ms));
  EXPECT_THAT(verdict.sentences, Contains(StartsWith("worse than one device: everything on 'gpu:1' takes 24")));
  EXPECT_THAT(verdict.next, StartsWith("emplace place best p.json --seconds"));
  EXPECT_THAT(verdict.next, Not(HasSubstr("--start")));
  EXPECT_THAT(verdict.rows.front(), Pair("step time", 309 * ms));
}

TEST(Verdict, CallsTimesEqualThatDifferByLessThanATenthOfAPercent) {
  const Trial trial;
  const Ticks single = trial.references.single->outcome.makespan;
  const auto sentences = [&](Ticks time) { return trial.verdict(trial.subject(time)).sentences; };
  for (const Ticks time : {single + single / 2000, single - single / 2000})
    EXPECT_THAT(sentences(time), Contains("as fast as one device ('gpu:1')"));
  EXPECT_THAT(sentences(single + single / 500), Contains(StartsWith("worse than one device")));
  EXPECT_THAT(sentences(single - single / 500), Contains(StartsWith("0.2 % less than one device")));
  const Ticks bound = trial.references.bound.ticks;
  EXPECT_THAT(sentences(bound + bound / 2000), Contains(HasSubstr("this one is optimal within 0.1 %")));
  EXPECT_THAT(sentences(bound + bound / 500), Contains(HasSubstr("at most 0.2 % could be gained")));
}

TEST(Verdict, SaysThatAnOptimalResultIsOptimalAndHowToExportIt) {
  const Trial trial;
  Subject subject = trial.subject(trial.references.quick->outcome.makespan);
  subject.proved_optimal = true;
  const Verdict verdict = trial.verdict(subject);
  EXPECT_THAT(verdict.sentences, Contains("no placement is faster: this one is optimal"));
  EXPECT_EQ(verdict.next, "emplace report p.json out.json");
}

TEST(Verdict, LetsASearchBeginWithTheResultAndWriteIntoAnotherFile) {
  Trial trial;
  trial.references.bound.ticks = 1 * ms;
  Subject subject = trial.subject(trial.references.quick->outcome.makespan);
  subject.seconds = 30;
  EXPECT_EQ(trial.verdict(subject).next, "emplace place best p.json --seconds 120 --start out.json -o out-2.json");
}

TEST(Verdict, KnowsNoNextCommandWhereNoPlacementIsFeasible) {
  const Trial trial;
  Subject subject = trial.subject(1 * ms);
  subject.outcome.why = Infeasible::memory;
  subject.why_nothing = "the ops need 60 B";
  subject.reason = "gpu:0 has 20 B too much";
  const Verdict verdict = trial.verdict(subject);
  EXPECT_THAT(verdict.sentences,
              ElementsAre("no placement is feasible: the ops need 60 B; of the one found: gpu:0 has 20 B too much"));
  EXPECT_EQ(verdict.next, "");
}

TEST(Verdict, SaysWhyOneDeviceIsUsedThoughASplitIsALittleFaster) {
  const Trial trial;
  Subject subject = trial.subject(24 * ms);
  subject.split = Reference{"climb", {}, Outcome{.makespan = 23'952 * ms / 1000}};
  const Verdict verdict = trial.verdict(subject);
  EXPECT_THAT(verdict.sentences, Contains("as fast as one device ('gpu:1')"));
  EXPECT_THAT(verdict.sentences, Contains("splitting gains 0.2 %, too little: 23.95 ms by climb"));
  EXPECT_THAT(verdict.sentences, Not(Contains(StartsWith("worse than"))));
  EXPECT_EQ(verdict.about_bound, verdict.sentences.back());
}

TEST(Verdict, NeverCallsAResultOnceAsFastAsOneDevice) {
  const Trial trial;
  EXPECT_THAT(trial.verdict(trial.subject(23'952 * ms / 1000)).sentences,
              Contains("0.2 % less than one device ('gpu:1')"));
}

TEST(Verdict, SaysThatATrainingWasStillFallingAndContinuesIt) {
  Trial trial;
  trial.references.bound.ticks = 1 * ms;
  Subject subject = trial.subject(trial.references.quick->outcome.makespan);
  subject.commands.resume = "emplace train --resume runs/post";
  subject.seconds = 60;
  subject.curve = CurveFacts{.still_falling = true};
  const Verdict verdict = trial.verdict(subject);
  EXPECT_THAT(verdict.sentences, Contains(HasSubstr("still falling at the end")));
  EXPECT_EQ(verdict.next, "emplace train --resume runs/post seconds=120");
}

TEST(Verdict, ContinuesTheShortestTrainingForASecondAtLeast) {
  Trial trial;
  trial.references.bound.ticks = 1 * ms;
  Subject subject = trial.subject(trial.references.quick->outcome.makespan);
  subject.commands.resume = "emplace train --resume runs/post";
  subject.curve = CurveFacts{.still_falling = true};
  for (const auto& [took, next] : {std::pair(0.01, 1), {0.5, 1}, {0.7, 2}, {10.2, 21}}) {
    subject.seconds = took;
    EXPECT_EQ(trial.verdict(subject).next, fmt::format("emplace train --resume runs/post seconds={}", next));
  }
}

TEST(Verdict, SaysThatATrainingWasTooShortToTellWhetherMoreTimeWillHelp) {
  const Trial trial;
  Subject subject = trial.subject(24 * ms);
  subject.curve = CurveFacts{.too_short = true};
  EXPECT_THAT(trial.verdict(subject).sentences, Contains(HasSubstr("too few updates to tell")));
}

TEST(Verdict, PromisesNothingFromMoreTimeWhereThePlacementIsOptimal) {
  const Trial trial;
  Subject subject = trial.subject(trial.references.quick->outcome.makespan);
  subject.proved_optimal = true;
  subject.curve = CurveFacts{.still_falling = true, .too_short = true};
  subject.commands.resume = "emplace train --resume runs/post";
  const Verdict verdict = trial.verdict(subject);
  EXPECT_THAT(verdict.sentences, Not(Contains(HasSubstr("more time"))));
  EXPECT_EQ(verdict.next, subject.commands.keep);
}

TEST(Verdict, HasTheBestThatIsKnownInARowUnlessARowAboveHasIt) {
  Trial trial;
  const auto best = [&](Ticks time) {
    const Verdict verdict = trial.verdict(trial.subject(time));
    const auto row =
        std::ranges::find_if(verdict.rows, [](const auto& each) { return each.first.starts_with("best"); });
    return row == verdict.rows.end() ? std::pair(std::string(), std::optional<Ticks>()) : *row;
  };
  EXPECT_THAT(best(1 * ms), Pair("", std::nullopt)) << "the result itself";
  trial.references.quick = trial.references.single;
  EXPECT_THAT(best(309 * ms), Pair("", std::nullopt)) << "one device";
  trial.references.expert = Reference{"expert", {}, Outcome{.makespan = 20 * ms}};
  EXPECT_THAT(best(309 * ms), Pair("", std::nullopt)) << "the expert";
  trial.references.quick = Reference{"heft", {}, Outcome{.makespan = 19 * ms}};
  EXPECT_THAT(best(309 * ms), Pair("best known here (heft)", 19 * ms));
  EXPECT_THAT(best(19 * ms), Pair("", std::nullopt)) << "equally fast";
}

TEST(Verdict, SaysThatNothingFasterIsKnownWhereAnotherPlacerWasCompared) {
  Trial trial;
  trial.references.bound.ticks = 1 * ms;
  const auto sentences = [&](Ticks time) { return trial.verdict(trial.subject(time)).sentences; };
  trial.references.quick = Reference{"heft", {}, Outcome{.makespan = 19 * ms}};
  EXPECT_THAT(sentences(19 * ms), Contains("the fastest placement that is known here"));
  EXPECT_THAT(sentences(20 * ms), Not(Contains("the fastest placement that is known here")));
  trial.references.quick = trial.references.single;
  EXPECT_THAT(sentences(19 * ms), Not(Contains("the fastest placement that is known here")));
}

TEST(Verdict, NamesHowTheBoundWasProvedAndWhetherMoreCanBeProved) {
  Trial trial;
  trial.references.bound = {10 * ms, "load"};
  const auto about_bound = [&] { return trial.verdict(trial.subject(20 * ms)).about_bound; };
  EXPECT_EQ(about_bound(),
            "no placement is faster than 10 ms (load, a quick bound; `emplace bound` may prove more): at most 50.0 % "
            "could be gained");
  trial.references.is_quick_bound = false;
  EXPECT_EQ(about_bound(), "no placement is faster than 10 ms (load): at most 50.0 % could be gained");
  trial.references.bound.method = "best";
  EXPECT_EQ(about_bound(),
            "no placement is faster than 10 ms (proved by the placer best): at most 50.0 % could be gained");
  EXPECT_THAT(trial.verdict(trial.subject(20 * ms)).rows, Contains(Pair("bound (proved by the placer best)", 10 * ms)));
}

TEST(Verdict, SaysThatAFasterPlacersAnswerHadNoPartInATrainingWithoutDemonstrations) {
  Trial trial;
  trial.references.quick = Reference{"heft", {}, Outcome{.makespan = 19 * ms}};
  Subject subject = trial.subject(20 * ms);
  EXPECT_THAT(trial.verdict(subject).sentences, Contains("worse than the placement of heft, which takes 19 ms"));
  subject.without_quick = true;
  EXPECT_THAT(trial.verdict(subject).sentences,
              Contains("worse than the placement of heft, which takes 19 ms and had no part in this training "
                       "(demonstrations=false)"));
}

TEST(Verdict, SaysThatMoreTimeWillNotHelpAPolicyThatHasConverged) {
  const Trial trial;
  Subject subject = trial.subject(24 * ms);
  subject.commands.resume = "emplace train --resume runs/post";
  subject.curve = CurveFacts{.converged = true};
  EXPECT_THAT(trial.verdict(subject).sentences, Contains(HasSubstr("more time will not help")));
}

TEST(Verdict, SaysWhatIsInfeasibleAndGivesMeasuredTimesNoBound) {
  Trial trial;
  Subject infeasible = trial.subject(1 * ms);
  infeasible.outcome.why = Infeasible::memory;
  EXPECT_THAT(trial.verdict(infeasible).sentences, ElementsAre("this placement is not feasible"))
      << "the quick placers found one that is";
  trial.references.quick.reset();
  EXPECT_THAT(trial.verdict(infeasible).sentences, ElementsAre("no feasible placement was found"));
  infeasible.reason = "gpu:0 has 20 B too much";
  EXPECT_THAT(trial.verdict(infeasible).sentences,
              ElementsAre("no feasible placement was found: gpu:0 has 20 B too much"));
  infeasible.was_given = true;
  EXPECT_THAT(trial.verdict(infeasible).sentences,
              ElementsAre("this placement is not feasible: gpu:0 has 20 B too much"));
  Subject measured = trial.subject(30 * ms);
  measured.measured = true;
  for (const std::string& sentence : trial.verdict(measured).sentences)
    EXPECT_THAT(sentence, Not(HasSubstr("could be gained")));
}

TEST(Verdict, IsAlignedTextThatEndsWithTheNextCommand) {
  const Trial trial;
  const std::string text = text_of(trial.verdict(trial.subject(309 * ms)));
  EXPECT_THAT(text, StartsWith("verdict\n  step time "));
  EXPECT_THAT(text, HasSubstr("\nnext: emplace place best p.json"));
}

std::vector<double> falling(std::size_t updates, double from, double to) {
  std::vector<double> values;
  for (std::size_t u = 0; u < updates; ++u)
    values.push_back(from + (to - from) * static_cast<double>(u) / static_cast<double>(updates - 1));
  return values;
}

TEST(CurveFacts, TellFallingConvergedAndUnlearnedTrainingsApart) {
  const std::vector<double> down = falling(100, 2, 1), flat(100, 1.0), noisy_low(100, 0.8);
  EXPECT_TRUE(curve_facts({down, falling(100, 1.8, 0.8), down, down}).still_falling);
  EXPECT_FALSE(curve_facts({flat, noisy_low, down, down}).still_falling);
  EXPECT_TRUE(curve_facts({flat, flat, flat, flat}).converged);
  EXPECT_FALSE(curve_facts({flat, noisy_low, flat, flat}).converged);
  EXPECT_TRUE(curve_facts({flat, noisy_low, flat, flat}).never_learned);
  EXPECT_FALSE(curve_facts({down, noisy_low, down, down}).never_learned);
}

TEST(CurveFacts, PromiseNothingFromMoreTimeOnceAllSamplesAreEqual) {
  const std::vector<double> flat(100, 1.0);
  std::vector<double> late(100, 2.0);
  std::fill(late.end() - 15, late.end(), 1.0);
  const CurveFacts facts = curve_facts({late, flat, flat, flat});
  EXPECT_TRUE(facts.converged);
  EXPECT_FALSE(facts.still_falling) << "although the best fell in the last fifth";
}

TEST(CurveFacts, AreNotConvergedWhereTheSlowerSamplesStillDiffer) {
  const std::vector<double> flat(100, 1.0), slow(100, 1.2);
  EXPECT_FALSE(curve_facts({flat, flat, flat, slow}).converged);
}

TEST(CurveFacts, AreNoneForAFewUpdatesAndForTrainingsWithoutFeasibleSamples) {
  const std::vector<double> few(5, 1.0), none(100, std::nan(""));
  EXPECT_FALSE(curve_facts({few, few, few, few}).converged);
  EXPECT_TRUE(curve_facts({few, few, few, few}).too_short);
  const CurveFacts facts = curve_facts({none, none, none, none});
  EXPECT_FALSE(facts.still_falling || facts.converged || facts.never_learned || facts.too_short);
}

}  // namespace
}  // namespace emplace::verdict::verdict_test
