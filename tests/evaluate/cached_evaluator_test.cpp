// Evaluations that a run keeps in a file: they return the same bits, only for exactly their placement, also after the
// file was damaged.
#include "evaluate/cached/cached_evaluator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "base/files.hpp"
#include "evaluate/cached/evaluation_file.hpp"
#include "evaluate/command/reporting_evaluator.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::evaluate::cached_evaluator_test {
namespace {

using namespace ::testing;

// Its outcomes differ from placement to placement and from call to call.
class CountingEvaluator final : public evaluate::DirectEvaluator {
 public:
  explicit CountingEvaluator(std::size_t& asked) : asked_(asked) {}
  std::vector<Outcome> evaluate_now(std::span<const evaluate::EvaluationJob> jobs) override {
    std::vector<Outcome> outcomes;
    for (const evaluate::EvaluationJob& job : jobs) {
      Outcome outcome;
      outcome.makespan = 1000 * job.placement->device.front() + static_cast<Ticks>(++asked_);
      outcome.overflow = 3;
      outcome.subject = job.problem;
      if (job.placement->device.front() == 9) {
        outcome = {};
        outcome.why = Infeasible::not_measured;
        if (job.message != nullptr) *job.message = "no such device";
      }
      if (job.starts != nullptr) job.starts->assign(1, outcome.makespan);
      outcomes.push_back(outcome);
    }
    return outcomes;
  }

 private:
  std::size_t& asked_;
};

class KeptEvaluations : public ::testing::Test {
 protected:
  std::unique_ptr<evaluate::Evaluator> make(const std::string& identity = "one", bool measures = true) {
    return make_cached_evaluator(std::make_unique<CountingEvaluator>(asked_), file_, identity, measures);
  }
  Outcome ask(evaluate::Evaluator& evaluator, std::uint32_t problem, const Placement& placement) {
    const evaluate::EvaluationJob job{problem, &placement};
    return evaluator.evaluate(std::span(&job, 1)).front();
  }
  [[nodiscard]] std::string bytes() const { return read_file(file_); }
  void write(const std::string& content) const { std::ofstream(file_, std::ios::binary) << content; }

  const test::TemporaryFolder folder_;
  const std::string file_ = folder_ / "evaluations";
  const Placement a_{{1, 0, 2}, {}}, b_{{2, 0, 2}, {}}, ordered_{{1, 0, 2}, {0, 1, 2}},
      reordered_{{1, 0, 2}, {0, 2, 1}}, failing_{{9, 0}, {}};
  std::size_t asked_ = 0;
};

TEST_F(KeptEvaluations, AsksOnceForEachPlacementOfEachProblem) {
  const auto evaluator = make();
  const evaluate::EvaluationJob jobs[] = {{0, &a_},       {0, &b_},         {0, &a_},      {1, &a_},
                                          {0, &ordered_}, {0, &reordered_}, {0, &ordered_}};
  const auto first = evaluator->evaluate(jobs);
  EXPECT_EQ(asked_, 5U) << "problem and order count";
  EXPECT_EQ(first[0], first[2]);
  EXPECT_EQ(first[4], first[6]);
  EXPECT_NE(first[0], first[3]);
  EXPECT_EQ(evaluator->evaluate(jobs), first);
  EXPECT_EQ(asked_, 5U);
}

// Counts the jobs of each part that is submitted before wait().
class PartsEvaluator final : public evaluate::Evaluator {
 public:
  explicit PartsEvaluator(std::vector<std::size_t>& parts) : parts_(parts) {}
  void submit(std::span<const evaluate::EvaluationJob> jobs) override {
    parts_.push_back(jobs.size());
    jobs_ += jobs.size();
  }
  std::vector<Outcome> wait() override { return std::vector<Outcome>(std::exchange(jobs_, 0)); }
  void cancel() override { jobs_ = 0; }
  [[nodiscard]] std::size_t parts_of(std::size_t jobs) const override { return jobs; }

