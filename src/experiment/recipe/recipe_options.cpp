// The keys of a recipe that are no method's own, with what the help says of them.
#include "emplace/problem/grouping.hpp"
#include "experiment/recipe/recipe.hpp"

namespace emplace::experiment {

namespace {

std::vector<std::string> schedule_choices() { return {"fifo", "priority", "in-order"}; }

// What is placed, and what every placement must keep to.
void describe_task(RecipeOptions& o, OptionVisitor& visit) {
  visit("problem", o.problem, {.help = "Problem to place: a problem JSON or GRAPH@MACHINE.", .affects = Affects::task});
  visit("graph", o.graph, {.help = "Model file or zoo:NAME?key=value; goes with machine.", .affects = Affects::task});
  visit("machine", o.machine,
        {.help = "Name of a machine preset or a machine TOML file; goes with graph.", .affects = Affects::task});
  visit("problems", o.problems, {.help = "Several problems that one policy is trained on.", .affects = Affects::task});
  visit("shape", o.shape,
        {.help = "Sizes of graph inputs that the model leaves open, as \"input=1x3x224x224\".",
         .affects = Affects::task});
  visit("batch", o.batch,
        {.min = 1, .help = "Size of the unknown first dimension of the model's inputs.", .affects = Affects::task});
  visit("pin", o.pin,
        {.help = "Ops or modules that must run on a device, as \"encoder/*=gpu:0\".", .affects = Affects::task});
  visit("forbid", o.forbid,
        {.help = "Devices that no op may use, or the ops that may not use them, as \"decoder/*=gpu:1\".",
         .affects = Affects::task});
  visit("together", o.together,
        {.help = "Modules whose ops must share a device, as \"encoder/layer.*\".", .affects = Affects::task});
  visit("max_cuts", o.max_cuts,
        {.min = 0,
         .unit = "tensors",
         .help = "Largest number of tensors that may be sent between devices; no limit by default.",
         .affects = Affects::task});
}

void describe_methods(RecipeOptions& o, OptionVisitor& visit) {
  visit("policy", o.policy, {.help = "Policy that samples placements; see `emplace list policies`."});
  visit("learner", o.learner, {.help = "How the policy learns; see `emplace list learners`."});
  visit("evaluator", o.evaluator,
        {.help = "How the time of a placement is found; see `emplace list evaluators`.", .affects = Affects::task});
  visit(
      "cache", o.cache,
      {.choices = {"measured", "all", "none"},
       .help = "Which evaluations the run folder keeps (file evaluations), so that an equal placement is not evaluated "
               "again: those of an evaluator that measures, all, or none.",
       .affects = Affects::speed});
  visit("grouping", o.grouping, {.choices = grouping_names(), .help = "Which ops are placed together as one unit."});
  visit("groups", o.groups, {.min = 1, .help = "Merge units until at most this many remain."});
  visit("group_share", o.group_share,
        {.min = 0,
         .max = 1,
         .above_min = true,
         .help = "The groupings colocrl, colocrl-group and colocrl-blocks join no units to one with more than this "
                 "share of the total "
                 "work."});
}

void describe_goal_and_budgets(RecipeOptions& o, OptionVisitor& visit) {
  visit("schedule", o.schedule,
        {.choices = schedule_choices(), .help = "In which order a device runs ready ops.", .affects = Affects::task});
  visit("objective", o.objective,
        {.choices = {"step", "pipeline"},
         .help = "What is minimised: the time of one step, or the load of the busiest device for a stream of samples.",
         .affects = Affects::task});
  visit("seed", o.seed, {.min = 0, .help = "Seed of every random stream."});
  visit("updates", o.updates, {.min = 1, .help = "Budget: updates of the policy.", .affects = Affects::budget});
  visit("evaluations", o.evaluations, {.min = 1, .help = "Budget: placements simulated.", .affects = Affects::budget});
  visit("seconds", o.seconds,
        {.min = 0, .above_min = true, .unit = "s", .help = "Budget: time of training.", .affects = Affects::budget});
  visit(
      "budget_share", o.budget_share,
      {.min = 0,
       .max = 1,
       .above_min = true,
       .help = "The share of the whole training that the budgets are: schedules in shares of the budget go on where a "
               "longer training continues. Sweeps set it for trials that are stopped early.",
       .affects = Affects::budget});
  visit("patience", o.patience,
        {.min = 1,
         .unit = "updates",
         .help = "The training ends if no problem's best placement has become better for so many updates.",
         .affects = Affects::budget});
  visit("stop_at_bound", o.stop_at_bound,
        {.help = "The training ends if the best placement of each problem is as fast as the lower bound.",
         .affects = Affects::budget});
}

// Where a run is, what it begins with, and how it computes.
void describe_run(RecipeOptions& o, OptionVisitor& visit) {
  visit("run", o.run, {.help = "Run folder; runs/NAME of the recipe by default.", .affects = Affects::place});
  visit("init", o.init, {.help = "Run folder whose policy's parameters this run starts from."});
  visit("start", o.start,
        {.help = "Placement JSON of the problem: the best placement so far at the beginning, so that the result is no "
                 "worse; it counts as one evaluation."});
  visit("init_draws", o.init_draws,
        {.min = 0,
         .max = 1e6,
         .help = "Placements of each problem that the policy of init draws before the first update, besides its "
                 "likeliest one: they belong to the best so far."});
  visit(
      "demonstrations", o.demonstrations,
      {.help = "The quick placers' placements belong to the best so far, and the learner is shown them, and what else "
               "the training starts from, at the beginning."});
  visit("demonstrations_share", o.demonstrations_share,
        {.min = 0,
         .max = 1,
         .help = "Share of the budget in which the learner is shown one of them in each update: all in turn at first, "
                 "then fewer and fewer of the best."});
  visit("op_types", o.op_types,
        {.help = "Types of ops that the policy tells apart, sorted; those of the problems, or of init, by default."});
  visit("checkpoint_every", o.checkpoint_every,
        {.min = 1, .unit = "updates", .help = "Updates between checkpoints.", .affects = Affects::speed});
  visit("threads", o.threads,
        {.min = 1,
         .max = 256,
         .help = "Threads of rank 0 for the policy's network; the results do not depend on their number.",
         .affects = Affects::speed});
  visit("greedy_every", o.greedy_every,
        {.min = 1, .unit = "updates", .help = "Updates between evaluations of the policy's likeliest placement."});
}

void describe_several_problems(RecipeOptions& o, OptionVisitor& visit) {
  visit("problems_per_update", o.problems_per_update,
        {.min = 1, .help = "Number of problems in one update, drawn with the seed; all of them by default."});
  visit("hold_problems", o.hold_problems,
        {.min = 1, .unit = "updates", .help = "Number of updates until problems_per_update problems are drawn again."});
  visit(
      "held_out", o.held_out,
      {.help = "Problems that are never trained on: metrics.csv has the step time of the policy's likeliest placement "
               "of each (held_out_step_time, with .0, .1, ... if there are several).",
       .affects = Affects::task});
  visit("held_out_every", o.held_out_every,
        {.min = 1,
         .unit = "updates",
         .help = "Updates between placements of the held-out problems, which count as evaluations."});
  visit(
      "workers", o.workers,
      {.choices = {"simulate", "simulate+learn"},
       .help = "What ranks other than 0 do: evaluate placements, or also draw them and compute parts of gradients; the "
               "results do not depend on it.",
       .affects = Affects::speed});
  visit("compare", o.compare,
        {.help = "Placers whose step times are shown beside the learned one in the final table.",
         .affects = Affects::speed});
}

}  // namespace

void describe(RecipeOptions& o, OptionVisitor& visit) {
  describe_task(o, visit);
  describe_methods(o, visit);
  describe_goal_and_budgets(o, visit);
  describe_run(o, visit);
  describe_several_problems(o, visit);
}

}  // namespace emplace::experiment
