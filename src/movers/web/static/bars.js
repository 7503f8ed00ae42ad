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
const track = ({ parts, chance }, whole) => {
  if (!chance) return html("div");
  const line = html("i", { class: "chance", title: `chance ${number(chance)}` });
  line.style.left = `${(100 * chance) / whole}%`;
  return html("div", { class: "track", "aria-hidden": "true" },
    ...parts.map((part) => segment(part, whole)), line);
};

const bar = (title, found, whole) => html("div", { class: "bar" },
  html("div", { class: "name" },
    html("b", {}, title), " ", html("span", { class: "muted" }, found.method)),
  track(found, whole),
  html("div", { class: "value" },
    html("b", { class: "distance" }, number(found.distance)), " ",
    html("span", { class: "share" },
      found.chance ? `${percent(found.distance / found.chance)} of chance` : "")));

const formula = ({ distance, parts }) => {
  const terms = parts.map(({ name, share, whole }) => `${share.toFixed(2)} × ${number(whole)} ${name}`);
  return `${number(distance)} = ${terms.join(" + ")}`;
};

// What the two halves are called, which depends on whether there is another.
export const titles = (words, structure) => ({
  words: structure ? "Words alone" : "Words",
  structure: words ? "With structure" : "Structure alone",
});

export const drawBars = (words, structure) => {
  const names = titles(words, structure);
  const shown = [[names.words, words], [names.structure, structure]]
    .filter(([, found]) => found && found.distance !== null);
  const lengths = shown.flatMap(([, { chance, parts }]) => [chance ?? 0, sum(parts.map(({ value }) => value))]);
  const whole = MARGIN * Math.max(...lengths);
  byId("bars").replaceChildren(...shown.map(([title, found]) => bar(title, found, whole)));
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

const dearest = (payload, { flows }) => {
  const [most] = [...flows].sort((a, b) => b.mass * b.price - a.mass * a.price);
  if (!most?.price) return "";
  const costs = [[most.cost, "words"], [most.strain, "structure"]]
    .filter(([value]) => value !== null)
    .map(([value, name]) => `${number(value, 3)} as ${name}`);
  return `Most of it: ${sayPair(payload, most)}, which costs ${costs.join(", ")}.`;
};

// The distance told in a few sentences: how far, and what costs most.
export const tellStory = (payload, words, structure) => {
  const both = words?.chance && structure && words.distance !== null && structure.distance !== null;
  byId("story").textContent = `${both ? compared(words, structure) : ""} ${dearest(payload, structure ?? words)}`;
};
