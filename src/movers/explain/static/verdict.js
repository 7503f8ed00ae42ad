// The verdict, and each pair on one scale: a ring without structure, a dot with it.

import { byId, html, number, percent } from "./elements.js";

const UNREAD = "not compared.";

const clip = (share) => Math.min(1, Math.max(0, share));

// How near a pair is without structure and with it, on the scale it has: 0 unrelated, 1 the same.
export const readNearness = (payload, structure) => {
  const { words, far } = payload;
  const whole = structure ?? (words && { distance: words.distance, chance: words.chance });
  const vectors = structure && structure.sentence !== null;
  const alone = vectors ? { distance: structure.sentence, chance: far } : structure && words;
  const near = (found, unit) => (found && found.distance !== null && unit ? clip(1 - found.distance / unit) : null);
  return {
    scaled: Boolean(far),
    alone: alone && { distance: alone.distance, near: near(alone, vectors ? far : alone.chance) },
    whole: whole && { distance: whole.distance, near: near(whole, far || whole.chance) },
    by: vectors ? "sentence vectors" : "words alone",
  };
};

const dot = (kind, { near }) => {
  const node = html("i", { class: `dot ${kind}` });
  node.style.left = `${100 * near}%`;
  return node;
};

export const track = ({ alone, whole }) => {
  const node = html("div", { class: "track", "aria-hidden": "true" });
  if (whole?.near === null || !whole) return node;
  if (alone && alone.near !== null) {
    const line = html("i", { class: "shift" });
    line.style.left = `${100 * Math.min(alone.near, whole.near)}%`;
    line.style.width = `${100 * Math.abs(alone.near - whole.near)}%`;
    node.append(line, dot("alone", alone));
  }
  node.append(dot("whole", whole));
  return node;
};

// A pair without a scale is told by its distance.
const figure = ({ scaled }, found) => {
  if (!found || found.distance === null) return "–";
  return scaled ? found.near.toFixed(2) : number(found.distance);
};

const row = (pair, letter, state) => {
  const { payload, nearness } = pair;
  const pick = html("button", {
    type: "button", class: "pick", "aria-pressed": String(pair.shown), "aria-label": `Look at A and ${letter}`,
  }, letter);
  pick.addEventListener("click", () => state.pick(pair.place));
  const told = html("p", { class: "told" }, state.several ? payload.verdict ?? "" : "");
  return html("li", { class: pair.shown ? "shown" : "" }, state.several ? pick : html("b", { class: "pick" }, letter), track(nearness),
    html("p", { class: "figures" },
      ...nearness.alone ? [html("span", { class: "alone", title: nearness.by }, figure(nearness, nearness.alone)), " → "] : [],
      html("b", { class: "whole", title: nearness.alone ? "with structure" : "" }, figure(nearness, nearness.whole))), told);
};

const withoutScale = ({ payload, nearness: { alone, whole, by } }) => {
  if (!whole || whole.distance === null) return "There is no distance between these.";
  const distance = `${number(whole.distance)} apart`;
  return alone ? `${distance} with structure, ${number(alone.distance)} by ${by}.` : `${distance} by ${payload.words?.method ?? "this measure"}.`;
};

// The verdict in one sentence, its first half large.
const say = (text) => {
  const [head, ...rest] = text.split(/(?<=:) /);
  byId("said").replaceChildren(html("span", { class: "headline" }, head), ...rest.length ? [" ", html("span", {}, rest.join(" "))] : []);
};

export const tellVerdict = (found, pairs, pick) => {
  const several = pairs.length > 1;
  const [{ nearness, payload }] = pairs;
  say((several ? found.verdict : payload.verdict) ?? (several
    ? pairs.map((pair, place) => `${"BC"[place]}: ${withoutScale(pair)}`).join(" ") : withoutScale(pairs[0])));
  byId("pairs").replaceChildren(...pairs.map((pair, place) => row(pair, "BC"[place], { several, pick })));
  byId("scale").hidden = nearness.whole?.near === null || !nearness.whole;
  byId("scale-low").textContent = nearness.scaled ? "0: no nearer than unrelated sentences" : "as far as by chance";
  byId("scale-high").textContent = nearness.scaled ? "1: the same sentence" : "the same";
  byId("ring").textContent = nearness.alone ? `by ${nearness.by}` : "";
  byId("ring-key").hidden = !nearness.alone;
  byId("dot").textContent = nearness.alone ? "with structure" : payload.words?.method ?? "";
};

const terms = ({ sentence, shares, linear, structural, home }) => [
  ...sentence === null ? [] : [`${number(sentence)} sentence`],
  ...shares[0] ? [`${shares[0].toFixed(2)} × ${number(linear)} words`] : [],
  ...shares[1] ? [`${shares[1].toFixed(2)} × ${number(structural)} structure`] : [],
  ...home === null ? [] : [`${number(home)} at home`],
];

// The distance as the sum of its parts.
export const tellFormula = (structure) => {
  const parts = structure ? terms(structure) : [];
  byId("formula").textContent = parts.length > 1 ? `${number(structure.distance)} = ${parts.join(" + ")}` : "";
};

const ofChance = ({ words, structure }) => {
  if (!words?.chance || !structure?.chance || words.distance === null || structure.distance === null) return [];
  return [`By their words alone they are ${percent(words.distance / words.chance)} as far apart as by chance; with structure, ${percent(structure.distance / structure.chance)}.`];
};

// What is said of B, said of the sentence that is looked at; quotations stay as they are.
export const named = (text, letter) => (letter === "B" ? text : text.split(/(“[^”]*”)/)
  .map((part) => (part.startsWith("“") ? part : part.replaceAll(/\bB\b/g, letter))).join(""));

const list = (id, told, letter) => byId(id).replaceChildren(...told.map((text) => html("li", {}, named(text, letter))));

// What differs, in plain sentences, and where the distance comes from, in numbers.
export const tellStory = (payload, letter) => {
  const priced = payload.structure && payload.structure.sentence !== null;
  const judged = payload.judged ? [payload.judged.text] : [];
  list("story", [...judged, ...payload.story.filter((text) => !text.endsWith(UNREAD))], letter);
  list("figures", [...priced ? [] : ofChance(payload), ...payload.figures], letter);
};

// What the model did not read of any sentence.
export const tellUnread = (pairs) => {
  const told = pairs.flatMap(({ story }, place) => story
    .filter((text) => text.endsWith(UNREAD)).map((text) => named(text, "BC"[place])));
  byId("unread").textContent = [...new Set(told)].join(" ");
  byId("unread").hidden = !told.length;
};
