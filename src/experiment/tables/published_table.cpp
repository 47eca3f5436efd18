#include "experiment/tables/published_table.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/search/placer.hpp"
#include "experiment/tables/texts.hpp"

namespace emplace::experiment {

namespace {

constexpr std::int64_t most_seeds_of_cell = 1000;

CellBudget read_budget(const ConfigTable& table) {
  CellBudget budget;
  if (const std::int64_t evaluations = table.whole("evaluations", 0); evaluations > 0)
    budget.evaluations = static_cast<std::uint64_t>(evaluations);
  else if (table.contains("evaluations"))
    throw InputError(table.place_of("evaluations"), "evaluations is {}, wanted more than 0", evaluations);
  if (table.contains("seconds")) {
    budget.seconds = table.number("seconds");
    if (!(*budget.seconds > 0))
      throw InputError(table.place_of("seconds"), "seconds is {}, wanted more than 0", *budget.seconds);
  }
  table.refuse_unread();
  return budget;
}

std::int64_t read_seeds(const ConfigTable& table, const char* key, std::int64_t otherwise) {
  const std::int64_t seeds = table.whole(key, otherwise);
  if (seeds < 1 || seeds > most_seeds_of_cell)
    throw InputError(table.place_of(key), "{} is {}, wanted 1 to {}", key, seeds, most_seeds_of_cell);
  return seeds;
}

// Makes texts of the file safe to print in one line.
std::string shown(std::string text) { return printable(text); }
std::vector<std::string> shown(std::vector<std::string> texts) {
  for (std::string& text : texts) text = printable(text);
  return texts;
}

TableMethod read_method(const std::string& name, const ConfigTable& table, const TableMethod& defaults) {
  TableMethod method = defaults;
  method.name = name;
  method.label = shown(table.text("label", name));
  method.recipe = table.text("recipe", "");
  method.together = table.flag("together", false);
  method.pretrained = table.text("pretrained", "");
  const bool is_pretrained = !method.pretrained.empty();
  method.placer = table.text("placer", method.recipe.empty() && !is_pretrained ? name : "");
  if (!method.recipe.empty() && !method.placer.empty())
    throw InputError(table.place_of("recipe"), "method {} has both a placer and a recipe, wanted one", quote(name));
  if (method.together && (method.recipe.empty() || is_pretrained))
    throw InputError(table.place_of("together"), "method {} is trained on all rows together: it needs a recipe{}",
                     quote(name), is_pretrained ? ", and cannot be pretrained" : "");
  if (is_pretrained && !method.placer.empty())
    throw InputError(table.place_of("placer"), "method {} has both a placer and a pretrained policy, wanted one",
                     quote(name));
  method.options = table.table("options");
  if (is_pretrained && method.recipe.empty() && !method.options.empty())
    throw InputError(table.place_of("options"), "draws of a pretrained policy have no options");
  method.quick_options = table.table("quick_options");
  if (method.recipe.empty() && !method.quick_options.empty())
    throw InputError(table.place_of("quick_options"), "method {} has no recipe, whose keys these could override",
                     quote(name));
  method.rows = table.texts("rows");
  method.seeds = read_seeds(table, "seeds", defaults.seeds);
  method.quick_seeds = read_seeds(table, "quick_seeds", defaults.quick_seeds);
  if (table.contains("budget")) method.full = read_budget(table.table("budget"));
  if (table.contains("quick")) method.quick = read_budget(table.table("quick"));
  table.refuse_unread();
  return method;
}

Pretraining read_pretraining(const std::string& name, const ConfigTable& table) {
  if (as_file_name(name) != name)
    throw InputError(table.place_of("recipe"),
                     "a pre-training is called {}, wanted lower-case letters, digits and hyphens", quote(name));
  Pretraining pretraining{table.text("recipe"), table.table("options"), {}, {}};
  if (table.contains("budget")) pretraining.full = read_budget(table.table("budget"));
  if (table.contains("quick")) pretraining.quick = read_budget(table.table("quick"));
  table.refuse_unread();
  return pretraining;
}

Published read_cell(const ConfigValue& value, const std::string& key, bool confirmed) {
  if (const auto* text = std::get_if<std::string>(&value.data)) {
    if (*text != "OOM") throw InputError(value.place, "{} is {}, wanted seconds or \"OOM\"", key, quote(*text));
    return {{}, confirmed};
  }
  const double seconds = as_number(value, key);
  if (!(seconds > 0)) throw InputError(value.place, "{} is {}, wanted seconds above 0 or \"OOM\"", key, seconds);
  return {seconds, confirmed};
}

void want_method(const PublishedTable& table, const std::string& name, const std::string& place) {
  if (table.method(name) != nullptr) return;
  std::vector<std::string> names;
  for (const TableMethod& method : table.methods) names.push_back(method.name);
  throw InputError(place, "unknown method {}{}", quote(name), did_you_mean(name, names));
}

// InputError for an unknown placer. device:NAME is not checked, because its device depends on the machines of the rows.
constexpr std::string_view files_folder = "$FILES/";

void want_placer(const std::string& name, const std::string& place) {
  if (!name.starts_with("device:")) find_entry(search::placers(), name, "placer", place);
}

TableRow read_row(const ConfigTable& table, const PublishedTable& whole, bool confirmed) {
  TableRow row;
  row.model = shown(table.text("model"));
  row.label = shown(table.text("label", row.model));
  row.id = as_file_name(row.label);
  row.problem = table.text("problem", "");
  if (row.problem.empty()) {
    row.graph = table.text("graph");
    row.machine = table.text("machine");
  } else if (!whole.calibration.empty()) {
    throw InputError(table.place_of("problem"), "a machine cannot be calibrated for a row whose problem is a file");
  }
  const std::vector<std::string> unconfirmed = table.texts("unconfirmed");
  for (const std::string& method : unconfirmed) want_method(whole, method, table.place_of("unconfirmed"));
  const ConfigTable& published = table.table("published");
  for (const std::string& method : published.keys()) {
    want_method(whole, method, published.place_of(method));
    row.published[method] =
        read_cell(*published.find(method), method, confirmed && std::ranges::count(unconfirmed, method) == 0);
  }
  const ConfigTable& search = table.table("search");
  for (const std::string& method : search.keys()) {
    want_method(whole, method, search.place_of(method));
    row.search[method] = search.number(method);
    if (!(row.search[method] > 0 && row.search[method] < 1e9))
      throw InputError(search.place_of(method), "a search of {} s, wanted above 0 and below 1e9", row.search[method]);
  }
  const ConfigTable& stands_for = table.table("placers");
  for (const std::string& method : stands_for.keys()) {
    want_method(whole, method, stands_for.place_of(method));
    row.stands_for[method] = stands_for.text(method);
    want_placer(row.stands_for[method], stands_for.place_of(method));
  }
  row.skip = table.texts("skip");
  for (const std::string& method : row.skip) want_method(whole, method, table.place_of("skip"));
  const ConfigTable& placements = table.table("placements");
  for (const std::string& method : placements.keys()) {
    want_method(whole, method, placements.place_of(method));
    if (row.problem.empty())
      throw InputError(placements.place_of(method), "placements are for rows whose problem is a file");
    row.placements[method] = placements.text(method);
  }
  row.like = table.text("like", "");
  if (table.contains("seeds")) row.most_seeds = read_seeds(table, "seeds", 1);
  const ConfigTable& seeds_of = table.table("seeds_of");
  for (const std::string& method : seeds_of.keys()) {
    want_method(whole, method, seeds_of.place_of(method));
    row.seeds_of[method] = read_seeds(seeds_of, method.c_str(), 1);
  }
  row.keys = table.table("keys");
  row.notes = shown(table.texts("notes"));
  table.refuse_unread();
  return row;
}

// InputError if a method is pretrained on rows of other models, but there is no such pre-training or no such row.
void refuse_nothing_to_learn_from(const PublishedTable& table, const std::string& file) {
  const auto is_pretrained = [](const TableMethod& method) { return !method.pretrained.empty(); };
  std::vector<std::string> names;
  for (const auto& [name, pretraining] : table.pretrainings) names.push_back(name);
  for (const TableMethod& method : table.methods)
    if (is_pretrained(method) && !table.pretrainings.contains(method.pretrained))
      throw InputError(file, "method {} is pretrained by {}, and there is no [pretraining.{}]{}", quote(method.name),
                       quote(method.pretrained), printable(method.pretrained), did_you_mean(method.pretrained, names));
  const auto pretrained = std::ranges::find_if(table.methods, is_pretrained);
  if (pretrained == table.methods.end()) return;
  if (std::ranges::all_of(table.rows, [&](const TableRow& row) { return row.model == table.rows.front().model; }))
    throw InputError(file, "method {} is pretrained on the rows of other models, and all are of {}",
                     quote(pretrained->name), quote(table.rows.front().model));
}

// Rows skip the methods that are for other rows only.
void skip_methods_of_other_rows(PublishedTable& table, const std::string& file) {
  std::vector<std::string> labels;
  for (const TableRow& row : table.rows) labels.push_back(row.label);
  for (const TableMethod& method : table.methods) {
    for (const std::string& label : method.rows)
      if (table.row(label) == nullptr)
        throw InputError(file, "method {} is for row {}, which does not exist{}", quote(method.name), quote(label),
                         did_you_mean(label, labels));
    for (TableRow& row : table.rows)
      if (!method.rows.empty() && std::ranges::count(method.rows, row.label) == 0) row.skip.push_back(method.name);
  }
}

void refuse_doubles(const PublishedTable& table, const std::string& file) {
  std::set<std::string> ids;
  for (const TableRow& row : table.rows)
    if (row.id.empty() || !ids.insert(row.id).second)
      throw InputError(file, "the label {} is empty or not unique as part of a file's name", quote(row.label));
  for (const TableRow& row : table.rows)
    if (!row.like.empty() && table.row(row.like) == nullptr)
      throw InputError(file, "{} is like {}, and there is no row with that label", quote(row.label), quote(row.like));
  std::set<std::string> methods;
  for (const TableMethod& method : table.methods)
    if (method.name == "bound" || method.name == "best")
      throw InputError(file, "every table already has the column {}", quote(method.name));
    else if (const std::string name = as_file_name(method.name); name.empty() || !methods.insert(name).second)
      throw InputError(file, "the name of method {} is empty or not unique as part of a file's name",
                       quote(method.name));
  std::map<std::string, std::string> models;
  for (const TableRow& row : table.rows)
    if (const auto [known, is_new] = models.try_emplace(as_file_name(row.model), row.model);
        known->first.empty() || (!is_new && known->second != row.model))
      throw InputError(file, "the name of model {} is empty or not unique as part of a file's name", quote(row.model));
}

}  // namespace

const TableMethod* PublishedTable::method(const std::string& wanted) const {
  const auto found = std::ranges::find(methods, wanted, &TableMethod::name);
  return found == methods.end() ? nullptr : &*found;
}

const TableRow* PublishedTable::row(const std::string& label) const {
  const auto found = std::ranges::find(rows, label, &TableRow::label);
  return found == rows.end() ? nullptr : &*found;
}

std::vector<std::pair<std::string, std::string>> PublishedTable::files() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const TableRow& row : rows)
    if (!row.problem.empty())
      all.emplace_back(row.label, row.problem);
    else if (row.graph.starts_with(files_folder))
      all.emplace_back(row.label, row.graph.substr(files_folder.size(), row.graph.find('?') - files_folder.size()));
  return all;
}

