// The stage: two sentences and the flows between their words, which move over when the plan changes.

import { along, number, percent, price, quoted, rove, shade, sum, svg } from "./elements.js";
import { atHome, isSmall, lonely, partners } from "./reading.js";
import { arrange } from "./layout.js";

const THIN = 2.5;
const MOVING = 450;

// Each flow gets its stretch of its word's mass, in the order of the words at the other end.
const docked = (flows, places, own, other, across, unit) => {
  const reached = new Map();
  const ends = new Map();
  const byWord = new Map(places.map((place) => [place.word, place]));
  const facing = new Map(across.map((place) => [place.word, place.centre]));
  for (const flow of [...flows].sort((a, b) => facing.get(a[other]) - facing.get(b[other]))) {
    const start = reached.get(flow[own]) ?? byWord.get(flow[own]).low;
    ends.set(flow, start);
    reached.set(flow[own], start + flow.mass * unit);
  }
  return ends;
};

const ribbon = (point, [from, to, size], [near, far]) => {
  const middle = (near + far) / 2;
  const [start, end] = [from + size, to + size];
  return [
    `M${point(from, near)}C${point(from, middle)} ${point(to, middle)} ${point(to, far)}`,
    `L${point(end, far)}C${point(end, middle)} ${point(start, middle)} ${point(start, near)}Z`,
  ].join("");
};

export const sayPair = (payload, { i, j }) =>
  `${quoted(payload.source_words[i])} → ${quoted(payload.target_words[j])}`;

// What a share is a share of.
export const sayWhole = (payload, strained, whole) => {
  if (strained) return whole ? "the distance" : "what is shown";
  return payload.structure ? "what the words cost" : "the distance";
};

// What a flow carries and pays; a price is told with the mass that pays it.
export const sayFlow = (payload, flow, { distance, whole, strained = whole !== undefined }) => {
  const paid = flow.mass * flow.price;
  const share = distance ? `, ${percent(paid / distance)} of ${sayWhole(payload, strained, whole)}` : "";
  return `${sayPair(payload, flow)}: ${percent(flow.mass)} of the sentence, pays ${price(paid)}${share}`;
};

export const sayWord = (payload, flows, side, word) => {
  const [own, others] = side === "source"
    ? [payload.source_words, payload.target_words] : [payload.target_words, payload.source_words];
  const goes = partners(flows, side, word).slice(0, 3)
    .map(([other, share]) => `${quoted(others[other])} ${percent(share)}`);
  const verb = side === "source" ? "goes to" : "comes from";
  return `${quoted(own[word])} ${goes.length ? `${verb} ${goes.join(", ")}` : "stays at home"}`;
};

// A link as gold alignments name it, and in words.
export const sayLink = (payload, { i, j, sure }) => `${i}-${j}: ${sayPair(payload, { i, j })}, ${percent(sure)} sure`;

const sayLinks = (payload, flows, side, word) => {
  const own = flows.filter((flow) => flow[side === "source" ? "i" : "j"] === word);
  const name = `${word} ${quoted(payload[`${side}_words`][word])}`;
  return own.length ? own.map((flow) => sayLink(payload, flow)).join("; ") : `${name}: matches nothing`;
};

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

const ease = (share) => (share < 0.5 ? 4 * share ** 3 : 1 - (2 - 2 * share) ** 3 / 2);

const blend = (one, other, share) => one.map((value, at) => value + (other[at] - value) * share);

export class Stage {
  constructor(box, lighting) {
    Object.assign(this, { box, lighting, shapes: new Map(), words: [], payload: null, drag: null });
  }

  // Draws a plan; flows of a plan of the same sentences move over to it.
  // `options`: limit, what a dark flow pays; all, whether to show small flows; alone, whether to
  // mark words without a counterpart. Links know those, and are as dark as they are sure.
  show(payload, found, options) {
    this.found = found;
    const home = ["source", "target"].map((side) => atHome(payload, found.flows, side));
    const key = JSON.stringify([payload.source, payload.target, payload.source_weights, this.box.clientWidth, options.alone, home]);
    const moves = this.key === key && this.payload && this.payload.source_parts.length === payload.source_parts.length;
    this.payload = payload;
    if (!moves) this.reset(options);
    this.key = key;
    this.steer(options, moves && !still() && !document.hidden);
    this.label();
  }

  reset({ alone }) {
    const { payload, box } = this;
    const layout = arrange(payload, box.clientWidth);
    this.layout = layout;
    this.shapes.clear();
    this.sheet = svg("g");
    const rows = ["source", "target"].map((side) => this.drawWords(side, alone));
    this.words = rows.flat().filter(({ word }) => word !== undefined);
    this.picture = svg("svg", {
      viewBox: `0 0 ${layout.width} ${layout.height}`, width: layout.width, height: layout.height,
      role: "group", "aria-label": "Which word goes where",
    }, this.sheet, ...rows.flat().map(({ node }) => node));
    for (const row of rows) {
      const nodes = row.filter(({ word }) => word !== undefined).map(({ node }) => node);
      rove(nodes, along(nodes.length));
    }
    box.replaceChildren(this.picture);
    box.classList.toggle("upright", layout.upright);
  }