 private:
  std::vector<std::size_t>& parts_;
  std::size_t jobs_ = 0;
};

TEST_F(KeptEvaluations, PassesEachPartOnBeforeTheBatchIsWaitedFor) {
  std::vector<std::size_t> parts;
  const auto evaluator = make_reporting_evaluator(
      make_cached_evaluator(std::make_unique<PartsEvaluator>(parts), folder_ / "parts", "same", false));
  EXPECT_EQ(evaluator->parts_of(7), 7U);
  const Placement a{{0, 0, 1}, {}}, b{{1, 0, 1}, {}};
  const std::vector<evaluate::EvaluationJob> first = {{0, &a}, {0, &b}}, second = {{0, &a}};
  evaluator->submit(first);
  EXPECT_THAT(parts, ElementsAre(2));
  evaluator->submit(second);
  EXPECT_THAT(parts, ElementsAre(2, 0)) << "the answer of the first part serves";
  EXPECT_EQ(evaluator->wait().size(), 3U);
  EXPECT_TRUE(evaluator->wait().empty());
}

TEST_F(KeptEvaluations, AnotherProcessGetsTheSameBits) {
  std::vector<Outcome> first;
  for (const Placement* placement : {&a_, &b_, &failing_}) first.push_back(ask(*make(), 0, *placement));
  EXPECT_EQ(asked_, 3U);
  const auto evaluator = make();
  std::string message;
  const evaluate::EvaluationJob jobs[] = {
      {0, &a_}, {0, &b_}, {0, &failing_, nullptr, evaluate::EvaluationJob::no_series, &message}};
  EXPECT_EQ(evaluator->evaluate(jobs), first);
  EXPECT_EQ(message, "no such device");
  EXPECT_EQ(asked_, 3U);
}

TEST_F(KeptEvaluations, EvaluatesAJobThatWantsStartTimesAnew) {
  const auto evaluator = make("one", false);
  std::vector<Ticks> starts;
  const evaluate::EvaluationJob job{0, &a_, &starts};
  for (std::size_t i = 1; i <= 2; ++i) {
    const Outcome outcome = evaluator->evaluate(std::span(&job, 1)).front();
    EXPECT_EQ(asked_, i);
    EXPECT_THAT(starts, ElementsAre(outcome.makespan));
  }
}

TEST_F(KeptEvaluations, SetsAFileOfAnotherIdentityAside) {
  (void)ask(*make("one"), 0, a_);
  const std::string before = bytes();
  (void)ask(*make("two"), 0, a_);
  EXPECT_EQ(asked_, 2U);
  EXPECT_EQ(read_file(file_ + ".1"), before);
  write("something else altogether, longer than what a new file begins with");
  (void)ask(*make("two"), 0, a_);
  EXPECT_EQ(asked_, 3U);
  EXPECT_TRUE(file_exists(file_ + ".2"));
}

TEST_F(KeptEvaluations, ForgetsWhatAKillCutShortAndNothingElse) {
  const Outcome a = ask(*make(), 0, a_);
  const std::size_t with_one = bytes().size();
  (void)ask(*make(), 0, b_);
  const std::string whole = bytes();
  for (std::size_t size = with_one; size < whole.size(); ++size) {
    write(whole.substr(0, size));
    ::testing::internal::CaptureStderr();
    const evaluate::EvaluationFile file(file_, "one");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
    ASSERT_TRUE(file.find(0, a_)) << size;
    EXPECT_EQ(file.find(0, a_)->outcome, a);
    EXPECT_FALSE(file.find(0, b_)) << size;
    EXPECT_EQ(bytes().size(), with_one);
  }
  for (std::size_t size = 0; size < with_one; ++size) {  // a kill when the file was made, or in its first record
    write(whole.substr(0, size));
    (void)evaluate::EvaluationFile(file_, "one");
    EXPECT_FALSE(file_exists(file_ + ".1")) << size;
  }
  const auto evaluator = make();
  (void)ask(*evaluator, 0, a_);
  (void)ask(*evaluator, 0, b_);
  EXPECT_EQ(evaluate::EvaluationFile(file_, "one").size(), 2U);
}

TEST_F(KeptEvaluations, NeverAcceptsADamagedRecordButKeepsTheOthers) {
  const Outcome a = ask(*make(), 0, a_);
  const std::size_t begin = bytes().size();
  const Outcome b = ask(*make(), 0, b_);
  const std::size_t end = bytes().size();
  const Outcome last = ask(*make(), 7, a_);
  const std::string whole = bytes();
  for (std::size_t at = begin; at < end; ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x5a);
    write(damaged);
    ::testing::internal::CaptureStderr();
    const evaluate::EvaluationFile file(file_, "one");
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("damaged bytes are skipped")) << at;
    EXPECT_EQ(file.find(0, a_)->outcome, a);
    EXPECT_FALSE(file.find(0, b_)) << at;
    EXPECT_EQ(file.find(7, a_)->outcome, last) << at;
  }
  write(whole);
  EXPECT_EQ(evaluate::EvaluationFile(file_, "one").find(0, b_)->outcome, b);
}