PublishedTable PublishedTable::with_files(const std::string& folder) const {
  PublishedTable table = *this;
  for (TableRow& row : table.rows)
    if (row.graph.starts_with(files_folder)) row.graph.replace(0, files_folder.size(), folder + "/");
  return table;
}

PublishedTable PublishedTable::with_at_most(std::int64_t seeds) const {
  PublishedTable table = *this;
  table.fewer_seeds = seeds;
  for (TableMethod& method : table.methods) {
    method.seeds = std::min(method.seeds, seeds);
    method.quick_seeds = std::min(method.quick_seeds, seeds);
  }
  return table;
}

PublishedTable parse_table(std::string_view toml, const std::string& name, const std::string& file) {
  const ConfigTable table = ConfigTable::parse_toml(toml, file);
  PublishedTable result;
  result.name = result.called = name;
  result.title = shown(table.text("title"));
  result.source = shown(table.text("source"));
  result.objective = objective_of(table.text("objective", "step"), table.place_of("objective"));
  const std::string status = table.text("status", "confirmed");
  if (status != "confirmed" && status != "unconfirmed")
    throw InputError(table.place_of("status"), "status is {}, wanted confirmed or unconfirmed", quote(status));
  TableMethod defaults;
  defaults.seeds = read_seeds(table, "seeds", 1);
  defaults.quick_seeds = read_seeds(table, "quick_seeds", 1);
  if (table.contains("budget")) defaults.full = read_budget(table.table("budget"));
  if (table.contains("quick")) defaults.quick = read_budget(table.table("quick"));

  const ConfigTable& described = table.table("method");
  const std::vector<std::string> names = table.texts("methods");
  if (names.empty()) throw InputError(table.place_of("methods"), "a table needs methods");
  for (const std::string& method : names) {
    if (result.method(method) != nullptr)
      throw InputError(table.place_of("methods"), "method {} is named twice", quote(method));
    result.methods.push_back(read_method(method, described.table(method), defaults));
  }
  described.refuse_unread(names);
  for (const TableMethod& method : result.methods)
    if (!method.placer.empty()) {
      const ConfigTable& said = described.table(method.name);
      want_placer(method.placer, said.contains("placer") ? said.place_of("placer") : table.place_of("methods"));
    }
  const ConfigTable& calibration = table.table("calibration");
  for (const std::string& kind : calibration.keys()) {
    result.calibration[kind] = calibration.text(kind);
    want_method(result, result.calibration[kind], calibration.place_of(kind));
  }
  result.calibrates_each_row = table.flag("calibrate_each_row", false);
  result.search_inside = table.flag("search_inside", true);
  const ConfigTable& pretrainings = table.table("pretraining");
  for (const std::string& each : pretrainings.keys())
    result.pretrainings[each] = read_pretraining(each, pretrainings.table(each));
  const ConfigTable& best = table.table("best");
  if (best.contains("budget")) result.best_full = read_budget(best.table("budget"));
  if (best.contains("quick")) result.best_quick = read_budget(best.table("quick"));
  best.refuse_unread();
  result.notes = shown(table.texts("notes"));
  for (const ConfigTable& row : table.tables("row"))
    result.rows.push_back(read_row(row, result, status == "confirmed"));
  if (result.rows.empty()) throw InputError(file, "a table needs rows ([[row]])");
  table.refuse_unread();
  skip_methods_of_other_rows(result, file);
  refuse_doubles(result, file);
  refuse_nothing_to_learn_from(result, file);
  return result;
}

