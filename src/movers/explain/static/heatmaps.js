// Attention among the words of A, in A and as B has it, and the difference, as tables to walk through.

import { byId, html, percent, price, quoted, rove, shade } from "./elements.js";

const MOST_WORDS = 80;
const CELL = { least: 8, most: 54, readable: 27 };
const LABELS = 96;

const walkCells = (size) => (place, key) => {
  const column = place % size;
  const left = column ? -1 : 0;
  const right = column < size - 1 ? 1 : 0;
  const step = { ArrowLeft: left, ArrowRight: right, ArrowUp: -size, ArrowDown: size }[key];
  return place + (step ?? 0);
};

const looks = (words, a, b) => `${quoted(words[a])} looks at ${quoted(words[b])}`;

// The three maps: what they hold, how a cell is coloured, and what is said of it.
const MAPS = {
  "difference-map": {
    values: "difference",
    ramp: (value) => (value < 0 ? "less" : "more"),
    text: (value) => `${Math.round(value * 100) < 0 ? "−" : ""}${Math.abs(Math.round(value * 100))}`,
    say: ({ words, seen, source, paid }, a, b, at) => `${looks(words, a, b)} ${percent(source[at])} in A, `
      + `their partners ${percent(seen[at])} in B${paid ? `; costs ${price(paid[at])}` : ""}`,
  },
  "source-map": {
    values: "source",
    ramp: () => "look",
    text: (value) => `${Math.round(value * 100)}`,
    say: ({ words, source }, a, b, at) => `${looks(words, a, b)} ${percent(source[at])} in A`,
  },
  "target-map": {
    values: "seen",
    ramp: () => "look",
    text: (value) => `${Math.round(value * 100)}`,
    say: ({ words, seen }, a, b, at) => `partners of ${quoted(words[a])} look at those of ${quoted(words[b])} ${percent(seen[at])} in B`,
  },
};

const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

const drawCell = ({ ramp, text, say }, found, a, b, at, value, top, dearestCell) => {
  const label = say(found, a, b, at);
  const node = html("td", { class: ramp(value), "aria-label": label }, html("span", {}, text(value)));
  node.style.setProperty("--shade", shade(ramp(value), Math.abs(value) / top));
  const dot = dearestCell ? Math.sqrt(found.paid[at] / dearestCell) : 0;
  node.style.setProperty("--dot", dot.toFixed(3));
  return node;
};

const drawMap = (id, kind, found, top, room, name) => {
  const { words } = found;
  const size = words.length;
  const edge = Math.max(CELL.least, Math.min(CELL.most, Math.floor((room - LABELS) / size) - 1));
  const dearestCell = id === "difference-map" && found.paid ? largest(found.paid) : 0;
  const cells = [...found[kind.values]].map((value, at) => {
    const [a, b] = [Math.floor(at / size), at % size];
    return { node: drawCell(kind, found, a, b, at, value, top, dearestCell), a, b, said: () => kind.say(found, a, b, at) };
  });
  const rows = words.map((word, a) => html("tr", {}, html("th", { scope: "row", dir: "auto" }, word),
    ...cells.slice(a * size, (a + 1) * size).map(({ node }) => node)));
  const names = words.map((word) => html("th", { scope: "col" }, html("span", { dir: "auto" }, word)));
  const table = html("table", { class: "map", role: "grid", "aria-label": name },
    html("thead", {}, html("tr", {}, html("td", { class: "corner" }), ...names)),
    html("tbody", {}, ...rows));
  table.classList.toggle("dense", edge < CELL.readable);
  table.style.setProperty("--cell", `${edge}px`);
  rove(cells.map(({ node }) => node), walkCells(size));
  return { table, cells };
};

// Draws the maps and returns their cells; `found` has attention by name, and what each cell costs.
export const drawMaps = (payload, found, letter) => {
  const words = payload.source_words;
  const tops = { look: Math.max(largest(found.source), largest(found.seen), 0.01), difference: Math.max(largest(found.difference), 0.01) };
  byId("difference-top").textContent = `${percent(tops.difference)} more in A`;
  byId("difference-low").textContent = `${percent(tops.difference)} more in ${letter}`;
  return Object.entries(MAPS).flatMap(([id, kind]) => {
    const figure = byId(id);
    const box = figure.querySelector(".scroll");
    if (words.length > MOST_WORDS || payload.target_words.length > MOST_WORDS) {
      box.replaceChildren(html("p", {}, `More than ${MOST_WORDS} words are too many to draw.`));
      return [];
    }
    const top = kind.values === "difference" ? tops.difference : tops.look;
    const { table, cells } = drawMap(id, kind, { ...found, words }, top, box.clientWidth, figure.querySelector("h3").textContent);
    box.replaceChildren(table);
    return cells;
  });
};
