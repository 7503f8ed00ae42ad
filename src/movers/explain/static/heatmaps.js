// Attention among the words of each sentence, as tables whose cells can be walked.

import { byId, html, percent, quoted, rove, shade } from "./elements.js";

const MOST_WORDS = 80;
const STRONG = 0.65;
const CELL = { least: 8, most: 46, readable: 27 };
const LABELS = 86;
const CAPTION = "row looks at column";

const walkCells = (size) => (place, key) => {
  const column = place % size;
  const left = column ? -1 : 0;
  const right = column < size - 1 ? 1 : 0;
  const step = { ArrowLeft: left, ArrowRight: right, ArrowUp: -size, ArrowDown: size }[key];
  return place + (step ?? 0);
};

const drawCell = (words, a, b, value, top) => {
  const label = `${quoted(words[a])} looks at ${quoted(words[b])}: ${percent(value)}`;
  const strong = value > STRONG * top ? "strong" : "";
  const node = html("td", { class: strong, title: label, "aria-label": label }, `${Math.round(value * 100)}`);
  node.style.backgroundColor = shade("look", value / top);
  return node;
};

const drawMap = (side, words, attention, top, room) => {
  const size = words.length;
  const edge = Math.max(CELL.least, Math.min(CELL.most, Math.floor((room - LABELS) / size) - 1));
  const cells = [...attention].map((value, place) => {
    const [a, b] = [Math.floor(place / size), place % size];
    return { node: drawCell(words, a, b, value, top), side, a, b };
  });
  const rows = words.map((word, a) => html("tr", {}, html("th", { scope: "row", dir: "auto" }, word),
    ...cells.filter((cell) => cell.a === a).map(({ node }) => node)));
  const names = words.map((word) => html("th", { scope: "col" }, html("span", { dir: "auto" }, word)));
  const label = `Attention in ${side === "source" ? "A" : "B"}, percent`;
  const table = html("table", { class: "map", role: "grid", "aria-label": label },
    html("thead", {}, html("tr", {}, html("td", { class: "corner" }), ...names)),
    html("tbody", {}, ...rows));
  table.classList.toggle("dense", edge < CELL.readable);
  table.style.setProperty("--cell", `${edge}px`);
  rove(cells.map(({ node }) => node), walkCells(size));
  return { table, cells };
};

const largest = (values) => values.reduce((a, b) => Math.max(a, b), 0);

// Draws both maps on one scale and returns their cells.
export const drawMaps = (payload, found) => {
  const top = Math.max(largest(found.source), largest(found.target), 0.01);
  return ["source", "target"].flatMap((side) => {
    const figure = byId(`${side}-attention`);
    const box = figure.querySelector(".scroll");
    const words = payload[`${side}_words`];
    if (words.length > MOST_WORDS) {
      box.replaceChildren(html("p", {}, `More than ${MOST_WORDS} words are too many to draw.`));
      return [];
    }
    const { table, cells } = drawMap(side, words, found[side], top, box.clientWidth);
    const limit = table.classList.contains("dense") ? `, up to ${percent(top)}` : "";
    figure.querySelector("figcaption .muted").textContent = CAPTION + limit;
    box.replaceChildren(table);
    return cells;
  });
};
