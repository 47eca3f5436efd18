#include "report/table_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/csv.hpp"
#include "base/text.hpp"
#include "report/names.hpp"

namespace emplace::report {

namespace {

// Seconds with four digits, as papers print them: "0.1500", "17.85".
std::string seconds(double value) {
  if (!(value > 0)) return "0";
  const int digits = std::clamp(3 - static_cast<int>(std::floor(std::log10(value))), 0, 9);
  return fmt::format("{:.{}f}", value, digits);
}

const char* unit_of(const experiment::PublishedTable& table) {
  return table.objective == Objective::pipeline ? "seconds a sample" : "seconds a step";
}

std::string published_text(const experiment::CellFigures& cell) {
  if (!cell.published) return "";
  const std::string text = cell.published->seconds ? fmt::format("{:g}", *cell.published->seconds) : "OOM";
  return cell.published->confirmed ? text : "~" + text;
}

// "0.842 [0.801, 0.913]"; the interval only if there are several seeds.
std::string our_text(const experiment::CellFigures& cell) {
  if (cell.status == experiment::CellStatus::missing) return "-";
  if (cell.status != experiment::CellStatus::ok) return name_of(cell.status);
  std::string text = seconds(*cell.ours);
  if (cell.seeds > 1)
    text += fmt::format(" [{}, {}]", seconds(*cell.low),
                        cell.high ? seconds(*cell.high) : name_of(experiment::CellStatus::oom));
  return text;
}

// Wall-clock seconds of one training, published or ours; "" if no time of the search is published for the row.
std::string search_text(const experiment::CellFigures& cell, bool ours) {
  if (!cell.published_search || (ours && cell.seeds == 0)) return "";
  return fmt::format("{:.4g}", ours ? cell.seconds_spent / static_cast<double>(cell.seeds) : *cell.published_search);
}

// A line of the table as texts: the row's label, "published" or "ours", a cell for each method, best, bound.
struct Line {
  std::string label, whose;
  std::vector<std::string> cells;
  std::vector<char> wins = {};  // for each cell of a method whether no other method of the line is faster; or empty
};
struct Lines {
  std::vector<std::string> heads;  // headings of the columns of methods, best and bound
  std::vector<Line> lines;
};

// Marks the methods with the smallest time, if there are at least two with a time; none: the cell has no time that
// counts. Times that are printed alike are alike.
std::vector<char> winners(const std::vector<std::optional<double>>& times) {
  std::vector<char> wins(times.size(), 0);
  double best = std::numeric_limits<double>::infinity();
  std::size_t known = 0;
  for (const std::optional<double>& time : times) {
    if (!time) continue;
    ++known;
    best = std::min(best, *time);
  }
  if (known < 2) return wins;
  for (std::size_t i = 0; i < times.size(); ++i) wins[i] = times[i] && seconds(*times[i]) == seconds(best) ? 1 : 0;
  return wins;
}

// For each method of the table the time in its cell of the row that can win; none for cells of calibration.
std::vector<std::optional<double>> times_of(const experiment::PublishedTable& table, const experiment::RowFigures& row,
                                            bool ours) {
  std::vector<std::optional<double>> times;
  for (const experiment::TableMethod& method : table.methods) {
    const auto cell = std::ranges::find(row.cells, method.name, &experiment::CellFigures::method);
    std::optional<double>& time = times.emplace_back();
    if (cell == row.cells.end()) continue;
    if (!ours && cell->published) time = cell->published->seconds;
    if (ours && cell->status == experiment::CellStatus::ok && !cell->calibrates) time = cell->ours;
  }
  return times;
}

Lines lines_of(const experiment::Reproduction& reproduction) {
  Lines lines;
  for (const experiment::TableMethod& method : reproduction.table.methods) lines.heads.push_back(method.label);
  for (const char* head : {"best found", "bound"}) lines.heads.emplace_back(head);
  for (const experiment::RowFigures& row : reproduction.rows) {
    Line published{row.label, "published", {}}, ours{"", "ours", {}};
    for (const experiment::TableMethod& method : reproduction.table.methods) {
      const auto cell = std::ranges::find(row.cells, method.name, &experiment::CellFigures::method);
      published.cells.push_back(cell == row.cells.end() ? "" : published_text(*cell));
      ours.cells.push_back(cell == row.cells.end() ? "" : our_text(*cell) + (cell->calibrates ? "*" : ""));
    }
    published.wins = winners(times_of(reproduction.table, row, false));
    ours.wins = winners(times_of(reproduction.table, row, true));
    published.cells.insert(published.cells.end(), {"", ""});
    ours.cells.insert(ours.cells.end(), {our_text(row.best), our_text(row.bound)});
    if (std::ranges::any_of(published.cells, [](const std::string& cell) { return !cell.empty(); }))
      lines.lines.push_back(std::move(published));
    else
      ours.label = row.label;
    lines.lines.push_back(std::move(ours));
    if (std::ranges::none_of(row.cells,
                             [](const experiment::CellFigures& cell) { return cell.published_search.has_value(); }))
      continue;
    for (const bool our : {false, true}) {
      Line search{"", our ? "search here, s" : "search, s", {}};
      for (const experiment::TableMethod& method : reproduction.table.methods) {
        const auto cell = std::ranges::find(row.cells, method.name, &experiment::CellFigures::method);
        search.cells.push_back(cell == row.cells.end() ? "" : search_text(*cell, our));
      }
      search.cells.insert(search.cells.end(), {"", ""});
      lines.lines.push_back(std::move(search));
    }
  }
  return lines;
}

// The command quoted for a shell: a built-in table by its name, another by its file.
std::string command_of(const experiment::Reproduction& reproduction) {
  return fmt::format("emplace reproduce {}{}{}{}", shell_word(reproduction.table.called),
                     !reproduction.table.files().empty() ? " --files FOLDER" : "", reproduction.quick ? " --quick" : "",
                     reproduction.table.fewer_seeds ? fmt::format(" --seeds {}", *reproduction.table.fewer_seeds) : "");
}

std::string budget_text(const experiment::CellBudget& budget) {
  if (budget.evaluations) return fmt::format("{} evaluations", *budget.evaluations);
  return budget.seconds ? fmt::format("{:g} s", *budget.seconds) : "";
}

// "GDP-one 20000 evaluations, 5 seeds; ...; best found 300 s": the budgets of all that have one.
std::string budgets_text(const experiment::Reproduction& reproduction) {
  const experiment::PublishedTable& table = reproduction.table;
  const bool quick = reproduction.quick;
  std::vector<std::string> parts;
  for (const experiment::TableMethod& method : table.methods) {
    const std::string budget = budget_text(quick ? method.quick : method.full);
    const std::int64_t seeds = quick ? method.quick_seeds : method.seeds;
    if (budget.empty()) continue;
    parts.push_back(fmt::format("{} {}", method.label, budget));
    if (!method.recipe.empty() || !method.pretrained.empty())
      parts.back() += fmt::format(", {} seed{}", seeds, seeds == 1 ? "" : "s");
  }
  for (const auto& [name, pretraining] : table.pretrainings)
    if (const std::string before = budget_text(quick ? pretraining.quick : pretraining.full); !before.empty())
      parts.push_back(fmt::format("pre-training ({}) {}", printable(name), before));
  if (const std::string best = budget_text(quick ? table.best_quick : table.best_full); !best.empty())
    parts.push_back(fmt::format("best found {}", best));
  return join(parts, "; ");
}

bool wins(const Line& line, std::size_t cell) { return cell < line.wins.size() && line.wins[cell] != 0; }

bool has_winner(const Lines& lines) {
  return std::ranges::any_of(lines.lines, [](const Line& line) { return std::ranges::count(line.wins, 1) > 0; });
}

// Sentences below the table that say how to read it. `marked`: how the fastest methods are marked.
std::vector<std::string> reading_notes(const experiment::Reproduction& reproduction, const Lines& lines,
                                       std::string_view marked) {
  std::vector<std::string> notes;
  if (reproduction.quick)
    notes.emplace_back(
        "made with --quick: budgets are far too small, so the numbers decide nothing; they only show that every cell "
        "can "
        "be made");
  if (has_winner(lines))
    notes.push_back(fmt::format("{}: the fastest method of its line{}", marked,
                                reproduction.quick ? "; with --quick this says nothing about the methods" : ""));
  notes.emplace_back(
      "best found: the fastest placement that \"emplace place best\" finds in its budget; faster ones may exist");
  notes.emplace_back(
      "bound: a proof that no placement is faster, found or not; the optimum lies between bound and best found");
  return notes;
}

// Sentences below the table.
std::vector<std::string> notes_of(const experiment::Reproduction& reproduction, const Lines& lines,
                                  std::string_view marked) {
  const experiment::PublishedTable& table = reproduction.table;
  std::vector<std::string> notes = {"made by " + command_of(reproduction)};
  for (std::string& note : reading_notes(reproduction, lines, marked)) notes.push_back(std::move(note));
  if (const std::string budgets = budgets_text(reproduction); !budgets.empty()) notes.push_back("budgets: " + budgets);
  const bool unconfirmed = std::ranges::any_of(table.rows, [](const experiment::TableRow& row) {
    return std::ranges::any_of(row.published, [](const auto& each) { return !each.second.confirmed; });
  });
  if (unconfirmed) notes.emplace_back("~ a published number from memory, not confirmed");
  if (!table.calibration.empty()) {
    notes.emplace_back("* the machine is calibrated with this cell, so it is not a result");
    for (const experiment::RowFigures& row : reproduction.rows)
      notes.push_back(fmt::format("{}: op times of {}", row.label, experiment::text_of(row.scales, 3)));
    if (std::ranges::any_of(reproduction.rows, [](const experiment::RowFigures& row) {
          return std::ranges::any_of(row.scales, [](const auto& scale) { return scale.second.memory.has_value(); });
        }))
      notes.emplace_back(
          "memory: set below the devices' real memory, so that exactly the cells published as out of memory do not "
          "fit");
  }
  for (const experiment::TableRow& row : table.rows) {
    for (const std::string& note : row.notes) notes.push_back(fmt::format("{}: {}", row.label, note));
    if (std::string keys = row.keys.to_toml(); !keys.empty()) {
      std::ranges::replace(keys, '\n', ' ');
      notes.push_back(fmt::format("{}: learned with {}", row.label, keys.substr(0, keys.size() - 1)));
    }
  }
  notes.insert(notes.end(), table.notes.begin(), table.notes.end());
  for (const experiment::RowFigures& row : reproduction.rows) {
    const auto say_why = [&](const experiment::CellFigures& cell) {
      if (cell.status == experiment::CellStatus::infeasible || cell.status == experiment::CellStatus::unfit)
        notes.push_back(fmt::format("{}, {}: {}", row.label, printable(cell.method), printable(cell.reason)));
    };
    std::ranges::for_each(row.cells, say_why);
    say_why(row.best);
    say_why(row.bound);
  }
  return notes;
}

std::vector<std::string> fidelity_lines(const experiment::Reproduction& reproduction) {
  const experiment::Fidelity& fidelity = reproduction.fidelity;
  std::vector<std::string> correlations;
  for (std::size_t r = 0; r < reproduction.rows.size(); ++r)
    if (const auto rho = fidelity.rank_correlation[r])
      correlations.push_back(fmt::format("{} {:.2f}", reproduction.rows[r].label, *rho));
  std::vector<std::string> lines;
  if (!correlations.empty()) lines.push_back("rank correlation of the methods: " + join(correlations, ", "));
  if (fidelity.orderings > 0)
    lines.push_back(
        fmt::format("orderings of two methods that agree: {} of {}{} (of all pairs of methods of a row with different "
                    "published times, those in which the same method is faster here)",
                    fidelity.orderings_agree, fidelity.orderings,
                    fidelity.tuned_agree ? fmt::format(", {} with the tuned columns", *fidelity.tuned_agree) : ""));
  if (fidelity.oom > 0)
    lines.push_back(
        fmt::format("cells out of memory, as published or here: {}; in both: {}", fidelity.oom, fidelity.oom_agree));
  if (fidelity.relative_error)
    lines.push_back(fmt::format("step times are off by {:.0f} % in the median", 100 * *fidelity.relative_error));
  return lines;
}

std::string latex_escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&' || c == '%' || c == '$' || c == '#' || c == '_' || c == '{' || c == '}') escaped += '\\';
    if (c == '~')
      escaped += "\\textasciitilde{}";
    else if (c == '\\')
      escaped += "\\textbackslash{}";
    else if (c == '^')
      escaped += "\\textasciicircum{}";
    else if (c == '<' || c == '>')
      escaped += c == '<' ? "\\textless{}" : "\\textgreater{}";
    else
      escaped += c;
  }
  return escaped;
}

