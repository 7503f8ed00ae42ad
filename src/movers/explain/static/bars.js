// The distances as bars of their parts, on one scale, beside what chance would give.

import { byId, html, number, percent, sum } from "./elements.js";
import { sayPair } from "./flows.js";
import { moved } from "./reading.js";

const MARGIN = 1.04;

const segment = (part, whole) => {
  const node = html("span", { class: `part ${part.name}`, title: `${part.name} ${number(part.value)}` },
    html("span", {}, part.name));
  node.style.width = `${(100 * part.value) / whole}%`;
  return node;
};

// Without chance to hold it against, a length would say nothing.
const track = ({ parts, chance, sentence }, whole) => {
  if (!chance) return html("div");
  const name = sentence === undefined || sentence === null ? "chance" : "unrelated";
  const line = html("i", { class: "chance", "data-name": name, title: `${name} ${number(chance)}` });
  line.style.left = `${(100 * chance) / whole}%`;
  return html("div", { class: "track", "aria-hidden": "true" },
    ...parts.map((part) => segment(part, whole)), line);
};

const alike = ({ distance, chance }, far) => {
  if (far) return `${Math.min(1, Math.max(0, 1 - distance / far)).toFixed(2)} alike`;
  return chance ? `${percent(distance / chance)} of chance` : "";
};

const bar = (title, found, whole, far) => html("div", { class: "bar" },
  html("div", { class: "name" },
    html("b", {}, title), " ", html("span", { class: "muted" }, found.method)),
  track(found, whole),
  html("div", { class: "value" },
    html("b", { class: "distance" }, number(found.distance)), " ",
    html("span", { class: "share" }, alike(found, far))));

const formula = ({ distance, parts }) => {
  const terms = parts.map(({ name, share, whole }) =>
    `${name === "sentence" ? "" : `${share.toFixed(2)} × `}${number(whole)} ${name}`);
  return `${number(distance)} = ${terms.join(" + ")}`;
};

// What the two halves are called, which depends on whether there is another.
export const titles = (words, structure) => ({
  words: structure ? "Words alone" : "Words",
  structure: words ? "With structure" : "Structure alone",
});

// What the vectors of the sentences say, for a measure that looks at them.
const readSentence = ({ parts, sentence, chance }) =>
  ({ method: "cosine", distance: sentence, parts: parts.slice(0, 1), chance, sentence });

export const drawBars = (words, structure, far) => {
  const names = titles(words, structure);
  const first = structure && structure.sentence !== null
    ? ["Sentence vectors", readSentence(structure)] : [names.words, words];
  const shown = [first, [names.structure, structure]]
    .filter(([, found]) => found && found.distance !== null);
  const lengths = shown.flatMap(([, { chance, parts }]) => [chance ?? 0, sum(parts.map(({ value }) => value))]);
  const whole = MARGIN * Math.max(...lengths);
  byId("bars").replaceChildren(...shown.map(([title, found]) =>
    bar(title, found, whole, found === words && structure ? null : far)));
  byId("formula").textContent = structure?.parts.length > 1 ? formula(structure) : "";
};

const compared = (words, structure) => {
  const far = [words, structure].map(({ distance, chance }) => percent(distance / chance));
  const share = moved(structure.flows, words.flows);
  const effect = share < 0.005
    ? "Every word goes where it went before."
    : `To keep the structure, ${percent(share)} of the sentence went elsewhere.`;
  return `By their words alone, A and B are ${far[0]} as far apart as by chance; with structure, ${far[1]}. ${effect}`;
};

const dearest = (payload, { flows, distance }) => {
  const [most] = [...flows].sort((a, b) => b.mass * b.price - a.mass * a.price);
  if (!most?.price || !distance) return "";
  return `Dearest: ${sayPair(payload, most)}, ${percent((most.mass * most.price) / distance)} of the distance.`;
};

// The distance told in a few sentences: how far, and what costs most.
export const tellStory = (payload, words, structure) => {
  const priced = structure && structure.sentence !== null;
  const both = !priced && words?.chance && structure && words.distance !== null && structure.distance !== null;
  const told = structure?.whole && payload.story.length
    ? payload.story : [dearest(payload, structure ?? words)];
  byId("story").replaceChildren(...[...both ? [compared(words, structure)] : [], ...told]
    .map((text) => html("li", {}, text)));
};

// The similarity in words; nothing for a measure without a scale.
export const tellVerdict = ({ verdict }) => {
  byId("said").textContent = verdict ?? "";
  byId("said").hidden = byId("anchors").hidden = !verdict;
};
