"use strict";
// The page of one or more training runs: their learning curves over one another.
(() => {
  const { runs, name, program } = report.data, element = report.element;
  const colour = (i) => `c${i % 8} d${Math.floor(i / 8)}`;  // eight colours, then the same dashed, then dotted
  const several = runs.length > 1;

  const column = (run, key) => run.columns[key] || null;
  const x = (run) => Object.fromEntries(Object.keys(report.spent).filter((key) => run.columns[key]).map((key) => [key, run.columns[key]]));
  const line = (run, i, y, label, extra) => ({
    name: several ? `${run.name}: ${label}` : label, x: x(run), y, class: `${colour(i)} ${extra.class || ""}`, step: extra.step,
  });
  const lines = (make) => runs.flatMap((run, i) => make(run, i)).filter((each) => each.y !== null && each.y.some((value) => value !== null));
  const mapped = (values, change) => values && values.map((value) => value === null ? null : change(value));

  const spent = report.spentOf(runs.filter((run) => run.columns.update).map((run) => ({ x: x(run) })));
  let by = spent.evaluations ? "evaluations" : Object.keys(spent)[0];
  const boxes = [];
  const chart = (title, note, options) => {
    const card = report.card(title, note);
    const box = report.lineChart({ ...options, by: () => by });
    boxes.push(box);
    card.append(box);
    return card;
  };

  const measure = runs[0].measure;  // that of all
  const times = lines((run, i) => [
    line(run, i, mapped(column(run, "mean_reward"), (value) => -value), "mean of an update's feasible samples", { class: "thin" }),
    ...Object.keys(run.columns).filter((key) => /quantile/.test(key)).map((key) => line(run, i, column(run, key), key, { class: "thin" })),
    ...Object.keys(run.columns).filter((key) => /^(greedy|held_out)_step_time/.test(key)).map((key) => line(run, i, column(run, key), key, {})),
    line(run, i, column(run, "best_step_time"), "best so far", { class: "top", step: true }),
  ]);
  const own = (test, change = (value) => value) => lines((run, i) => Object.keys(run.columns).filter(test).map((key) =>
    line(run, i, mapped(column(run, key), change), key, {})));

  const bestOf = (run) => (column(run, "best_step_time") || []).filter((value) => value !== null).pop();
  const pairs = (list) => element("dl", {}, list.flatMap(([key, value]) => [element("dt", {}, key), element("dd", {}, value)]));
  // Of several runs what differs stands beside each, what all share under the table.
  const runsCard = () => {
    const keys = [...new Set(runs.flatMap((run) => run.settings.map(([key]) => key)))];
    const settings = runs.map((run) => new Map(run.settings));
    const shared = keys.filter((key) => settings.every((each) => each.get(key) === settings[0].get(key)));
    const others = keys.filter((key) => !shared.includes(key));
    const cell = (text, number) => element("td", { class: number ? "number" : null }, text);
    const head = (text, number) => element("th", { scope: "col", class: number ? "number" : null }, text);
    const nameCell = (run, i) => element("td", {}, element("span", { class: "legend" },
      element("span", { style: "color: var(--ink)" }, element("i", { class: `line ${colour(i)}` }), run.name)));
    const heads = [head("run"), head("status"), head(`best ${measure}`, true), head("updates", true),
      ...others.map((key) => head(key)), head("folder")];
    const row = (run, i) => element("tr", {}, nameCell(run, i), cell(run.status),
      cell(bestOf(run) === undefined ? "–" : report.seconds(bestOf(run), 6), true), cell(report.count(run.updates), true),
      others.map((key) => cell(settings[i].get(key) || "–")), cell(run.folder));
    const card = report.card("Runs");
    card.append(
      element("div", { class: "scroll" }, element("table", {},
        element("thead", {}, element("tr", {}, heads)), element("tbody", {}, runs.map(row)))),
      pairs(shared.map((key) => [key, settings[0].get(key)])));
    return card;
  };
  const resultCard = (run) => {
    const best = bestOf(run);
    const command = run.command && element("div", { class: "commands", style: "margin-top: 14px" },
      element("div", {}, element("h3", {}, run.command.says), element("code", {}, run.command.command)));
    return element("section", { class: "card" }, element("h3", {}, `Best ${measure}`),
      element("div", { class: "headline" }, best === undefined ? "nothing feasible yet" : report.seconds(best, 6), " ",
        element("small", {}, `${report.count(run.updates)} updates`)),
      command);
  };
  const trainedCard = (run) => element("section", { class: "card" }, element("h2", {}, "What was trained"),
    pairs([...run.settings, ["folder", run.folder]]));

  report.add(
    element("div", { class: "head" }, element("h1", {}, name),
      several ? null : element("span", { class: `pill ${runs[0].status}` }, runs[0].status)),
    element("p", {}, several ? "Learning curves of several training runs" : "Learning curves of a training run"),
    several ? runsCard() : element("div", { class: "grid" }, resultCard(runs[0]), trainedCard(runs[0])));
  const body = element("div", { class: "stack", style: "margin-top: 18px" });
  report.add(body);

  if (!by) {
    body.append(element("section", { class: "card message" },
      element("p", {}, "No update has been made yet: there is nothing to draw.")));
  } else {
    const coarse = d3.max(runs, (run) => run.updates_per_point);
    const choice = report.choice(spent, by, (value) => { by = value; for (const box of boxes) box.redraw(); });
    body.append(element("div", { class: "tools" }, "Against", choice,
      coarse > 1 ? `A point stands for up to ${report.count(coarse)} updates and lies at the last of them: it is their ` +
        "mean, of the best so far the last value." : null));
    if (times.length)
      body.append(chart(`${measure[0].toUpperCase()}${measure.slice(1)}`,
        "Bold: the best so far. Thin: the mean of the feasible samples of each update.",
        { label: "times", title: measure, kind: "seconds", lines: times, height: 360 }));
    const grid = element("div", { class: "grid" });
    body.append(grid);
    const small = (title, note, label, options, of) => {
      if (of.length) grid.append(chart(title, note, { label, title, ...options, lines: of, height: 220 }));
    };
    small("Infeasible share", "Of an update's samples.", "infeasible", { kind: "share", zero: true }, own((key) => key === "feasible_share", (value) => 1 - value));
    small("Entropy", "Of the policy, in nats.", "entropy", { zero: true }, own((key) => key === "entropy"));
    small("KL divergence", "Of the policy after an update from before, in nats.", "kl", { zero: true }, own((key) => key === "kl"));
    const known = /^(update|evaluations|samples|mean_reward|best_reward|best_step_time|feasible_share|entropy|kl|wall_.*|(greedy|held_out)_step_time.*|.*quantile.*)$/;
    const others = [...new Set(runs.flatMap((run) => Object.keys(run.columns)))].filter((key) => !known.test(key));
    for (const key of others) small(key, "As the learner says it in metrics.csv.", key, {}, own((each) => each === key));
  }
  report.add(element("footer", {}, `Made by ${program}.`));
})();
