"use strict";
// The page of one or more training runs: their results, their learning curves in one chart, and the placements found.
(() => {
  const { runs, placements, name, program, one_problem: oneProblem } = report.data, element = report.element;
  const colour = (i) => `c${i % 8} d${Math.floor(i / 8)}`;  // eight colours, solid for the first eight runs, then dashed, then dotted
  const several = runs.length > 1;

  const column = (run, key) => run.columns[key] || null;
  const lastOf = (run, key) => (column(run, key) || []).filter((value) => value !== null).pop();
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

  const measure = runs[0].measure;  // the same for all runs
  const Measure = `${measure[0].toUpperCase()}${measure.slice(1)}`;
  const bands = runs.length > 4 ? [] : runs.map((run, i) => ({
    class: colour(i), x: x(run), low: column(run, "step_time_q10"), high: column(run, "step_time_q90"),
  })).filter((band) => band.low && band.high);
  const times = lines((run, i) => [
    line(run, i, mapped(column(run, "mean_reward"), (value) => -value), "mean of an update's feasible samples", { class: "thin" }),
    line(run, i, column(run, "step_time_q50"), "median of an update's feasible samples", { class: "thin median" }),
    ...Object.keys(run.columns).filter((key) => /^(greedy|held_out)_step_time/.test(key)).map((key) => line(run, i, column(run, key), key, {})),
    line(run, i, column(run, "best_step_time"), "best so far", { class: "top", step: true }),
  ]);
  // One device, the best that a placer finds, and the bound, as horizontal lines; none if runs place different problems.
  const levels = (() => {
    const result = oneProblem ? placements.find((each) => each.number === 0 && each.missing === null && !each.measured) : null;
    if (!result) return [];
    const others = result.baselines.filter((row) => !row.learned && row.feasible && row.time !== null);
    const single = others.find((row) => row.method === "single"), best = d3.least(others, (a, b) => d3.ascending(a.time, b.time));
    return [single && { name: "one device", value: single.time / 1e12, class: "single" },
      best && best !== single && { name: `best found by another placer (${best.method})`, value: best.time / 1e12, class: "best" },
      result.bound > 0 && { name: `lower bound (${result.bound_method})`, value: result.bound / 1e12, class: "bound" }].filter((each) => each);
  })();
  const own = (test, change = (value) => value) => lines((run, i) => Object.keys(run.columns).filter(test).map((key) =>
    line(run, i, mapped(column(run, key), change), key, {})));

  // The placement of a run's first problem, if it can be shown and was simulated.
  const resultOf = (i) => placements.find((each) => each.run === i && each.number === 0 && each.missing === null && !each.measured);
  const headOf = (i) => (placements.find((each) => each.run === i && each.number === 0 && each.missing === null) || {}).head;
  const bestOf = (run, i) => {
    const result = resultOf(i);
    return result && result.feasible ? result.time / 1e12 : lastOf(run, "best_step_time");
  };
  const gapOf = (i) => {
    const result = resultOf(i);
    return result && result.feasible && result.bound > 0 ? result.time / result.bound - 1 : null;
  };
  const gapText = (gap) => gap === null ? "–" : gap === 0 ? "none: proved optimal" : `+${report.percent(gap)}`;
  const pairs = (list) => element("dl", {}, list.flatMap(([key, value]) => [element("dt", {}, key), element("dd", {}, value)]));
  const commandsOf = (run) => element("div", { class: "commands" },
    run.commands.map((each) => element("div", {}, element("h3", {}, each.says), report.command(each.command))));

  // For several runs: a table of results, a table of the settings that differ, and the settings that all share.
  const runsCard = () => {
    const keys = [...new Set(runs.flatMap((run) => run.settings.map(([key]) => key)))];
    const settings = runs.map((run) => new Map(run.settings));
    const shared = keys.filter((key) => settings.every((each) => each.get(key) === settings[0].get(key)));
    const others = keys.filter((key) => !shared.includes(key));
    const cell = (text, number) => element("td", { class: number ? "number" : null }, text);
    const head = (text, number) => element("th", { scope: "col", class: number ? "number" : null }, text);
    const named = (run, i) => element("span", { class: "legend" },
      element("span", { style: "color: var(--ink)" }, element("i", { class: `line ${colour(i)}` }), run.name));
    const settingName = (key) => ["updates", "evaluations", "seconds"].includes(key) ? `budget: ${key}` : key;
    const number = (value, say) => cell(value === null || value === undefined ? "–" : say(value), true);
    const table = (heads, rows) => element("div", { class: "scroll" }, element("table", { class: "runs" },
      element("thead", {}, element("tr", {}, heads)), element("tbody", {}, rows.map((cells) => element("tr", {}, cells)))));
    const results = table([head("run"), head("status"),
      ...[`best ${measure}`, "over the bound", "updates", "evaluations", "time"].map((text) => head(text, true))],
      runs.map((run, i) => [cell(named(run, i)), cell(run.status), number(bestOf(run, i), (value) => report.seconds(value, 6)),
        cell(gapText(gapOf(i)), true), cell(report.count(run.updates), true), number(lastOf(run, "evaluations"), report.count),
        number(lastOf(run, "wall_seconds"), report.duration)]));
    // A row for each run; or a column for each run if there are fewer runs than settings.
    const differing = [...others.map((key) => [settingName(key), settings.map((each) => each.get(key) || "–")]),
      ["folder", runs.map((run) => run.folder)]];
    const differ = differing.length > runs.length
      ? table([head(""), ...runs.map((run, i) => head(named(run, i)))], differing.map(([key, values]) => [cell(key), ...values.map((value) => cell(report.breakable(value)))]))
      : table([head("run"), ...differing.map(([key]) => head(key))], runs.map((run, i) => [cell(named(run, i)), ...differing.map(([, values]) => cell(report.breakable(values[i])))]));
    const card = report.card("Runs", oneProblem ? null
      : `The runs place different problems. Compare how far each run is over the bound of its problem; each ${measure} below is ` +
        "of the run's own problem, so the times themselves cannot be compared, though they share an axis.");
    card.append(results, differ,
      pairs(shared.map((key) => [key, settings[0].get(key)])),
      element("details", {}, element("summary", {}, "Commands"), runs.map((run) => [element("h3", {}, run.name), commandsOf(run)])));
    return card;
  };
  const resultCard = (run) => {
    const best = bestOf(run, 0), result = resultOf(0), gap = gapOf(0);
    const tile = (value, label) => element("div", { class: "tile" }, element("b", {}, value), element("span", {}, label));
    const evaluations = lastOf(run, "evaluations"), seconds = lastOf(run, "wall_seconds");
    const over = gap === null ? "N" : `${report.percent(gap)} over the bound: n`;
    const bound = !result || headOf(0) ? null : element("p", { class: "soft" }, gap === 0 ? `Proved optimal: no placement is faster (${result.bound_method}).`
      : `${over}o placement is faster than ${report.ticksText(result.bound, 6)} (${result.bound_method}).`);
    return element("section", { class: "card" }, element("h3", {}, `Best ${measure}`),
      element("div", { class: "headline" }, best === undefined ? "nothing feasible yet" : report.seconds(best, 6), " ",
        element("small", {}, [best === undefined ? null : "feasible", run.problems > 1 ? `of the first of ${run.problems} problems` : null]
          .filter((each) => each).join(", "))),
      report.head(headOf(0)),
      bound,
      element("div", { class: "tiles figures" }, run.nothing_to_draw && result ? null : tile(report.count(run.updates), run.updates === 1 ? "update" : "updates"),
        evaluations === undefined ? null : tile(report.count(evaluations), "evaluations"),
        seconds === undefined ? null : tile(report.duration(seconds), "of training"),
        result ? [tile(report.count(result.problem.ops), "ops"), tile(report.count(result.problem.tensors), "tensors"),
          tile(report.count(result.problem.devices.length), result.problem.devices.length === 1 ? "device" : "devices")] : null),
      commandsOf(run));
  };
  const limitsCard = () => {
    const { limits } = placements.find((each) => each.run === 0 && each.number === 0 && each.missing === null) || {};
    return limits && limits.limits.length ? element("section", { class: "card" }, element("h2", {}, "What limits it"),
      limits.limits.some((each) => each.fills && each.kind !== "memory") ? null : element("p", { class: "note" }, "No device, link or chain of ops fills the step."),
      element("ul", { class: "sentences" }, limits.limits.slice(0, 3).map((each) => element("li", {}, report.sentence(each.sentence))))) : null;
  };
  const trainedCard = (run, result) => element("section", { class: "card" }, element("h2", {}, "What was trained"),
    pairs([...run.settings,
      ...(result ? [["schedule", result.schedule], ["devices", devicesText(result.problem.devices)]] : []), ["folder", run.folder]]));
  const devicesText = (devices) => devices.slice(0, 12).map((device) => device.name).join(", ")
    + (devices.length > 12 ? `, … (${devices.length})` : "");

  report.add(
    element("div", { class: "head" }, element("h1", {}, name),
      several ? null : element("span", { class: `pill ${runs[0].status}` }, runs[0].status)),
    element("p", {}, several ? "Training runs side by side" : "A training run, and the best placement that it found"),
    several ? runsCard() : element("div", { class: "grid" }, resultCard(runs[0]),
      element("div", { class: "stack" }, limitsCard(), trainedCard(runs[0], resultOf(0)))));
  const body = element("div", { class: "stack", style: "margin-top: 18px" });
  report.add(body);

  if (!by) {
    body.append(element("section", { class: "card message" },
      [...new Set(runs.map((run) => run.nothing_to_draw))].map((text) => element("p", {}, text))));
  } else {
    const coarse = d3.max(runs, (run) => run.updates_per_point);
    const choice = report.choice(spent, by, (value) => { by = value; for (const box of boxes) box.redraw(); });
    body.append(element("div", { class: "tools" }, element("span", { class: "screen" }, "Against"), choice,
      coarse > 1 ? `A point stands for up to ${report.count(coarse)} updates and is drawn at the last of them: it is their ` +
        "mean; for the best so far, the last value." : null));
    const has = (key) => runs.some((run) => run.columns[key]);
    if (times.length) {
      const card = chart(Measure,
        "Bold: the best so far. Thin: the mean of the feasible samples of each update" + (has("step_time_q50") ? ", dotted their median" : "") +
        (bands.length ? "; the band holds four fifths of them, from the 10 % to the 90 % quantile." : "."),
        { label: "times", title: measure, kind: "seconds", lines: times, bands, levels, height: 360 });
      if (levels.length)
        card.append(element("span", { class: "legend" }, levels.map((level) => element("span", {}, element("i", { class: `line reference ${level.class}` }),
          `${level.name}: ${report.seconds(level.value, 4)}`))));
      body.append(card);
    }
    const grid = element("div", { class: "grid thirds" }), flat = [];
    body.append(grid);
    const levelText = (kind, value) => kind === "share" ? report.percent(value) : report.number(value);
    const small = (title, note, label, options, of) => {
      if (of.length && report.isFlat(of)) flat.push(`${title.toLowerCase().replace("kl ", "KL ")} (${levelText(options.kind, of[0].y.find((value) => value !== null))})`);
      else if (of.length) grid.append(chart(title, note, { label, title, ...options, lines: of, height: 220 }));
    };
    small("Infeasible share", "Of an update's samples.", "infeasible", { kind: "share", zero: true },
      own((key) => key === "feasible_share", (value) => 1 - value));
    small("Entropy", "Of the policy, in nats.", "entropy", { zero: true }, own((key) => key === "entropy"));
    small("KL divergence", "Of the policy after an update from the policy before it, in nats.", "kl", { zero: true }, own((key) => key === "kl"));
    if (flat.length) body.append(element("p", { class: "soft flat" }, `Not drawn, because it never changes: ${flat.join(", ")}.`));
    if (!grid.childElementCount) grid.remove();
    const known = new RegExp("^(update|evaluations|samples|mean_reward|best_reward|best_step_time|step_time_q.*|feasible_share|entropy|kl|wall_.*|" +
      "(greedy|held_out)_step_time.*)$");
    const others = [...new Set(runs.flatMap((run) => Object.keys(run.columns)))].filter((key) => !known.test(key))
      .map((key) => [key, own((each) => each === key)]).filter(([, of]) => of.length > 0 && !report.isFlat(of));
    if (others.length > 0) {
      const more = element("div", { class: "grid thirds" }, others.map(([key, of]) =>
        chart(key, "As the learner writes it to metrics.csv.", { label: key, title: key, lines: of, height: 220 })));
      const title = `${report.many(others.length, "further column")} of metrics.csv`;
      body.append(element("details", { class: "more-curves screen" }, element("summary", {}, title), more));
    }
  }

  // One placement is shown at a time, at first that of the best run.
  const nameOf = (each) => {
    const run = runs[each.run], of = run.problems > 1 ? `problem ${each.number}` : "";
    return several ? run.name + (of && `, ${of}`) : of;
  };
  const place = element("div", { class: "stack" });
  const show = (i) => place.replaceChildren(report.placement(placements[i], runs[placements[i].run], several || placements[i].number > 0));
  const best = Math.max(0, placements.findIndex((each) => each.missing === null));
  if (placements.length > 0) {
    const choice = placements.length === 1 ? null
      : report.choice(Object.fromEntries(placements.map((each, i) => [`placement-${i}`, nameOf(each)])), `placement-${best}`,
        (value) => show(Number(value.slice("placement-".length))));
    const title = placements.length === 1 ? "The best placement" : "The best placement of";
    body.append(element("div", { class: "tools part" }, element("h2", {}, title), choice), place);
    show(best);
  }
  report.add(element("footer", {}, `Made by ${program}.`));
})();
