// Attention among the words of each sentence, as tables whose cells can be walked.

import { byId, html, percent, quoted, rove, shade } from "./elements.js";

const CELL = { least: 8, most: 46, readable: 27 };

const grid = (size) => (place, key) => {
  const column = place % size;
  const moves = { ArrowLeft: column ? -1 : 0, ArrowRight: column < size - 1 ? 1 : 0, ArrowUp: -size, ArrowDown: size };
  return place + (moves[key] ?? 0);
};

const drawMap = (side, words, attention, top, room) => {
  const size = words.length;
  const edge = Math.max(CELL.least, Math.min(CELL.most, Math.floor((room - 86) / size) - 1));
  const cells = [];
  const rows = words.map((word, a) => html("tr", {}, html("th", { scope: "row", dir: "auto" }, word),
    ...words.map((_, b) => {
      const value = attention[a * size + b];
      const text = `${Math.round(value * 100)}`;
      const label = `${quoted(word)} looks at ${quoted(words[b])}: ${percent(value)}`;
      const node = html("td", { class: value > top / 2 ? "strong" : "", title: label, "aria-label": label }, text);
      node.style.backgroundColor = shade("look", value / top);
      cells.push({ node, side, a, b });
      return node;
    })));
  const head = html("tr", {}, html("td", { class: "corner" }),
    ...words.map((word) => html("th", { scope: "col" }, html("span", { dir: "auto" }, word))));
  const table = html("table", { class: `map ${edge < CELL.readable ? "dense" : ""}`, role: "grid", "aria-label": `Attention in ${side === "source" ? "A" : "B"}, percent` },
    html("thead", {}, head), html("tbody", {}, ...rows));
  table.style.setProperty("--cell", `${edge}px`);
  rove(cells.map(({ node }) => node), grid(size));
  return { table, cells };
};

// Draws both maps on one scale and returns their cells.
export const drawMaps = (payload, found) => {
  const top = Math.max(...found.source, ...found.target, 0.01);
  return ["source", "target"].flatMap((side) => {
    const box = byId(`${side}-attention`).querySelector(".scroll");
    const { table, cells } = drawMap(side, payload[`${side}_words`], found[side], top, box.clientWidth);
    box.replaceChildren(table);
    return cells;
  });
};
