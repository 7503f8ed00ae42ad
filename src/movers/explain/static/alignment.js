// The alignment as a table of text, for reading, printing and screen readers.

import { byId, html, number, percent } from "./elements.js";

const HEADINGS = [
  "from A", "to", "words alone", "with structure", "word cost", "structure cost", "adds to the distance",
];

const cell = (text) => html("td", {}, text);

export const drawAlignment = (payload, words, structure) => {
  const flows = new Map();
  for (const [name, found] of [["words", words], ["structure", structure]]) {
    for (const flow of found?.flows ?? []) {
      const key = `${flow.i} ${flow.j}`;
      flows.set(key, { ...flows.get(key), ...flow, [name]: flow.mass });
    }
  }
  const rows = [...flows.values()].sort((a, b) => a.i - b.i || a.j - b.j).map((flow) => html("tr", {},
    html("th", { scope: "row", dir: "auto" }, payload.source_words[flow.i]),
    html("td", { dir: "auto" }, payload.target_words[flow.j]),
    cell(flow.words ? percent(flow.words) : "–"),
    cell(flow.structure ? percent(flow.structure) : "–"),
    cell(number(flow.cost)),
    cell(number(flow.strain)),
    cell(number((structure ? flow.structure ?? 0 : flow.mass) * flow.price))));
  byId("alignment").replaceChildren(
    html("caption", {}, "Share of the sentence that goes from each word to each, and what a whole unit costs"),
    html("thead", {}, html("tr", {}, ...HEADINGS.map((heading) => html("th", { scope: "col" }, heading)))),
    html("tbody", {}, ...rows));
};