TEST_F(KeptEvaluations, SaysEachReasonOnceAndThatNothingCouldBeMeasured) {
  const auto evaluator = make_reporting_evaluator(make());
  const std::vector<evaluate::EvaluationJob> jobs(3, evaluate::EvaluationJob{0, &failing_});
  ::testing::internal::CaptureStderr();
  (void)evaluator->evaluate(jobs);
  (void)evaluator->evaluate(jobs);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("evaluation 1 of this session could not be measured: no such device"));
  EXPECT_THAT(said, HasSubstr("not one of the first 3 placements could be measured"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 2) << said;
}

TEST(EvaluationIdentity, DependsOnProblemScoringEvaluatorAndOptions) {
  using namespace emplace::test;
  const Problem problem = tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {3, 1}}}, {{0, 1}}, 1);
  const Problem slower = tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {3, 1.5}}}, {{0, 1}}, 1);
  const Problem renamed = tiny(plain_devices(2), {{"a", {1, 2}}, {"c", {3, 1}}}, {{0, 1}}, 1);
  const Problem* const one[] = {&problem};
  const Problem* const two[] = {&problem, &problem};
  const Problem* const three[] = {&slower};
  const Problem* const four[] = {&renamed};
  const evaluate::EvaluatorChoice longer{"sleep", ConfigTable::parse_toml("seconds = 1.0", "test")};
  std::set<std::string> seen;
  for (const std::string& identity :
       {evaluation_identity(one, Schedule::fifo, {}), evaluation_identity(two, Schedule::fifo, {}),
        evaluation_identity(three, Schedule::fifo, {}), evaluation_identity(four, Schedule::fifo, {}),
        evaluation_identity(one, Schedule::priority, {}),
        evaluation_identity(one, {Schedule::fifo, Objective::pipeline}, {}),
        evaluation_identity(one, Schedule::fifo, {"sleep", {}}), evaluation_identity(one, Schedule::fifo, longer)})
    seen.insert(identity);
  EXPECT_EQ(seen.size(), 8U);
  const Problem same = tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {3, 1}}}, {{0, 1}}, 1);
  const Problem* const again[] = {&same};
  EXPECT_TRUE(seen.contains(evaluation_identity(again, Schedule::fifo, {})));
  Problem limited = same;
  limited.max_cuts = 1;
  const Problem* const few_cuts[] = {&limited};
  EXPECT_FALSE(seen.contains(evaluation_identity(few_cuts, Schedule::fifo, {})));
  EXPECT_NE(problem_digest(limited), problem_digest(same));
}

}  // namespace
}  // namespace emplace::evaluate::cached_evaluator_test
