"use strict";
// The page of a sweep.
(() => {
  const sweep = report.data, element = report.element;
  const byNumber = new Map(sweep.trials.map((trial) => [trial.trial, trial]));
  const withObjective = sweep.trials.filter((trial) => trial.objective !== null);

  // Colours depend on the rank, so that one slow trial does not give all others about the same colour; equal objectives
  // have equal colours.
  const sorted = withObjective.map((trial) => trial.objective).sort(d3.ascending);
  sweep.colour = (trial) => {
    if (trial.objective === null) return trial.status === "failed" ? "failed" : "open";
    return `r${sorted.length < 2 ? 0 : Math.min(6, Math.floor(7 * d3.bisectLeft(sorted, trial.objective) / sorted.length))}`;
  };
  sweep.measureOf = (trials) => {
    const values = trials.map((trial) => trial.objective).filter((value) => value !== null);
    return { ...report.measure("seconds", values), values };
  };
  sweep.valueText = (trial, i) => {
    const value = trial.values[i], parameter = sweep.parameters[i];
    return value === null || value === undefined ? "" : parameter.choices ? parameter.choices[value] : report.number(value);
  };
  const valuesOf = (trial) => sweep.parameters.flatMap((parameter, i) => sweep.valueText(trial, i) === "" ? []
    : [element("dt", {}, parameter.key), element("dd", {}, sweep.valueText(trial, i))]);
  // Highlights the trial under the mouse in all charts and shows its values; null: none.
  sweep.pointAt = (trial, event) => {
    report.point(trial ? trial.trial : null);
    if (!trial) { report.noTip(); return; }
    const cameTo = trial.objective === null ? trial.status : report.seconds(trial.objective);
    report.tip(event, element("b", {}, `trial ${trial.trial}: ${cameTo}`),
      trial.status === "finished" || trial.objective === null ? null : ` (${trial.status})`,
      element("dl", {}, valuesOf(trial)), trial.error ? element("p", { class: "error" }, trial.error) : null);
  };

  const range = (parameter) => parameter.choices ? parameter.choices.join(", ")
    : `${report.number(parameter.low)} to ${report.number(parameter.high)}`
      + (parameter.whole ? ", whole" : "") + (parameter.scale === "log" ? ", logarithmic" : "");

  // The cards at the top, one function each.
  const many = report.many;
  const pair = (key, value) => [element("dt", {}, key), element("dd", {}, value)];
  const resultCard = () => {
    const names = { finished: "finished", stopped: "stopped early", failed: "failed", running: "running", waiting: "waiting" };
    const tile = ([status, name]) => element("div", { class: `tile ${status}${sweep.counts[status] ? "" : " zero"}` },
      element("b", {}, report.count(sweep.counts[status])), element("span", {}, name));
    const tiles = element("div", { class: "tiles" }, Object.entries(names).map(tile));
    const best = byNumber.get(sweep.best);
    if (!best)
      return element("section", { class: "card" }, tiles, element("p", { class: "empty" },
        sweep.counts.running + sweep.counts.waiting > 0 ? "No trial has a result yet." : "No trial has a result."));
    return element("section", { class: "card" }, tiles,
      element("h3", {}, `Best ${sweep.measure}`),
      element("div", { class: "headline" },
        report.seconds(best.objective, 7), " ", element("small", {}, `trial ${best.trial}`)),
      report.head(sweep.head),
      element("dl", {}, valuesOf(best)));
  };
  const trainedCard = () => {
    const { seeds, settings, strategy } = sweep;
    const first = seeds.slice(0, 12).join(", ") + (seeds.length > 12 ? ", …" : "");
    return element("section", { class: "card" }, element("h2", {}, "What was trained"),
      element("dl", {},
        settings.filter(([key]) => key !== "seed" || seeds.length === 1).flatMap(([key, value]) => pair(key, value)),
        seeds.length > 1 ? pair("seeds", first) : [],
        pair("strategy", `${strategy.name}: ${strategy.summary}`),
        pair("folder", sweep.folder)));
  };
  const spaceCard = () => {
    const heads = ["parameter", "values", "where"].map((name) => element("th", { scope: "col" }, name));
    const row = (parameter) => element("tr", {},
      element("td", {}, parameter.key), element("td", {}, range(parameter)), element("td", {}, parameter.when));
    const table = element("table", {},
      element("thead", {}, element("tr", {}, heads)), element("tbody", {}, sweep.parameters.map(row)));
    return element("section", { class: "card" },
      element("h2", {}, "What was swept"), element("div", { class: "scroll" }, table));
  };
  const commandsCard = () => element("section", { class: "card" }, element("h2", {}, "Commands"),
    element("div", { class: "commands", style: "margin-top: 10px" },
      sweep.commands.map((each) => element("div", {}, element("h3", {}, each.says), report.command(each.command)))));
  const header = () => {
    report.add(
      element("div", { class: "head" },
        element("h1", {}, sweep.name), element("span", { class: `pill ${sweep.status}` }, sweep.status)),
      element("p", {},
        `Sweep of ${many(sweep.parameters.length, "parameter")} by ${sweep.strategy.name}, `
        + many(sweep.trials_total, "trial")
        + (sweep.seeds.length > 1 ? ` of ${sweep.seeds.length} seeds each, ranked by the median` : "")),
      element("div", { class: "grid" },
        element("div", { class: "stack" }, resultCard(), spaceCard()),
        element("div", { class: "stack" }, trainedCard(), commandsCard())));
  };

  const now = (running, waiting) => `${running} running, ${waiting} waiting`;
  const message = () => {
    const { finished, stopped, failed, running, waiting } = sweep.counts;
    const open = running + waiting;
    if (withObjective.length > 0 && sweep.status !== "running") return null;
    if (withObjective.length > 0)
      return [`The sweep is still running: ${now(running, waiting)}. Make the page again to see more.`, false];
    if (failed > 0 && open === 0) return [`All ${report.count(failed)} trials failed: the table has their errors.`, true];
    if (failed > 0) return [`No trial has a result yet: ${failed} failed, ${now(running, waiting)}. The table has the errors.`, true];
    return [`No trial has finished yet: ${now(running, waiting)}.`, finished + stopped > 0];
  };

  // A sentence if all trials came to the same result, so that there is nothing to compare.
  const allEqual = () => {
    const low = sorted[0], high = sorted[sorted.length - 1];
    if (sorted.length < 2 || high - low > 1e-9 * high) return null;
    return `All ${report.count(sorted.length)} trials have the same ${sweep.measure}, ${report.seconds(low, 7)}: the parameters made no difference. ` +
      "Perhaps they have no effect in this setting, which emplace doctor with the recipe shows, or every trial found the same placement.";
  };

  const curves = () => {
    const order = (trial) => byNumber.get(trial).objective === null ? Infinity : byNumber.get(trial).objective;
    const best = sweep.curves.map((line) => line.trial).filter((trial) => byNumber.has(trial))
      .sort((a, b) => d3.ascending(order(a), order(b)));
    const strong = new Set(best.slice(0, Math.max(1, Math.min(5, Math.floor(best.length / 4)))));
    const lines = sweep.curves.filter((line) => byNumber.has(line.trial)).map((line) => ({
      name: `trial ${line.trial}`, trial: line.trial, x: line.x, y: line.best, step: true,
      class: `${sweep.colour(byNumber.get(line.trial))} ${strong.has(line.trial) ? "top" : "faint"}`,
    })).sort((a, b) => d3.ascending(strong.has(a.trial), strong.has(b.trial)));
    if (lines.length === 0) return null;
    const names = report.spentOf(lines);
    let by = names.evaluations ? "evaluations" : Object.keys(names)[0];
    const box = report.lineChart({ label: "curves", title: `best ${sweep.measure} so far`, kind: "seconds", lines,
      by: () => by, height: 340,
      pointed: (line, event) => sweep.pointAt(line ? byNumber.get(line.trial) : null, event) });
    const drawn = sweep.curves_sampled
      ? `${lines.length} of ${sweep.curves_total} trained trials are drawn: the best, and others from the whole range`
      : lines.length === 1 ? "the one trial that found something" : `all ${lines.length} trials that found something`;
    const bold = strong.size === 1 ? "best trial" : `${strong.size} best trials`;
    const card = report.card("Learning curves",
      `The best ${sweep.measure} so far in each training, the ${bold} in bold; ${drawn}.`
      + (sweep.seeds.length > 1 ? " The seed with the median result is shown for each trial." : "") + (sweep.problems > 1 ? " The curves are of the first problem." : ""),
      Object.keys(names).length > 1 ? report.choice(names, by, (value) => { by = value; box.redraw(); }) : null);
    card.append(box);
    return card;
  };

  header();
  const body = element("div", { class: "stack", style: "margin-top: 18px" });
  report.add(body);
  const said = message();
  if (said) body.append(element("section", { class: `card message${said[1] ? " bad" : ""}` }, element("p", {}, said[0])));
  if (withObjective.length > 0) {
    const equal = allEqual();
    if (equal) body.append(element("section", { class: "card message equal" }, element("p", {}, equal)));
    body.append(report.parallel(sweep));
    if (!equal) body.append(element("div", { class: "grid" }, report.history(sweep), report.importance(sweep)));
    const card = curves();
    if (card) body.append(card);
  }
  body.append(report.table(sweep));
  report.add(element("footer", {}, `Made by ${sweep.program}.`));
})();