  drawWords(side, alone) {
    const { layout } = this;
    const place = side === "source" ? 0 : 1;
    const anchor = layout.upright ? ["end", "start"][place] : "middle";
    const lost = new Set(this.found.lost?.[side] ?? [
      ...alone ? lonely(this.payload, this.found.flows, side) : [], ...atHome(this.payload, this.found.flows, side),
    ]);
    return layout[side].map(({ text, full, word, centre, low, high }) => {
      const edge = layout.text[place];
      const at = layout.upright ? { x: edge, y: centre + 6 } : { x: centre, y: edge };
      const label = svg("text", { ...at, "text-anchor": anchor }, text);
      if (word === null) return { node: svg("g", { class: "gap", "aria-hidden": "true" }, label) };
      const port = layout.ports[place] - (place ? 0 : layout.thick);
      const box = layout.upright
        ? { x: port, y: low, width: layout.thick, height: high - low }
        : { x: low, y: port, width: high - low, height: layout.thick };
      const node = svg("g", { class: `word${lost.has(word) ? " lost" : ""}`, role: "button" }, svg("rect", box), label);
      const thing = { node, side, word, full, lost: lost.has(word) };
      this.lighting.listen(node, { side, word, said: () => this.sayOf(thing) });
      this.drag?.(thing);
      return thing;
    });
  }

  sayOf({ side, word, lost }) {
    if (this.found.lost) return sayLinks(this.payload, this.found.flows, side, word);
    const said = sayWord(this.payload, this.found.flows, side, word);
    return lost ? `${said}: no counterpart` : said;
  }

  label() {
    for (const thing of this.words) thing.node.setAttribute("aria-label", this.sayOf(thing));
  }

  // Where the flows should be; then they go there.
  steer({ limit, all }, moving) {
    const { layout, payload } = this;
    const flows = this.found.flows.filter((flow) => all || !isSmall(payload, flow));
    const starts = docked(this.found.flows, layout.source, "i", "j", layout.target, layout.unit);
    const ends = docked(this.found.flows, layout.target, "j", "i", layout.source, layout.unit);
    const wanted = new Map(flows.map((flow) => [`${flow.i} ${flow.j}`, flow]));
    for (const [key, shape] of this.shapes) {
      shape.from = shape.now;
      const [a, b, size, share] = shape.now;
      shape.to = wanted.has(key) ? null : [a + size / 2, b + size / 2, 0, share];
    }
    for (const [key, flow] of wanted) {
      const size = flow.mass * layout.unit;
      const to = [starts.get(flow), ends.get(flow), size, flow.sure ?? (flow.mass * flow.price) / limit];
      const shape = this.shapes.get(key) ?? this.addFlow(key, [to[0] + size / 2, to[1] + size / 2, 0, to[3]]);
      Object.assign(shape, { flow, to });
    }
    this.animate(moving);
  }

  addFlow(key, from) {
    const node = svg("path", { class: "flow" });
    const shape = { node, from, now: from };
    this.lighting.listen(node, {
      get flow() { return shape.flow ?? null; },
      said: () => (this.found.lost ? sayLink(this.payload, shape.flow) : sayFlow(this.payload, shape.flow, this.found)),
    });
    this.shapes.set(key, shape);
    this.sheet.append(node);
    return shape;
  }

  animate(moving) {
    cancelAnimationFrame(this.frame);
    const began = performance.now();
    const step = (now) => {
      const share = moving ? Math.min(1, Math.max(0, (now - began) / MOVING)) : 1;
      for (const shape of this.shapes.values()) this.place(shape, blend(shape.from, shape.to, ease(share)));
      if (share < 1) this.frame = requestAnimationFrame(step);
      else this.clear();
    };
    step(began);
  }

  place(shape, now) {
    const { layout } = this;
    const point = (main, cross) =>
      (layout.upright ? [cross, main] : [main, cross]).map((value) => value.toFixed(1)).join();
    shape.now = now;
    shape.node.setAttribute("d", ribbon(point, now, layout.ports));
    shape.node.classList.toggle("thin", now[2] < THIN);
    shape.node.style.setProperty("--shade", shade(this.found.lost ? "look" : "cost", now[3]));
  }

  // Flows that are gone leave; the dearest lie on top.
  clear() {
    for (const [key, { node, to }] of this.shapes) {
      if (to[2] > 0) continue;
      node.remove();
      this.shapes.delete(key);
    }
    const order = [...this.shapes.values()].sort((one, other) => one.now[3] - other.now[3]);
    this.sheet.append(...order.map(({ node }) => node));
  }
}

// How many flows are folded away, and how much of the sentence they are.
export const smallMoves = (payload, flows) => {
  const small = flows.filter((flow) => isSmall(payload, flow));
  return { count: small.length, mass: sum(small.map(({ mass }) => mass)) };
};

// What the flows of a view cost together, in words.
export const sayTotal = (name, value, far, what) =>
  `${name} ${number(value)}${far ? `, ${percent(value / far)} of ${what}` : ""}`;
