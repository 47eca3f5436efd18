"use strict";
// A table with a row for each trial, which can be sorted by any column; below a failed trial is its error. `spare`
// columns are left out when the page is printed.
report.table = (sweep) => {
  const atOnce = 200;
  const blank = (value) => value === null || value === undefined;
  const spare = (name, value, say) => ({
    name, number: true, spare: true, value, text: (trial) => blank(value(trial)) ? "" : say(value(trial)),
  });
  const differ = sweep.trials.some((trial) => trial.share && trial.share < 1);  // without early stopping all trials have the whole budget
  const columns = [
    { name: "trial", number: true, value: (trial) => trial.trial },
    { name: "status", value: (trial) => trial.status, class: (trial) => trial ? `whole status-${trial.status}` : "" },
    { name: sweep.measure, number: true, value: (trial) => trial.objective, text: (trial) => report.seconds(trial.objective, 7) },
    ...sweep.parameters.map((parameter, i) => ({
      name: parameter.key, number: parameter.scale !== "choices", text: (trial) => sweep.valueText(trial, i),
      value: (trial) => blank(trial.values[i]) ? null : parameter.choices ? parameter.choices[trial.values[i]] : trial.values[i],
    })),
    ...(differ ? [spare("budget", (trial) => trial.share || null, report.percent)] : []),
    spare("updates", (trial) => trial.updates, report.count),
    spare("evaluations", (trial) => trial.evaluations, report.count),
    spare("time", (trial) => trial.seconds, report.duration),
  ];
  const classes = (each, text, trial) => [each.number ? "number" : "", text && text.length > 24 ? "text" : "", each.spare ? "screen" : "",
    each.class ? each.class(trial) : ""].filter((name) => name).join(" ") || null;
  let column = columns[2], descending = false, all = false;

  const head = report.element("tr", {}, columns.map((each) => {
    each.head = report.element("th", { scope: "col", class: classes(each) }, report.element("button", { type: "button", title: each.name,
      onclick: () => { descending = column === each && !descending; column = each; fill(); } }, report.breakable(each.name)));
    return each.head;
  }));
  const table = report.element("table", { class: "trials" }, report.element("thead", {}, head));
  const more = report.element("button", { type: "button", class: "plain more", onclick: () => { all = true; fill(); } });
  const count = report.element("span");

  const row = (trial) => {
    const body = report.element("tbody", { "data-trial": trial.trial, class: trial.error ? "failed" : trial.trial === sweep.best ? "best" : null },
      report.element("tr", {}, columns.map((each) => {
        const text = each.text ? each.text(trial) : String(each.value(trial));
        return report.element("td", { class: classes(each, text, trial) }, text);
      })));
    if (trial.error) body.append(report.element("tr", { class: "error" }, report.element("td"), report.element("td", { colspan: columns.length - 1 }, trial.error)));
    body.addEventListener("mouseenter", () => report.point(trial.trial));
    body.addEventListener("mouseleave", () => report.point(null));
    return body;
  };
  // Empty cells come last in both directions.
  const compare = (a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    if (blank(x) || blank(y)) return blank(x) - blank(y) || a.trial - b.trial;
    return (descending ? d3.descending(x, y) : d3.ascending(x, y)) || a.trial - b.trial;
  };
  const fill = () => {
    const left = sweep.trials.filter((trial) => report.isLeft(trial.trial)).sort(compare);
    const shown = all ? left : left.slice(0, atOnce);
    for (const body of [...table.tBodies]) body.remove();
    table.append(...shown.map(row));
    for (const each of columns) each.head.setAttribute("aria-sort", each !== column ? "none" : descending ? "descending" : "ascending");
    more.hidden = shown.length === left.length;
    more.textContent = `Show all ${report.count(left.length)}`;
    count.textContent = left.length === sweep.trials.length ? "" : `${report.count(left.length)} of ${report.count(sweep.trials.length)}, as filtered above`;
    report.refresh(table);
  };
  report.onFilter(fill);
  fill();
  const card = report.card("Table of trials", sweep.trials_total > sweep.trials.length
    ? `Of ${report.count(sweep.trials_total)} trials the page has the ${report.count(sweep.trials.length)} best; all are in sweep.csv.`
    : null, count, report.element("span", { class: "screen" }, "A click on a heading sorts"));
  card.classList.add("long");
  card.append(report.element("div", { class: "scroll" }, table), more);
  return card;
};
