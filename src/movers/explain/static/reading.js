// From the payload to what a view of it shows: flows with prices, parts, attention.

import { mean, sum } from "./elements.js";

const LEVELS = 255;

const decode = (text) => Float32Array.from(atob(text), (byte) => byte.charCodeAt(0) / LEVELS);

const average = (arrays) => arrays[0].map((_, place) => mean(arrays.map((array) => array[place])));

const sameHead = (head, [layer, number]) => head.layer === layer && head.head === number;

export const headsOf = (structure, chosen) =>
  structure.heads.filter((head) => chosen.some((one) => sameHead(head, one)));

const costOf = (payload, i, j) => (payload.cost.length ? payload.cost[i][j] : null);

// What the words alone say: each flow with its price per unit of mass.
export const readWords = (payload) => {
  const { words } = payload;
  if (!words) return null;
  const flows = words.plan.map(([i, j, mass]) => {
    const cost = costOf(payload, i, j);
    return { i, j, mass, cost, strain: null, price: cost };
  });
  const part = { name: "words", value: words.distance, share: 1, whole: words.distance };
  return { ...words, flows, parts: [part] };
};

// What words and structure say under some heads: the mean of their plans and parts.
export const readStructure = (payload, chosen) => {
  const { structure } = payload;
  if (!structure) return null;
  const heads = headsOf(structure, chosen);
  const [wordShare, structureShare] = structure.shares;
  const linear = mean(heads.map((head) => head.linear));
  const structural = mean(heads.map((head) => head.structural));
  const whole = chosen === structure.selected;
  const parts = [
    { name: "sentence", share: structure.sentence === null ? 0 : 1, whole: structure.sentence },
    { name: "words", share: wordShare, whole: whole ? structure.linear : linear },
    { name: "structure", share: structureShare, whole: whole ? structure.structural : structural },
  ].filter((part) => part.share > 0);
  parts.forEach((part) => { part.value = part.share * part.whole; });
  return {
    whole,
    method: structure.method,
    sentence: structure.sentence,
    distance: whole ? structure.distance : mean(heads.map((head) => head.value)),
    chance: mean(heads.map((head) => head.chance)),
    parts,
    flows: pooled(payload, heads),
    source: average(heads.map((head) => decode(head.source_attention))),
    target: average(heads.map((head) => decode(head.target_attention))),
  };
};

// The mean plan of some heads; a flow pays for structure what it pays under each of them.
const pooled = (payload, heads) => {
  const [wordShare, structureShare] = payload.structure.shares;
  const cells = new Map();
  for (const { plan } of heads) {
    for (const [i, j, mass, strain] of plan) {
      const key = `${i} ${j}`;
      const cell = cells.get(key) ?? { i, j, mass: 0, charged: 0 };
      cell.mass += mass;
      cell.charged += mass * strain;
      cells.set(key, cell);
    }
  }
  return [...cells.values()].map(({ i, j, mass, charged }) => {
    const cost = costOf(payload, i, j);
    const strain = charged / mass;
    const price = wordShare * (cost ?? 0) + structureShare * strain;
    return { i, j, mass: mass / heads.length, cost, strain, price };
  }).sort((one, other) => one.i - other.i || one.j - other.j);
};

// Share of the mass that goes elsewhere in one plan than in the other.
export const moved = (one, other) => {
  const rest = new Map(other.map(({ i, j, mass }) => [`${i} ${j}`, mass]));
  return sum(one.map(({ i, j, mass }) => Math.max(0, mass - (rest.get(`${i} ${j}`) ?? 0))));
};

// Where a word's mass goes: pairs of partner and share of the word, largest first.
export const partners = (flows, side, word) => {
  const [own, other] = side === "source" ? ["i", "j"] : ["j", "i"];
  const mine = flows.filter((flow) => flow[own] === word);
  const whole = sum(mine.map((flow) => flow.mass)) || 1;
  return mine.map((flow) => [flow[other], flow.mass / whole]).sort((a, b) => b[1] - a[1]);
};