std::string as_file_name(std::string_view label) {
  std::string name;
  for (const char c : label) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain)
      name += c;
    else if (c >= 'A' && c <= 'Z')
      name += static_cast<char>(c - 'A' + 'a');
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (name.ends_with('-')) name.pop_back();
  return name;
}

std::vector<EntryInfo> tables() {
  std::vector<EntryInfo> list;
  for (const TableText& text : table_texts()) {
    const PublishedTable table = parse_table(text.toml, text.name, fmt::format("table {}", text.name));
    const bool confirmed = std::ranges::any_of(table.rows, [](const TableRow& row) {
      return std::ranges::any_of(row.published, [](const auto& each) { return each.second.confirmed; });
    });
    const bool any = std::ranges::any_of(table.rows, [](const TableRow& row) { return !row.published.empty(); });
    list.push_back({.name = table.name,
                    .summary = table.title,
                    .reference = table.source + (confirmed ? ""
                                                 : any     ? "; from memory"
                                                           : "; no times are published")});
  }
  return list;
}

PublishedTable load_table(const std::string& name_or_path) {
  for (const TableText& text : table_texts())
    if (text.name == name_or_path) return parse_table(text.toml, text.name, fmt::format("table {}", text.name));
  if (file_exists(name_or_path)) {
    PublishedTable table =
        parse_table(read_file(name_or_path), std::filesystem::path(name_or_path).stem().string(), name_or_path);
    table.called = shown(name_or_path);
    return table;
  }
  const auto names = entry_names(std::span<const EntryInfo>(tables()));
  const std::string near = did_you_mean(name_or_path, names);
  throw InputError("command line", "unknown table {}: neither a name nor a TOML file{}", quote(name_or_path),
                   near.empty() ? fmt::format("; tables: {}", join(names, ", ")) : near);
}

}  // namespace emplace::experiment
