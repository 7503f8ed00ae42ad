// From the payload to what a view of it shows: flows with prices, attention, broken relations.

import { mean, sum } from "./elements.js";

const LEVELS = 255;
const SMALL = 0.02;
const TINY = 0.4;
const LONELY = 0.25;

const decode = (text) => Float32Array.from(atob(text), (byte) => byte.charCodeAt(0) / LEVELS);

const sameHead = (head, [layer, number]) => head.layer === layer && head.head === number;

export const headsOf = (structure, chosen) =>
  structure.heads.filter((head) => chosen.some((one) => sameHead(head, one)));

const costOf = (payload, i, j) => (payload.cost.length ? payload.cost[i][j] : null);

const trustIn = (payload, i, j) => payload.structure?.trust?.[i][j] ?? 1;

// Flows that are drawn one by one; the rest is folded. Of forty words none has much to give.
export const isSmall = (payload, flow) =>
  flow.mass < Math.min(SMALL, TINY / Math.max(payload.source_words.length, payload.target_words.length));

// What the words alone say: each flow with its price per unit of mass.
export const readWords = (payload) => {
  const { words } = payload;
  if (!words) return null;
  const flows = words.plan.map(([i, j, mass]) => {
    const cost = costOf(payload, i, j);
    return { i, j, mass, cost, strain: null, price: cost ?? 0 };
  });
  return { ...words, flows };
};

// What words and structure say under some heads: the mean of their plans and parts.
export const readStructure = (payload, chosen) => {
  const { structure } = payload;
  if (!structure) return null;
  const heads = headsOf(structure, chosen);
  const whole = chosen === structure.selected;
  const part = (name) => (whole ? structure[name] : mean(heads.map((head) => head[name])));
  return {
    whole, heads, method: structure.method, shares: structure.shares, sentence: structure.sentence,
    distance: whole ? structure.distance : mean(heads.map((head) => head.value)),
    chance: mean(heads.map((head) => head.chance)),
    linear: part("linear"), structural: part("structural"),
    home: whole ? payload.home : payload.home && mean(heads.map((head) => head.home)),
    flows: pooled(payload, heads),
  };
};

// One step of the curve over all mixes, in place of what the server said last.
export const readStep = (payload, found, curve, step) => {
  const [mix, linear, structural] = ["mixes", "linear", "structural"].map((name) => curve[name][step]);
  const ofWords = curve.distances.at(-1) === curve.linear.at(-1);  // some measures report these alone
  const reported = ofWords ? [1, 0] : [1 - mix, mix];
  const flows = curve.plans[step].map(([i, j, mass, strain]) => priced(payload, i, j, mass, strain, reported));
  const home = found.home === null ? null : curve.home[step];
  return { ...found, distance: curve.distances[step], linear, structural, home, shares: reported, flows, step };
};

const priced = (payload, i, j, mass, strain, [wordShare, structureShare]) => {
  const cost = costOf(payload, i, j);
  return { i, j, mass, cost, strain, price: wordShare * (cost ?? 0) + structureShare * strain };
};

// The mean plan of some heads; a flow pays for structure what it pays under each of them.
const pooled = (payload, heads) => {
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
  return [...cells.values()]
    .map(({ i, j, mass, charged }) => priced(payload, i, j, mass / heads.length, charged / mass, payload.structure.shares))
    .sort((one, other) => one.i - other.i || one.j - other.j);
};

// Links as flows of a stage of their own, which has all words; a word shares itself among its links.
export const readLinks = (payload) => {
  const { links } = payload;
  if (!links) return null;
  const sizes = { source: links.source_words.length, target: links.target_words.length };
  const count = (own) => links.links.reduce((found, link) => found.set(link[own], (found.get(link[own]) ?? 0) + 1), new Map());
  const [leaving, arriving] = [count(0), count(1)];
  const flows = links.links.map(([i, j, sure]) => ({
    i, j, sure, mass: Math.min(1 / sizes.source / leaving.get(i), 1 / sizes.target / arriving.get(j)),
  }));
  const weights = (size) => Array.from({ length: size }, () => 1 / size);
  return {
    flows, lost: { source: links.unmatched_source, target: links.unmatched_target },
    payload: { ...payload, ...links, cost: [], home: null, source_weights: weights(sizes.source), target_weights: weights(sizes.target) },
  };
};

// Where a word's mass goes: pairs of partner and share of the word, largest first.
export const partners = (flows, side, word) => {
  const [own, other] = side === "source" ? ["i", "j"] : ["j", "i"];
  const mine = flows.filter((flow) => flow[own] === word);
  const whole = sum(mine.map((flow) => flow.mass)) || 1;
  return mine.map((flow) => [flow[other], flow.mass / whole]).sort((a, b) => b[1] - a[1]);
};

