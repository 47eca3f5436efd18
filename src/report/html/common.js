"use strict";
// What the charts share: the data, elements, numbers with units, the tooltip, the trial under the mouse, and the
// filter. `report` is the only global name: every file adds its functions to it.
const report = { data: JSON.parse(document.getElementById("data").textContent) };

(() => {
  const main = document.getElementById("page");
  main.replaceChildren();

  // An element with attributes and children; texts never become markup.
  report.element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes))
      if (key === "onclick") made.addEventListener("click", value);
      else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
    made.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return made;
  };
  const element = report.element;
  report.add = (...children) => main.append(...children);

  // A card with a heading, a sentence under it and room for tools beside the heading.
  report.card = (title, note, ...tools) => {
    const card = element("section", { class: "card" },
      element("header", {}, element("h2", {}, title), element("div", { class: "tools" }, tools)));
    if (note) card.append(element("p", { class: "note" }, note));
    return card;
  };

  // A container that is drawn again whenever its width changes.
  report.chart = (label, draw) => {
    const box = element("div", { class: "chart", "data-chart": label });
    let drawn = 0;
    const update = () => {
      const width = Math.floor(box.clientWidth);
      if (width < 50 || width === drawn) return;
      drawn = width;
      box.replaceChildren();
      draw(box, width);
      report.refresh(box);
    };
    new ResizeObserver(() => requestAnimationFrame(update)).observe(box);
    box.redraw = () => { drawn = 0; update(); };
    return box;
  };
  report.svg = (box, width, height, label) => d3.select(box).append("svg").attr("role", "img").attr("aria-label", label)
    .attr("width", width).attr("height", height).attr("viewBox", `0 0 ${width} ${height}`);

  // A row of buttons, exactly one of which is pressed.
  report.choice = (names, chosen, changed) => {
    const buttons = Object.entries(names).map(([value, name]) => element("button",
      { type: "button", "aria-pressed": value === chosen, "data-value": value, onclick: () => {
        for (const each of buttons) each.setAttribute("aria-pressed", each.dataset.value === value);
        changed(value);
      } }, name));
    return element("span", { class: "choice" }, buttons);
  };

  // Numbers.
  const digits = (value, count) => String(Number(value.toPrecision(count)));
  report.number = (value) => {
    if (value === null || value === undefined || !Number.isFinite(value)) return "–";
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e7 || size < 1e-4)) return value.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e");
    return digits(value, 6);
  };
  // Groups the digits of the integer part by thousands.
  report.count = (value) => String(value).replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, "\u202f"));
  report.percent = (share) => `${digits(100 * share, share < 0.1 ? 2 : 3)} %`;
  const units = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"], [1e-12, "ps"]];
  const unitOf = (seconds) => units.find(([size]) => Math.abs(seconds) >= size) || units[4];
  report.seconds = (value, count = 5) => {
    if (value === null || value === undefined) return "–";
    if (value === 0) return "0 s";
    const [size, name] = unitOf(value);
    return `${digits(value / size, count)}\u00a0${name}`;
  };
  report.ticksText = (picoseconds, count = 4) => report.seconds(picoseconds === null ? null : picoseconds / 1e12, count);
  report.bytes = (value) => {
    if (value === null || value === undefined) return "–";
    const power = value < 1024 ? 0 : Math.min(5, Math.floor(Math.log2(value) / 10));
    return `${digits(value / 1024 ** power, power ? 3 : 6)}\u00a0${["B", "KiB", "MiB", "GiB", "TiB", "PiB"][power]}`;
  };
  // How long another time is: "2.1 times as long", or "12 % shorter".
  report.times = (ratio) => ratio >= 1.995 ? `${digits(ratio, 3)} times as long` : ratio === 1 ? "the same"
    : `${report.percent(Math.abs(ratio - 1))} ${ratio > 1 ? "longer" : "shorter"}`;
  // A sentence that begins in lower case and has no full stop, for a page.
  report.sentence = (text) => text ? `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}` : "";
  report.many = (count, name) => `${report.count(count)} ${name}${count === 1 ? "" : "s"}`;
  report.duration = (seconds) => {
    if (seconds === null || seconds === undefined) return "–";
    if (seconds < 60) return report.seconds(seconds, 3);
    const whole = Math.round(seconds);
    const hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60;
    return hours > 0 ? `${hours} h ${String(minutes).padStart(2, "0")} min` : `${minutes} min ${String(whole % 60).padStart(2, "0")} s`;
  };
  // How values of one kind are written on an axis: the axis has the unit, the ticks have only numbers.
  report.measure = (kind, values) => {
    if (kind === "seconds") {
      const [size, name] = unitOf(values.length ? d3.median(values) : 1);
      return { unit: name, tick: (value) => report.number(Number((value / size).toPrecision(6))), text: (value) => report.seconds(value) };
    }
    if (kind === "share") return { unit: "%", tick: (value) => digits(100 * value, 4), text: report.percent };
    return { unit: "", tick: report.number, text: report.number };
  };

  // What follows an axis' title: " (ms, log scale)".
  report.axisUnit = (measured, scale) => {
    const said = [measured.unit, scale.log ? "log scale" : ""].filter((each) => each);
    return said.length ? ` (${said.join(", ")})` : "";
  };

  // A scale over the values, logarithmic if they span a wide range, and about `count` ticks on it.
  report.scale = (values, range, log) => {
    let [low, high] = d3.extent(values);
    if (log === undefined) log = low > 0 && high / low > 4;
    if (low === high) [low, high] = log ? [low / 2, high * 2] : low === 0 ? [0, 1] : [low - Math.abs(low) / 4, high + Math.abs(high) / 4];
    const scale = (log ? d3.scaleLog() : d3.scaleLinear()).domain([low, high]).range(range);
    scale.log = log;
    return scale;
  };
  report.ticks = (scale, count) => {
    const [low, high] = scale.domain();
    if (!scale.log) return scale.ticks(count);
    for (const steps of [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7]]) {
      const found = [];
      for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power)
        for (const step of steps) {
          const value = Number((step * 10 ** power).toPrecision(3));
          if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) found.push(value);
        }
      if (found.length > count + 2) return found.filter((_, i) => i % Math.ceil(found.length / count) === 0);
      if (found.length >= Math.min(3, count)) return found;
    }
    return d3.scaleLinear().domain([low, high]).ticks(count);
  };

  // Axes: grid lines and texts at `ticks`, with the title above; the grid lines go from `left` to `right`.
  report.yAxis = (svg, y, { ticks, text, title, left, right }) => {
    for (const tick of ticks) {
      svg.append("line").attr("class", "gridline").attr("x1", left).attr("x2", right).attr("y1", y(tick)).attr("y2", y(tick));
      report.yText(svg, left, y(tick), text(tick));
    }
    svg.append("text").attr("class", "soft").attr("y", 14).text(title);
  };
  report.yText = (svg, left, at, text) => svg.append("text").attr("class", "soft").attr("x", left - 8).attr("y", at)
    .attr("dy", "0.35em").attr("text-anchor", "end").text(text);
  // At most `count` round numbers of bytes from 0 up to `most`.
  report.byteTicks = (most, count) => {
    let step = 1;
    while (most / step > count) step *= 2;
    return d3.range(0, most / step + 1e-9).map((i) => i * step);
  };
  // About `count` ticks at `bottom`, fewer if their texts would overlap; the title ends at `right`, below them.
  report.xAxis = (svg, x, { bottom, count, text, title, right }) => {
    const touch = (ticks) => d3.pairs(ticks).some(([a, b]) => x(b) - x(a) < (report.width(String(text(a))) + report.width(String(text(b)))) / 2 + 18);
    let ticks = x.ticks(Math.max(2, count));
    while (count > 1 && touch(ticks)) ticks = x.ticks(--count);
    const axis = d3.axisBottom(x).tickValues(ticks).tickFormat(text).tickSizeOuter(0);
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${bottom})`).call(axis).attr("font-family", null);
    svg.append("text").attr("class", "soft").attr("x", right).attr("y", svg.attr("height") - 4)
      .attr("text-anchor", "end").text(title);
  };

  // Texts that fit into a width, measured with the page's own font.
  const ruler = document.createElement("canvas").getContext("2d");
  report.width = (text, size = 12, weight = 400) => {
    ruler.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
    return ruler.measureText(text).width;
  };
  report.fit = (text, room, size = 12, weight = 400) => {
    if (report.width(text, size, weight) <= room) return text;
    let [fits, tooLong] = [0, Math.min(text.length, 300)];
    while (fits + 1 < tooLong) {
      const middle = (fits + tooLong) >> 1;
      if (report.width(text.slice(0, middle) + "…", size, weight) <= room) fits = middle; else tooLong = middle;
    }
    return text.slice(0, fits).trimEnd() + "…";
  };
  // The same for a name with scopes: its beginning is cut, because names differ at their ends.
  report.fitEnd = (text, room, size) => {
    let rest = text;
    while (/[/.:]./.test(rest) && report.width(rest, size) > room) rest = rest.replace(/^[^/.:]*[/.:]+/, "");
    return report.fit(rest, room, size);
  };
  // A key or file name in which a line may be broken after dots, slashes and similar characters.
  report.breakable = (text) => text.split(/(?<=[._&/-])|(?=@)/).flatMap((piece, i) => i === 0 ? [piece] : [element("wbr"), piece]);
  // A command: a line may be broken between its words, and within a word only if that is wider than the line.
  report.command = (text) => element("code", {}, text.split(" ").flatMap((word, i) => [i === 0 ? null : " ", element("span", {}, word)]));
  // The same text cut into lines.
  report.wrap = (text, room, most, size, weight) => {
    const lines = [];
    for (const piece of text.match(/[^._ /…-]*[._ /…-]?/g).filter((each) => each)) {
      const joined = (lines.length ? lines[lines.length - 1] : "") + piece;
      if (lines.length && (report.width(joined.trimEnd(), size, weight) <= room || lines.length === most)) lines[lines.length - 1] = joined;
      else lines.push(piece);
    }
    return lines.map((line) => report.fit(line.trimEnd(), room, size, weight));
  };

  // The tooltip.
  const tip = element("div", { id: "tip", role: "status", hidden: "" });
  document.body.append(tip);
  report.tip = (event, ...content) => {
    tip.replaceChildren(...content.filter((child) => child !== null));
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = event.clientX + 16 + width > innerWidth - 8 ? event.clientX - 16 - width : event.clientX + 16;
    const top = event.clientY + 16 + height > innerHeight - 8 ? event.clientY - 16 - height : event.clientY + 16;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${Math.max(8, top)}px`;
  };
  report.noTip = () => { tip.hidden = true; };

  // The trial under the mouse, and the trials that pass the filter: all elements with data-trial are restyled, in all
  // charts.
  let hot = null, left = null;
  const listeners = [];
  const trialsOf = (root) => root.querySelectorAll("[data-trial]");
  report.refresh = (root = main) => {
    for (const each of trialsOf(root)) {
      const trial = Number(each.dataset.trial);
      each.classList.toggle("out", left !== null && !left.has(trial));
      each.classList.toggle("hot", trial === hot);
    }
  };
  report.point = (trial) => {
    if (trial === hot) return;
    for (const each of main.querySelectorAll(`[data-trial="${hot}"]`)) each.classList.remove("hot");
    hot = trial;
    for (const each of main.querySelectorAll(`[data-trial="${hot}"]`)) each.classList.add("hot");
    main.classList.toggle("has-hot", hot !== null);
  };
  report.filter = (trials) => {
    left = trials;
    report.refresh();
    for (const listener of listeners) listener(left);
  };
  report.isLeft = (trial) => left === null || left.has(trial);
  report.onFilter = (listener) => listeners.push(listener);
})();

// Nodes of a drawn graph: pointing at one shows its tip and its edges; a click or Enter calls clicked(i). Gives
// box.choose(i), which marks a node.
report.pickNodes = ({box, svg, groups, lines, clicked, chosen}) => {
  const show = (i) => {
    lines.classed("hot", (edge) => edge[0] === i || edge[1] === i);
    svg.classed("has-hot-node", i !== null);
  };
  groups.on("mousemove", (node, i) => { show(i); report.tip(d3.event, ...node.tell()); })
    .on("mouseleave", () => { show(null); report.noTip(); });
  if (clicked)
    groups.attr("tabindex", "0").attr("role", "button").attr("aria-label", (node) => node.name).on("click", (_, i) => clicked(i))
      .on("keydown", (_, i) => {
        if (d3.event.key !== "Enter" && d3.event.key !== " ") return;
        d3.event.preventDefault();
        clicked(i);
      });
  box.choose = (i) => groups.classed("chosen", (_, each) => each === i);
  if (chosen !== undefined) box.choose(chosen);
};
