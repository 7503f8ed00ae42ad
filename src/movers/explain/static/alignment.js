// The alignment as a table of text, for reading, printing and screen readers.

import { byId, html, number, percent } from "./elements.js";

const HEADINGS = [
  "from A", "to", "words alone", "with structure", "word cost", "structure cost", "adds to the distance",
];

const LINK_HEADINGS = ["from A", "to", "link", "confidence"];

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
  fillTable("Share of the sentence that goes from each word to each, and what a whole unit costs", HEADINGS, rows);
};

const fillTable = (caption, headings, rows) => byId("alignment").replaceChildren(
  html("caption", {}, caption),
  html("thead", {}, html("tr", {}, ...headings.map((heading) => html("th", { scope: "col" }, heading)))),
  html("tbody", {}, ...rows));

// The links instead: a row for each, and for every word that matches nothing.
export const drawLinks = ({ payload, flows, lost }) => {
  const row = (from, to, link, sure) => html("tr", {},
    html("th", { scope: "row", dir: "auto" }, from), html("td", { dir: "auto" }, to), cell(link), cell(sure));
  fillTable("Words that go together, counted from 0, and words that match nothing", LINK_HEADINGS, [
    ...flows.map(({ i, j, sure }) => row(payload.source_words[i], payload.target_words[j], `${i}-${j}`, percent(sure))),
    ...lost.source.map((word) => row(payload.source_words[word], "nothing", `${word}-`, "–")),
    ...lost.target.map((word) => row("nothing", payload.target_words[word], `-${word}`, "–")),
  ]);
};