// Words that stay at home with most of their mass, where they may.
export const atHome = (payload, flows, side) => {
  const moved = payload[`${side}_weights`].map(() => 0);
  for (const flow of flows) moved[side === "source" ? flow.i : flow.j] += flow.mass;
  return payload.home === null ? [] : [...moved.keys()].filter((word) => moved[word] < payload[`${side}_weights`][word] / 2);
};

// Words without a counterpart: what they go to costs about what any word would.
export const lonely = (payload, flows, side) => {
  const words = payload[`${side}_words`];
  const limit = payload.words?.chance;
  const sure = (i, j) => (payload.structure?.trust ? trustIn(payload, i, j) : 1 - (costOf(payload, i, j) ?? 0) / (limit || 1));
  return words.map((_, word) => word).filter((word) => sum(partners(flows, side, word)
    .map(([other, share]) => share * sure(...(side === "source" ? [word, other] : [other, word])))) < LONELY);
};

// Attention under some heads: in A, in B seen from A through the plan, and what is left between.
// For words i and k, B is what the partners of i give to the partners of k, on average.
export const readAttention = (payload, heads) => {
  const [n, m] = [payload.source_words.length, payload.target_words.length];
  const found = { source: new Float64Array(n * n), target: new Float64Array(m * m), seen: new Float64Array(n * n) };
  for (const { plan, source_attention: a, target_attention: b } of heads) {
    const [source, target] = [decode(a), decode(b)];
    add(found.source, source, heads.length);
    add(found.target, target, heads.length);
    add(found.seen, throughPlan(plan, target, n, m), heads.length);
  }
  return { ...found, difference: found.source.map((value, place) => value - found.seen[place]) };
};

const add = (whole, part, count) => { for (let at = 0; at < whole.length; at += 1) whole[at] += part[at] / count; };

const throughPlan = (plan, target, n, m) => {
  const rows = Array.from({ length: n }, () => []);
  for (const [i, j, mass] of plan) rows[i].push([j, mass]);
  const shares = rows.map((row) => { const all = sum(row.map(([, mass]) => mass)); return row.map(([j, mass]) => [j, mass / all]); });
  const half = new Float64Array(n * m);
  shares.forEach((row, i) => row.forEach(([j, share]) => {
    for (let l = 0; l < m; l += 1) half[i * m + l] += share * target[j * m + l];
  }));
  const seen = new Float64Array(n * n);
  shares.forEach((row, k) => row.forEach(([l, share]) => {
    for (let i = 0; i < n; i += 1) seen[i * n + k] += share * half[i * m + l];
  }));
  return seen;
};

// What every pair of flows costs because the one's words look at the other's in A and not in B, or
// the other way round: the terms whose sum is the structural part of the distance.
export const readTerms = (payload, flows, heads) => {
  const [n, m, size] = [payload.source_words.length, payload.target_words.length, flows.length];
  const places = new Map(flows.map(({ i, j }, place) => [`${i} ${j}`, place]));
  const costs = new Float64Array(size * size);
  const share = payload.structure.shares[1] / heads.length;
  for (const { plan, scale, source_attention: a, target_attention: b } of heads) {
    const [source, target] = [decode(a), decode(b)];
    const moves = plan.map(([i, j, mass]) => [i, j, mass * trustIn(payload, i, j), places.get(`${i} ${j}`)])
      .filter(([, , mass]) => mass > 0);
    for (const [i, j, first, row] of moves) {
      for (const [k, l, second, column] of moves) {
        const gap = source[i * n + k] - target[j * m + l];
        costs[row * size + column] += share * scale * gap * gap * first * second;
      }
    }
  }
  return { flows, costs };
};

// The dearest of these terms, of one flow or of all: who looks at whom.
export const dearest = ({ flows, costs }, most, own = null) => {
  const size = flows.length;
  const places = [...costs.keys()].filter((at) => costs[at] > 0
    && (own === null || Math.floor(at / size) === own || at % size === own));
  return places.sort((one, other) => costs[other] - costs[one]).slice(0, most)
    .map((at) => ({ looks: flows[Math.floor(at / size)], at: flows[at % size], cost: costs[at] }));
};

// The same by words of A: what is paid for how i looks at k.
export const byWords = ({ flows, costs }, n) => {
  const found = new Float64Array(n * n);
  costs.forEach((cost, at) => {
    found[flows[Math.floor(at / flows.length)].i * n + flows[at % flows.length].i] += cost;
  });
  return found;
};
