// The distances as bars of their parts, on one scale, beside what chance would give.

import { byId, html, number, percent, sum } from "./elements.js";
import { moved } from "./reading.js";

const segment = (part, whole) => {
  const node = html("span", { class: `part ${part.name}`, title: `${part.name} ${number(part.value)}` },
    html("span", {}, part.name));
  node.style.width = `${(100 * part.value) / whole}%`;
  return node;
};

const bar = (title, found, whole) => {
  const track = html("div", { class: "track" }, ...found.parts.map((part) => segment(part, whole)));
  if (found.chance) {
    const chance = html("i", { class: "chance", title: `chance ${number(found.chance)}` });
    chance.style.left = `${(100 * found.chance) / whole}%`;
    track.append(chance);
  }
  return html("div", { class: "bar" },
    html("div", { class: "name" }, html("b", {}, title), " ", html("span", { class: "muted" }, found.method)),
    track,
    html("div", { class: "value" },
      html("b", { class: "distance" }, number(found.distance)), " ",
      html("span", { class: "share" }, found.chance ? `${percent(found.distance / found.chance)} of chance` : "")));
};

const formula = ({ distance, parts }) => {
  const terms = parts.map(({ name, share, whole }) => `${share.toFixed(2)} × ${number(whole)} ${name}`);
  return `${number(distance)} = ${terms.join(" + ")}`;
};

export const drawBars = (words, structure) => {
  const shown = [["Words alone", words], ["With structure", structure]].filter(([, found]) => found && found.distance !== null);
  const whole = 1.04 * Math.max(...shown.map(([, found]) => Math.max(found.chance ?? 0, found.distance, sum(found.parts.map(({ value }) => value)))), 1e-12);
  byId("bars").replaceChildren(...shown.map(([title, found]) => bar(title, found, whole)));
  byId("formula").textContent = structure?.parts.length > 1 ? formula(structure) : "";
};

// The distance told in two sentences: how far, and what costs most.
export const tellStory = (payload, words, structure) => {
  const story = byId("story");
  const found = structure ?? words;
  const told = [];
  if (words?.chance && structure) {
    const far = [words, structure].map(({ distance, chance }) => percent(distance / chance));
    told.push(`By their words alone, A and B are ${far[0]} as far apart as chance; with structure, ${far[1]}.`);
    const share = moved(structure.flows, words.flows);
    told.push(share < 0.005 ? "Every word goes where it went before." : `To keep the structure, ${percent(share)} of the sentence went elsewhere.`);
  }
  const most = [...found.flows].sort((a, b) => b.mass * b.price - a.mass * a.price)[0];
  if (most?.price) {
    const pair = `${payload.source_words[most.i]} → ${payload.target_words[most.j]}`;
    const costs = [most.cost === null ? null : `${number(most.cost, 3)} as words`,
      most.strain === null ? null : `${number(most.strain, 3)} as structure`].filter(Boolean).join(", ");
    told.push(`Most of it: ${pair}, which costs ${costs}.`);
  }
  story.textContent = told.join(" ");
};
