// All layers and heads coloured by their distance; choosing one shows what it sees.

import { byId, html, mean, number, rove, shade } from "./elements.js";

const has = (chosen, [layer, head]) => chosen.some(([l, h]) => l === layer && h === head);

const same = (one, other) => one.length === other.length && one.every((head) => has(other, head));

const ranges = (numbers) => {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const runs = [];
  for (const n of sorted) {
    if (runs.length && runs.at(-1)[1] === n - 1) runs.at(-1)[1] = n;
    else runs.push([n, n]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(", ");
};

const plural = (word, numbers) => `${word}${new Set(numbers).size > 1 ? "s" : ""} ${ranges(numbers)}`;

export const describe = (chosen) => {
  const [layers, heads] = [chosen.map(([layer]) => layer), chosen.map(([, head]) => head)];
  return `${chosen.length > 1 ? "mean of " : ""}${plural("layer", layers)}, ${plural("head", heads)}`;
};

const walk = (heads) => (place, key) => {
  const { layer, head } = heads[place];
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[key];
  if (!step) return place;
  const layers = [...new Set(heads.map((one) => one.layer))];
  const next = layers[layers.indexOf(layer) + step[0]];
  const found = heads.findIndex((one) => one.layer === next && one.head === head + step[1]);
  return found < 0 ? place : found;
};

export const drawHeads = (structure, chosen, choose) => {
  const { heads, selected } = structure;
  const values = heads.map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const numbers = [...new Set(heads.map(({ head }) => head))];
  const nodes = heads.map(({ layer, head, value }) => {
    const one = [layer, head];
    const label = `layer ${layer}, head ${head}: ${number(value)}`;
    const viewed = chosen.length === 1 && has(chosen, one);
    const node = html("button", {
      type: "button", class: `head${has(selected, one) ? " selected" : ""}${has(chosen, one) ? " viewed" : ""}`,
      title: label, "aria-label": label, "aria-pressed": String(viewed), "data-head": one.join("."),
    });
    node.style.backgroundColor = shade("cost", high > low ? (value - low) / (high - low) : 0);
    node.addEventListener("click", () => choose(viewed ? selected : [one]));
    return node;
  });
  const rows = [...new Set(heads.map(({ layer }) => layer))].map((layer) => {
    const whole = heads.filter((one) => one.layer === layer).map(({ head }) => [layer, head]);
    const label = `layer ${layer}: ${number(mean(heads.filter((one) => one.layer === layer).map(({ value }) => value)))} on average`;
    const button = html("button", { type: "button", class: "layer", title: label, "aria-label": label, "aria-pressed": String(same(whole, chosen)) }, String(layer));
    button.addEventListener("click", () => choose(whole));
    return html("tr", {}, html("th", { scope: "row" }, button),
      ...heads.flatMap((one, place) => (one.layer === layer ? [html("td", {}, nodes[place])] : [])));
  });
  const table = html("table", { class: "heads", "aria-label": "Distance under every layer and head" },
    html("thead", {}, html("tr", {}, html("td", {}), ...numbers.map((n) => html("th", { scope: "col" }, String(n))))),
    html("tbody", {}, ...rows));
  rove(nodes, walk(heads));
  const at = nodes.find((node) => node.getAttribute("aria-pressed") === "true");
  if (at) nodes.forEach((node) => { node.tabIndex = node === at ? 0 : -1; });
  const focused = document.activeElement?.dataset?.head;
  byId("strip").querySelector(".scroll").replaceChildren(table);
  if (focused) nodes.find((node) => node.dataset.head === focused)?.focus({ preventScroll: true });
  byId("heads-low").textContent = number(low, 3);
  byId("heads-high").textContent = number(high, 3);
  byId("view").textContent = `shown: ${describe(chosen)}`;
  byId("reset").hidden = same(chosen, selected);
};
