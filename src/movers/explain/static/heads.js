// All layers and heads coloured by their distance; choosing one shows what it sees.

import { byId, html, mean, number, rove, shade } from "./elements.js";

const USUAL_SHARE = 0.95;

const has = (chosen, [layer, head]) => chosen.some(([l, h]) => l === layer && h === head);

const same = (one, other) => one.length === other.length && one.every((head) => has(other, head));

const ranges = (numbers) => {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const runs = [];
  for (const n of sorted) {
    if (runs.length && runs.at(-1)[1] === n - 1) runs.at(-1)[1] = n;
    else runs.push([n, n]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
};

const several = (word, numbers) => `${word}${new Set(numbers).size > 1 ? "s" : ""} ${ranges(numbers)}`;

const layersOf = (chosen) => chosen.map(([layer]) => layer);
const numbersOf = (chosen) => chosen.map(([, head]) => head);

export const describeHeads = (chosen) => `${several("layer", layersOf(chosen))}, ${several("head", numbersOf(chosen))}`;

// The signature of what is shown: other heads are another measure, or another look at the same.
export const signHeads = ({ signature, settings, structure }, chosen) => {
  if (!structure || chosen === structure.selected) return signature;
  if (structure.sentence !== null) {
    return `${signature}|view:${describeHeads(chosen)} at the price of all`;
  }
  const changed = { ...settings, layers: ranges(layersOf(chosen)), heads: ranges(numbersOf(chosen)) };
  return Object.entries(changed).map(([name, value]) => `${name}:${value}`).join("|");
};

const walkTable = (rows) => (place, key) => {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[key];
  if (!step) return place;
  const wide = rows[0].length;
  const [row, column] = [Math.floor(place / wide) + step[0], (place % wide) + step[1]];
  return rows[row]?.[column] ? row * wide + column : place;
};

// A button that shows some heads when pressed, and the method's own when pressed again.
const chooser = (name, label, heads, { chosen, selected, choose }, ...content) => {
  const pressed = same(heads, chosen);
  const node = html("button", {
    type: "button", class: name, title: label, "aria-label": label, "aria-pressed": String(pressed),
  }, ...content);
  node.dataset.heads = heads.map((head) => head.join(".")).join("_");
  node.addEventListener("click", () => choose(pressed ? selected : heads));
  return node;
};

const drawHead = ({ layer, head, value }, [low, high], state) => {
  const node = chooser("head", `layer ${layer}, head ${head}: ${number(value)}`, [[layer, head]], state);
  node.classList.toggle("selected", has(state.selected, [layer, head]));
  node.style.backgroundColor = shade("cost", high > low ? (value - low) / (high - low) : 0);
  return node;
};

const drawLayer = (layer, heads, range, state) => {
  const own = heads.filter((one) => one.layer === layer);
  const label = `layer ${layer}: ${number(mean(own.map(({ value }) => value)))} on average`;
  const button = chooser("layer", label, own.map(({ head }) => [layer, head]), state, String(layer));
  return [button, ...own.map((one) => drawHead(one, range, state))];
};

// Puts the new table in place of the old without losing the focus of the keyboard.
const replace = (table, nodes) => {
  const focused = document.activeElement?.dataset?.heads;
  byId("strip").querySelector(".scroll").replaceChildren(table);
  if (focused) nodes.find((node) => node.dataset.heads === focused)?.focus({ preventScroll: true });
};

export const drawHeads = ({ heads, selected }, chosen, choose) => {
  const state = { chosen, selected, choose };
  const values = heads.map(({ value }) => value);
  const sorted = [...values].sort((a, b) => a - b);
  const range = [sorted[0], sorted[Math.floor(USUAL_SHARE * (sorted.length - 1))]];  // a few shout
  const [layers, numbers] = ["layer", "head"].map((name) => [...new Set(heads.map((one) => one[name]))]);
  const rows = layers.map((layer) => drawLayer(layer, heads, range, state));
  const nodes = rows.flat();
  const pressed = nodes.findIndex((node) => node.getAttribute("aria-pressed") === "true");
  rove(nodes, walkTable(rows), Math.max(pressed, 1));
  replace(html("table", { class: "heads", "aria-label": "Distance under every layer and head" },
    html("thead", {}, html("tr", {}, html("td"), ...numbers.map((n) => html("th", { scope: "col" }, String(n))))),
    html("tbody", {}, ...rows.map(([first, ...rest]) => html("tr", {}, html("th", { scope: "row" }, first),
      ...rest.map((node) => html("td", {}, node)))))), nodes);
  byId("heads-low").textContent = number(range[0], 3);
  byId("heads-high").textContent = `${number(range[1], 3)}${range[1] < sorted.at(-1) ? " or more" : ""}`;
  byId("reset").hidden = same(chosen, selected);
};
