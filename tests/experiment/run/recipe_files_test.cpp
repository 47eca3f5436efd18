// The recipes that come with the program: each paper's recipe has the values of its page in docs/papers (section 3
// unless another is named), whether they are in the file or are defaults.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "experiment/recipe/recipe.hpp"
#include "experiment/recipe/shipped_recipes.hpp"
#include "serving/stage_evaluator.hpp"

namespace emplace::experiment::recipe_files_test {
namespace {

const std::string folder = "configs/recipes/";

ConfigTable resolved(const std::string& name) {
  ConfigTable table = ConfigTable::read_toml(folder + name + ".toml");
  apply_overrides(table, {"problem=p.json"});
  return make_recipe(table).resolved();
}

// The value of "key" or "table.key" as one line of TOML, whole numbers like other numbers; "none" if it is missing.
std::string value_at(const ConfigTable& recipe, const std::string& path) {
  const std::size_t dot = path.find('.');
  const ConfigTable& table = dot == std::string::npos ? recipe : recipe.table(path.substr(0, dot));
  const std::string key = path.substr(dot + 1);  // npos + 1 is 0
  const ConfigValue* value = table.find(key);
  if (value == nullptr) return "none";
  ConfigValue plain = *value;
  if (const auto* whole = std::get_if<std::int64_t>(&value->data)) plain.data = static_cast<double>(*whole);
  ConfigTable line;
  line.set(key, plain);
  return line.to_toml();
}

struct DocumentedValue {
  const char* key;
  const char* value;  // as TOML; "none": not given
  const char* where;  // its name in the page, and the section
};

void expect_values(const std::string& name, const std::vector<DocumentedValue>& values) {
  const ConfigTable recipe = resolved(name);
  for (const DocumentedValue& wanted : values) {
    ConfigTable documented;
    if (wanted.value != std::string("none"))
      documented.set_path(wanted.key, ConfigTable::parse_value(wanted.value, wanted.where));
    EXPECT_EQ(value_at(recipe, wanted.key), value_at(documented, wanted.key))
        << name << ": " << wanted.key << " (" << wanted.where << ")";
  }
}

TEST(RecipeFiles, ColocrlHasTheValuesOfItsPage) {
  expect_values("colocrl-published", {{"policy", "colocrl", "network kind"},
                                      {"learner", "reinforce", "2.4"},
                                      {"grouping", "colocrl-blocks", "coloc_recursion: op; rule 3"},
                                      {"groups", "none", "2.1: no bound on M"},
                                      {"group_share", "1", "max_group_share: off"},
                                      {"colocrl.hidden", "256", "H"},
                                      {"colocrl.attention_width", "0", "2.3: W1, W2 are H x H"},
                                      {"colocrl.aligned", "false", "2.3: logits read s_t and c_t only"},
                                      {"colocrl.type_width", "32", "d_type"},
                                      {"colocrl.device_width", "32", "d_dev"},
                                      {"colocrl.shape_outputs", "4", "S: 4 outputs x 4 dims"},
                                      {"colocrl.shape_dimensions", "4", "S: 4 outputs x 4 dims"},
                                      {"reinforce.samples_per_update", "8", "K"},
                                      {"reinforce.controllers", "1", "controllers"},
                                      {"reinforce.updates", "2000", "updates"},
                                      {"reinforce.optimizer", "adam", "optimiser"},
                                      {"reinforce.beta1", "0.9", "optimiser"},
                                      {"reinforce.beta2", "0.999", "optimiser"},
                                      {"reinforce.epsilon", "1e-8", "optimiser"},
                                      {"reinforce.learning_rate", "1e-3", "learning rate"},
                                      {"reinforce.learning_rate_end", "none", "learning rate: fixed"},
                                      {"reinforce.learning_rate_decay", "1", "learning rate: fixed"},
                                      {"reinforce.clip_norm", "1.0", "clip"},
                                      {"reinforce.reward", "sqrt", "objective"},
                                      {"reinforce.time_unit", "1", "6: always seconds"},
                                      {"reinforce.infeasible", "fixed", "2.4: R_fail"},
                                      {"reinforce.t_fail", "0", "t_fail: auto"},
                                      {"reinforce.skip_failing_after", "5000", "skip_failing_after"},
                                      {"reinforce.returns", "final", "2.4: one cost a placement"},
                                      {"reinforce.baseline", "moving-average", "2.4"},
                                      {"reinforce.baseline_decay", "0.9", "baseline decay"},
                                      {"reinforce.baseline_start", "failing", "B start"},
                                      {"reinforce.normalize", "false", "2.4: (R - B) as it is"},
                                      {"reinforce.over_samples", "mean", "2.4: 1/K'"},
                                      {"reinforce.entropy_weight", "0", "2.4: no entropy"}});
}

TEST(RecipeFiles, HierarchicalHasTheValuesOfItsPage) {
  expect_values("hierarchical-published", {{"policy", "hierarchical", "2"},
                                           {"learner", "reinforce", "2.6"},
                                           {"grouping", "colocation", "2.2: co-location sets share a draw"},
                                           {"groups", "none", "2.2: the grouper reads every op"},
                                           {"hierarchical.grouping", "learned", "2.8: the others are ablations"},
                                           {"hierarchical.groups", "0", "G: min(256, 20 D, N)"},
                                           {"hierarchical.placements_per_grouping", "4", "k"},
                                           {"hierarchical.grouper_hidden", "64", "Grouper hidden"},
                                           {"hierarchical.grouper_gain", "1", "2.4: Glorot"},
                                           {"hierarchical.order_prior", "0", "2.2: no prior"},
                                           {"hierarchical.grouper_entropy", "1", "2.6: no entropy, so whole"},
                                           {"hierarchical.hidden", "512", "H"},
                                           {"hierarchical.aligned", "false", "2.4: logits read s_t and c_t only"},
                                           {"hierarchical.type_width", "20", "type table width"},
                                           {"hierarchical.shape_outputs", "5", "shape slots"},
                                           {"hierarchical.shape_dimensions", "5", "shape slots"},
                                           {"hierarchical.adjacency", "20", "adjacency slots"},
                                           {"hierarchical.number_of_outputs", "true", "2.1: F_o = 66"},
                                           {"hierarchical.position_waves", "0", "2.1: F_o = 66"},
                                           {"hierarchical.squash", "5", "C"},
                                           {"hierarchical.temperature", "10", "T_temp"},
                                           {"hierarchical.noise", "uniform", "noise"},
                                           {"hierarchical.noise_size", "0.1", "noise"},
                                           {"hierarchical.noise_share", "0.5", "noise: 500 of 1000 updates"},
                                           {"reinforce.samples_per_update", "4", "m k"},
                                           {"reinforce.controllers", "1", "2.6: one B"},
                                           {"reinforce.updates", "1000", "updates"},
                                           {"reinforce.optimizer", "adam", "optimiser"},
                                           {"reinforce.learning_rate", "0.1", "learning rate"},
                                           {"reinforce.learning_rate_end", "none", "learning rate: fixed"},
                                           {"reinforce.learning_rate_decay", "1", "learning rate: fixed"},
                                           {"reinforce.clip_norm", "1.0", "gradient clip"},
                                           {"reinforce.reward", "sqrt", "reward"},
                                           {"reinforce.time_unit", "1", "2.5: t in seconds"},
                                           {"reinforce.infeasible", "fixed", "2.5: R_fail"},
                                           {"reinforce.t_fail", "0", "t_fail: auto"},
                                           {"reinforce.skip_failing_after", "1000", "skip_failing_after"},
                                           {"reinforce.returns", "final", "2.5: one reward a placement"},
                                           {"reinforce.baseline", "moving-average", "2.6"},
                                           {"reinforce.baseline_decay", "0.9", "baseline decay"},
                                           {"reinforce.baseline_start", "failing", "B start"},
                                           {"reinforce.normalize", "false", "2.5: (R - B) as it is"},
                                           {"reinforce.over_samples", "mean", "2.6: 1/mk"},
                                           {"reinforce.entropy_weight", "0", "2.6: no entropy"}});
}

TEST(RecipeFiles, PlacetoHasTheValuesOfItsPage) {
  expect_values("placeto-published", {{"policy", "placeto", "2"},
                                      {"learner", "reinforce", "2.6"},
                                      {"grouping", "colocrl", "2.1: co-location groups of ColocRL"},
                                      {"groups", "200", "max_groups"},
                                      {"greedy_every", "999", "eval_freq"},
                                      {"placeto.message_rounds", "8", "k"},
                                      {"placeto.size", "full", "network size"},
                                      {"placeto.normalize_aggs", "false", "normalize_aggs"},
                                      {"placeto.traversal", "topo", "traversal"},
                                      {"placeto.initial", "random", "initial placement"},
                                      {"placeto.memory_feature", "false", "2: d = 5 + D"},
                                      {"placeto.position_waves", "0", "2.3: h_v alone"},
                                      {"reinforce.samples_per_update", "4", "workers"},
                                      {"reinforce.updates", "1000", "episodes"},
                                      {"reinforce.over_samples", "sum", "2.6: sum over workers"},
                                      {"reinforce.returns", "step", "reward form"},
                                      {"reinforce.discount", "1.0", "disc"},
                                      {"reinforce.optimizer", "adam", "learning rate: Adam"},
                                      {"reinforce.learning_rate", "1e-3", "learning rate"},
                                      {"reinforce.learning_rate_end", "1e-4", "learning rate"},
                                      {"reinforce.learning_rate_share", "1.0", "decay length: all episodes"},
                                      {"reinforce.clip_norm", "1.25", "clip"},
                                      {"reinforce.entropy_weight", "1.0", "entropy weight"},
                                      {"reinforce.entropy_weight_end", "0", "entropy weight"},
                                      {"reinforce.entropy_share", "0.5", "entropy weight: half of the episodes"},
                                      {"reinforce.baseline", "window", "2.5: the last bl_n_rnds values"},
                                      {"reinforce.baseline_window", "10", "bl_n_rnds"},
                                      {"reinforce.normalize", "false", "2.5: G - baseline as it is"},
                                      {"reinforce.reward", "time", "2.4: rho is a run time"},
                                      {"reinforce.time_unit", "0", "time_unit: the fastest single device"},
                                      {"reinforce.infeasible", "penalty", "memory penalty"},
                                      {"reinforce.penalty_per_gb", "2", "memory penalty"},
                                      {"reinforce.penalty_cap", "10", "cap"},
                                      {"reinforce.skip_failing_after", "1000000000", "2.4: no episode is dropped"}});
}

TEST(RecipeFiles, HsdagHasTheValuesOfItsPage) {
  expect_values("hsdag-published", {{"policy", "hsdag", "2"},
                                    {"learner", "reinforce", "2.5"},
                                    {"grouping", "chain", "coarsening"},
                                    {"groups", "none", "2.1: no bound"},
                                    {"hsdag.grouping", "parsed", "2.4: the others are variants"},
                                    {"hsdag.groups", "0", "2.4: as many as it finds"},
                                    {"hsdag.update_timestep", "20", "update_timestep"},
                                    {"hsdag.parsing_passes", "1", "parsing_passes"},
                                    {"hsdag.hidden", "128", "H"},
                                    {"hsdag.encoder", "gcn", "graph layer"},
                                    {"hsdag.score_layers", "2", "gnn1, gnn2 layers"},
                                    {"hsdag.pool_layers", "1", "gnn1, gnn2 layers"},
                                    {"hsdag.dropout", "0.2", "dropout"},
                                    {"hsdag.features", "paper", "features"},
                                    {"hsdag.shape_feature", "true", "2.2"},
                                    {"hsdag.structure_features", "true", "2.2"},
                                    {"hsdag.position_feature", "true", "2.2"},
                                    {"hsdag.position_width", "16", "d_pos"},
                                    {"hsdag.in_degrees", "[]", "2.2: the values that occur"},
                                    {"hsdag.out_degrees", "[]", "2.2: the values that occur"},
                                    {"reinforce.samples_per_update", "1", "2.5: one episode an update"},
                                    {"reinforce.updates", "100", "max_episodes"},
                                    {"reinforce.epochs", "1", "steps per episode"},
                                    {"reinforce.optimizer", "adam", "learning rate (Adam)"},
                                    {"reinforce.learning_rate", "1e-4", "learning rate (Adam)"},
                                    {"reinforce.learning_rate_end", "none", "learning rate: fixed"},
                                    {"reinforce.learning_rate_decay", "1", "learning rate: fixed"},
                                    {"reinforce.clip_norm", "0", "2.5: no clipping"},
                                    {"reinforce.reward", "inverse", "2.5: r = 1/tau"},
                                    {"reinforce.time_unit", "1", "2.5: tau in seconds"},
                                    {"reinforce.infeasible", "zero", "infeasible reward"},
                                    {"reinforce.skip_failing_after", "1000000000", "2.5: none is dropped"},
                                    {"reinforce.returns", "own", "return_form: paper"},
                                    {"reinforce.discount", "0.95", "gamma"},
                                    {"reinforce.baseline", "'none'", "baseline"},
                                    {"reinforce.normalize", "false", "2.5: gamma^t r_t as it is"},
                                    {"reinforce.entropy_weight", "0", "2.5: no entropy"}});
}

TEST(RecipeFiles, HsdagsRnnIsColocrlsNetworkRewardedForFastPlacements) {
  expect_values("hsdag-rnn", {{"policy", "colocrl", "5"},
                              {"learner", "reinforce", "6.9"},
                              {"grouping", "chain", "coarsening"},
                              {"reinforce.reward", "sqrt", "6.9: sqrt(latency), the sign corrected"},
                              {"reinforce.baseline", "'none'", "6.9: log p x sqrt(latency)"},
                              {"reinforce.learning_rate", "1e-4", "learning rate (Adam)"}});
}

TEST(RecipeFiles, PostHasTheValuesOfItsPage) {
  expect_values("post-published", {{"policy", "post", "2"},
                                   {"learner", "post", "2.2"},
                                   {"grouping", "colocation", "grouping"},
                                   {"groups", "none", "grouping"},
                                   {"evaluations", "2400", "L"},
                                   {"post.samples", "2400", "L"},
                                   {"post.samples_per_update", "20", "K"},
                                   {"post.window", "200", "N"},
                                   {"post.elite_fraction", "0.1", "rho"},
                                   {"post.ce_window", "last", "ce_window"},
                                   {"post.ppo_steps", "10", "ppo_steps"},
                                   {"post.eps", "0", "eps: clamp(D/((D-1)M), 0.01, 0.1)"},
                                   {"post.coarse_units", "0", "2.1: one factor a group"},
                                   {"post.form", "kl", "form"},
                                   {"post.ratio", "per_op", "ratio"},
                                   {"post.optimizer", "sgd", "2.4: u + eta gradient"},
                                   {"post.momentum", "0", "2.4: u + eta gradient"},
                                   {"post.clip_norm", "0", "2.4: u + eta gradient"},
                                   {"post.learning_rate", "0.1", "eta"},
                                   {"post.learning_rate_end", "none", "eta"},
                                   {"post.learning_rate_decay", "1", "eta"},
                                   {"post.beta", "1", "beta"},
                                   {"post.kl_target", "0.01", "delta"},
                                   {"post.clip_ratio", "0.2", "c"},
                                   {"post.cost", "time", "reward transform"},
                                   {"post.steps", "both", "2.2"}});
}

TEST(RecipeFiles, TunedOnesAreOfTheirSystemsWithTheirUnitsAndABudgetOfPlacements) {
  const std::vector<DocumentedValue> of[] = {
      {{"policy", "colocrl", ""}, {"learner", "reinforce", ""}, {"groups", "400", ""}, {"evaluations", "100000", ""}},
      {{"policy", "hierarchical", ""},
       {"learner", "reinforce", ""},
       {"groups", "400", ""},
       {"evaluations", "100000", ""}},
      {{"policy", "placeto", ""}, {"learner", "reinforce", ""}, {"groups", "100", ""}, {"evaluations", "100000", ""}},
      {{"policy", "post", ""}, {"learner", "post", ""}, {"groups", "400", ""}, {"evaluations", "100000", ""}},
      {{"policy", "gdp", ""}, {"learner", "ppo", ""}, {"groups", "400", ""}, {"evaluations", "50000", ""}},
      {{"policy", "hsdag", ""}, {"learner", "ppo", ""}, {"groups", "none", ""}, {"evaluations", "50000", ""}}};
  for (std::vector<DocumentedValue> values : of) {
    const std::string name = values.front().value;
    values.push_back({"grouping", name == "hierarchical" ? "layers" : "colocation", ""});
    values.push_back({"updates", "none", ""});
    expect_values(name, values);
  }
}

TEST(RecipeFiles, GdpHasTheValuesOfItsPage) {
  expect_values("gdp-published", {{"policy", "gdp", "2"},
                                  {"learner", "ppo", "learning rule"},
                                  {"grouping", "colocation", "2.4: explicit co-location sets"},
                                  {"groups", "none", "2: every node"},
                                  {"gdp.hidden", "128", "H"},
                                  {"gdp.graph_layers", "4", "L_g"},
                                  {"gdp.placer_layers", "3", "L_p"},
                                  {"gdp.heads", "4", "n_h"},
                                  {"gdp.feedforward", "512", "F_ff"},
                                  {"gdp.segment", "128", "S"},
                                  {"gdp.type_width", "32", "2.1: T x 32"},
                                  {"gdp.superposition", "per_node", "superposition"},
                                  {"gdp.attention", "true", "2.4"},
                                  {"gdp.memory", "true", "segment = memory"},
                                  {"gdp.rounds", "1", "rounds"},
                                  {"gdp.neighbour_features", "true", "2.1"},
                                  {"gdp.cost_features", "false", "2.1: off by default"},
                                  {"gdp.position_waves", "0", "2.1"},
                                  {"gdp.centered", "false", "2.3"},
                                  {"gdp.device_head", "fixed", "2.4: Wd H x D"},
                                  {"gdp.head_gain", "0.01", "2.4: Wd scaled by 0.01"},
                                  {"gdp.coarse_units", "0", "2.4: all nodes in one shot"},
                                  {"ppo.samples_per_update", "16", "B"},
                                  {"ppo.epochs", "4", "E"},
                                  {"ppo.minibatches", "1", "minibatches"},
                                  {"ppo.updates", "500", "not given; until it has converged"},
                                  {"ppo.form", "clip", "2.6"},
                                  {"ppo.ratio", "per_head", "2.6: per node"},
                                  {"ppo.clip_ratio", "0.2", "c"},
                                  {"ppo.over_heads", "true", "2.6: 1/N"},
                                  {"ppo.entropy_weight", "0.01", "w_ent"},
                                  {"ppo.optimizer", "adam", "learning rate: Adam"},
                                  {"ppo.learning_rate", "1e-4", "learning rate"},
                                  {"ppo.clip_norm", "1", "clip"},
                                  {"ppo.reward", "sqrt", "reward"},
                                  {"ppo.time_unit", "0", "2.6: t_ref"},
                                  {"ppo.fail_factor", "100", "2.6: -sqrt(100) = -10"},
                                  {"ppo.baseline", "moving-average", "2.6: b_G"},
                                  {"ppo.baseline_decay", "0.9", "baseline decay"},
                                  {"ppo.baseline_start", "first", "2.6"},
                                  {"ppo.normalize", "true", "2.6: A / std(A)"}});
}

TEST(RecipeFiles, GdpsPretrainingDiffersFromItsTrainingInBatchesOfGraphsThatItHolds) {
  ConfigTable training = read_recipe("gdp-published", "test"),
              pretraining = read_recipe("gdp-pretrain-published", "test");
  EXPECT_EQ(pretraining.whole("problems_per_update", 0), 4);
  EXPECT_EQ(pretraining.whole("hold_problems", 0), 1000);
  for (ConfigTable* each : {&training, &pretraining}) {
    for (const char* key : {"problems", "problems_per_update", "hold_problems", "updates", "run", "about", "gdp"})
      each->erase(key);
    const auto* ppo = std::get_if<std::vector<ConfigTable>>(&each->find("ppo")->data);
    ConfigTable rest = ppo->front();
    rest.erase("updates");
    each->erase("ppo");
    each->set("ppo", {std::vector<ConfigTable>{rest}, "test"});
  }
  EXPECT_EQ(pretraining.to_toml(), training.to_toml());
}

TEST(RecipeFiles, GoHasItsChangesToGdp) {
  expect_values("go-published", {{"policy", "gdp", "2"},
                                 {"gdp.superposition", "graph", "superposition: for GO"},
                                 {"gdp.rounds", "3", "rounds: GO"},
                                 {"gdp.schedule_levels", "16", "2.5: L"},
                                 {"schedule", "priority", "2.5: the scheduling head"},
                                 {"ppo.samples_per_update", "16", "B"},
                                 {"ppo.epochs", "4", "E"},
                                 {"ppo.over_heads", "true", "2.6"},
                                 {"ppo.fail_factor", "100", "2.6"},
                                 {"ppo.learning_rate", "1e-4", "learning rate"},
                                 {"ppo.entropy_weight", "0.01", "w_ent"}});
}

// Checks every file, so that renaming an option or changing its bounds is noticed in all of them.
TEST(RecipeFiles, ResolveToThemselves) {
  serving::register_stage_evaluator();
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".toml") continue;
    names.push_back(file.path().stem().string());
    const std::string once = resolved(names.back()).to_toml();
    EXPECT_EQ(make_recipe(ConfigTable::parse_toml(once, names.back())).resolved().to_toml(), once) << names.back();
  }
  EXPECT_THAT(
      names, ::testing::IsSupersetOf({"colocrl", "colocrl-published", "hierarchical", "hierarchical-published", "hsdag",
                                      "hsdag-published", "hsdag-rnn", "placeto", "placeto-published", "post",
                                      "post-published", "gdp", "gdp-published", "go-published", "quickstart"}));
}

}  // namespace
}  // namespace emplace::experiment::recipe_files_test