// A text at the beginning of a line: LaTeX would take an asterisk or a bracket there as an argument of the \\ before
// it.
std::string latex_line(const std::string& text) {
  return (text.starts_with('*') || text.starts_with('[') ? "{}" : "") + latex_escaped(text);
}

}  // namespace

std::string table_text(const experiment::Reproduction& reproduction) {
  const Lines lines = lines_of(reproduction);
  std::vector<std::string> header{unit_of(reproduction.table), ""};
  header.insert(header.end(), lines.heads.begin(), lines.heads.end());
  TextTable table(std::move(header));
  for (const Line& line : lines.lines) {
    std::vector<std::string> row{line.label, line.whose};
    for (std::size_t i = 0; i < line.cells.size(); ++i) row.push_back(line.cells[i] + (wins(line, i) ? " (1st)" : ""));
    table.add(std::move(row));
  }
  std::string text = fmt::format("{} ({})\n\n{}\n", reproduction.table.title, reproduction.table.source, table.str());
  for (const std::string& note : notes_of(reproduction, lines, "(1st)")) text += note + "\n";
  for (const std::string& line : fidelity_lines(reproduction)) text += line + "\n";
  return text;
}

namespace {

// A text in a cell, which an unescaped '|' would end.
std::string markdown_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

std::string table_markdown(const experiment::Reproduction& reproduction) {
  const Lines lines = lines_of(reproduction);
  std::string text = fmt::format("**{}** ({}), {}\n\n| model | |", reproduction.table.title, reproduction.table.source,
                                 unit_of(reproduction.table));
  for (const std::string& head : lines.heads) text += fmt::format(" {} |", markdown_escaped(head));
  text += "\n|---|---|";
  for (std::size_t i = 0; i < lines.heads.size(); ++i) text += "--:|";
  text += "\n";
  for (const Line& line : lines.lines) {
    text += fmt::format("| {} | {} |", markdown_escaped(line.label), line.whose);
    for (std::size_t i = 0; i < line.cells.size(); ++i) {
      const std::string& cell = line.cells[i];
      const char* bold = wins(line, i) ? "**" : "";
      text += cell.empty() ? " |" : fmt::format(" {0}{1}{0} |", bold, markdown_escaped(cell));
    }
    text += "\n";
  }
  text += "\n";
  for (const std::string& note : notes_of(reproduction, lines, "bold"))
    text += fmt::format("- {}\n", note.starts_with('*') ? "\\" + note : note);
  for (const std::string& line : fidelity_lines(reproduction)) text += fmt::format("- {}\n", line);
  return text;
}

std::string table_latex(const experiment::Reproduction& reproduction) {
  const Lines lines = lines_of(reproduction);
  std::string text = fmt::format(
      "% {} ({}); needs the packages booktabs and graphicx\n\\resizebox{{\\linewidth}}{{!}}{{%\n"
      "\\begin{{tabular}}{{ll{}}}\n\\toprule\nmodel &",
      reproduction.table.title, reproduction.table.source, std::string(lines.heads.size(), 'r'));
  for (const std::string& head : lines.heads) text += " & " + latex_escaped(head);
  text += " \\\\\n\\midrule\n";
  for (const Line& line : lines.lines) {
    text += latex_line(line.label) + " & " + line.whose;
    for (std::size_t i = 0; i < line.cells.size(); ++i) {
      const std::string cell = latex_escaped(line.cells[i]);
      text += " & " + (wins(line, i) ? "\\textbf{" + cell + "}" : cell);
    }
    text += " \\\\\n";
  }
  text += "\\bottomrule\n\\end{tabular}}\n\n{\\footnotesize\\raggedright\n";
  for (const std::string& note : notes_of(reproduction, lines, "bold")) text += latex_line(note) + "\\\\\n";
  for (const std::string& line : fidelity_lines(reproduction)) text += latex_line(line) + "\\\\\n";
  text += "\\par}\n";
  return text;
}

std::string table_csv(const experiment::Reproduction& reproduction) {
  std::string text =
      "row,model,method,published_s,published_status,ours_s,low_s,high_s,status,"
      "calibrates,seeds,published_search_s,wall_seconds\n";
  const auto number = [](const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; };
  const auto add = [&](const experiment::RowFigures& row, const experiment::CellFigures& cell) {
    const auto& published = cell.published;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(row.label), csv_cell(row.model),
                        csv_cell(cell.method), published ? number(published->seconds) : "",
                        published ? experiment::status_of(*published) : "", number(cell.ours), number(cell.low),
                        number(cell.high), name_of(cell.status), cell.calibrates, cell.seeds,
                        number(cell.published_search), fmt::format("{:.3f}", cell.seconds_spent));
  };
  for (const experiment::RowFigures& row : reproduction.rows) {
    for (const experiment::CellFigures& cell : row.cells) add(row, cell);
    add(row, row.best);
    add(row, row.bound);
  }
  return text;
}

}  // namespace emplace::report
