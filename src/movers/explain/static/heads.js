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

const describe = (chosen) => {
  const [layers, heads] = [chosen.map(([layer]) => layer), chosen.map(([, head]) => head)];
  return `${chosen.length > 1 ? "mean of " : ""}${plural("layer", layers)}, ${plural("head", heads)}`;
};

const walkHeads = (heads) => (place, key) => {
  const { layer, head } = heads[place];
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[key];
  if (!step) return place;
  const layers = [...new Set(heads.map((one) => one.layer))];
  const next = layers[layers.indexOf(layer) + step[0]];
  const found = heads.findIndex((one) => one.layer === next && one.head === head + step[1]);
  return found < 0 ? place : found;
};

// A button that shows some heads when pressed, and the method's own when pressed again.
const chooser = (name, label, heads, { chosen, selected, choose }, ...content) => {
  const pressed = same(heads, chosen);
  const node = html("button", {
    type: "button", class: name, title: label, "aria-label": label, "aria-pressed": String(pressed),
  }, ...content);
  node.addEventListener("click", () => choose(pressed ? selected : heads));
  return node;
};

const drawHead = ({ layer, head, value }, [low, high], state) => {
  const node = chooser("head", `layer ${layer}, head ${head}: ${number(value)}`, [[layer, head]], state);
  node.dataset.head = `${layer}.${head}`;
  node.classList.toggle("selected", has(state.selected, [layer, head]));
  node.style.backgroundColor = shade("cost", high > low ? (value - low) / (high - low) : 0);
  return node;
};

const drawLayer = (layer, heads, nodes, state) => {
  const own = heads.filter((one) => one.layer === layer);
  const label = `layer ${layer}: ${number(mean(own.map(({ value }) => value)))} on average`;
  const button = chooser("layer", label, own.map(({ head }) => [layer, head]), state, String(layer));
  return html("tr", {}, html("th", { scope: "row" }, button),
    ...own.map((one) => html("td", {}, nodes[heads.indexOf(one)])));
};

// Puts the new table in place of the old without losing the focus of the keyboard.
const replace = (table, nodes) => {
  const focused = document.activeElement?.dataset?.head;
  byId("strip").querySelector(".scroll").replaceChildren(table);
  const at = nodes.find((node) => node.dataset.head === focused)
    ?? nodes.find((node) => node.getAttribute("aria-pressed") === "true");
  if (at) nodes.forEach((node) => { node.tabIndex = node === at ? 0 : -1; });
  if (focused) at?.focus({ preventScroll: true });
};

export const drawHeads = ({ heads, selected }, chosen, choose) => {
  const state = { chosen, selected, choose };
  const values = heads.map(({ value }) => value);
  const range = [Math.min(...values), Math.max(...values)];
  const nodes = heads.map((head) => drawHead(head, range, state));
  const [layers, numbers] = ["layer", "head"].map((name) => [...new Set(heads.map((one) => one[name]))]);
  rove(nodes, walkHeads(heads));
  replace(html("table", { class: "heads", "aria-label": "Distance under every layer and head" },
    html("thead", {}, html("tr", {}, html("td"), ...numbers.map((n) => html("th", { scope: "col" }, String(n))))),
    html("tbody", {}, ...layers.map((layer) => drawLayer(layer, heads, nodes, state)))), nodes);
  byId("heads-low").textContent = number(range[0], 3);
  byId("heads-high").textContent = number(range[1], 3);
  byId("view").textContent = `shown: ${describe(chosen)}`;
  byId("reset").hidden = same(chosen, selected);
};
