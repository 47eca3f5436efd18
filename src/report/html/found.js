"use strict";
// The page of one placement that no training found.
(() => {
  const { name, says, measure, program, placement } = report.data, element = report.element;
  report.add(
    element("div", { class: "head" }, element("h1", {}, name)),
    element("p", {}, `${says}${placement.feasible ? "" : ", which is not feasible"}`));
  const body = element("div", { class: "stack", style: "margin-top: 18px" });
  body.append(report.placement(placement, { measure, columns: {}, status: "finished", nothing_to_draw: null }, true));
  report.add(body, element("footer", {}, `Made by ${program}.`));
})();
