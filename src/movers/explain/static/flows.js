// A panel: two sentences and the flows between their words.

import { number, percent, quoted, rove, shade, svg } from "./elements.js";
import { partners } from "./reading.js";

const THIN = 2.5;

// Each flow gets its stretch of its word's mass, in the order of the words at the other end.
const docked = (flows, places, own, other, across) => {
  const reached = new Map();
  const ends = new Map();
  const byWord = new Map(places.map((place) => [place.word, place]));
  const facing = new Map(across.map((place) => [place.word, place.centre]));
  for (const flow of [...flows].sort((a, b) => facing.get(a[other]) - facing.get(b[other]))) {
    const start = reached.get(flow[own]) ?? byWord.get(flow[own]).low;
    ends.set(flow, start);
    reached.set(flow[own], start + flow.mass * flow.unit);
  }
  return ends;
};

const ribbon = (point, from, to, size, [near, far]) => {
  const middle = (near + far) / 2;
  const [start, end] = [from + size, to + size];
  return [
    `M${point(from, near)}C${point(from, middle)} ${point(to, middle)} ${point(to, far)}`,
    `L${point(end, far)}C${point(end, middle)} ${point(start, middle)} ${point(start, near)}Z`,
  ].join("");
};

export const sayPair = (payload, { i, j }) =>
  `${quoted(payload.source_words[i])} → ${quoted(payload.target_words[j])}`;

export const sayFlow = (payload, flow) => [
  `${sayPair(payload, flow)}: ${percent(flow.mass)} of the sentence`,
  flow.cost === null ? "" : `, words ${number(flow.cost, 3)}`,
  flow.strain === null ? "" : `, structure ${number(flow.strain, 3)}`,
].join("");

export const sayWord = (payload, flows, side, word) => {
  const [own, others] = side === "source"
    ? [payload.source_words, payload.target_words] : [payload.target_words, payload.source_words];
  const goes = partners(flows, side, word).slice(0, 3)
    .map(([other, share]) => `${quoted(others[other])} ${percent(share)}`);
  const verb = side === "source" ? "goes to" : "comes from";
  return `${quoted(own[word])} ${verb} ${goes.join(", ") || "nowhere"}`;
};

const drawFlows = (plan, layout, top, payload) => {
  const flows = plan.map((flow) => Object.assign(flow, { unit: layout.unit }));
  const starts = docked(flows, layout.source, "i", "j", layout.target);
  const ends = docked(flows, layout.target, "j", "i", layout.source);
  const point = (main, cross) =>
    (layout.upright ? [cross, main] : [main, cross]).map((value) => value.toFixed(1)).join();
  return flows.map((flow) => {
    const size = flow.mass * layout.unit;
    const d = ribbon(point, starts.get(flow), ends.get(flow), size, layout.ports);
    const path = svg("path", { class: `flow${size < THIN ? " thin" : ""}`, d },
      svg("title", {}, sayFlow(payload, flow)));
    const colour = flow.price === null ? "var(--muted)" : shade("cost", flow.price / top);
    path.style.setProperty("--shade", colour);
    return { node: path, flow };
  });
};

const drawWords = (side, layout, payload, flows) => {
  const place = side === "source" ? 0 : 1;
  const anchor = layout.upright ? ["end", "start"][place] : "middle";
  return layout[side].map(({ text, full, word, centre, low, high }) => {
    const edge = layout.text[place];
    const at = layout.upright ? { x: edge, y: centre + 5 } : { x: centre, y: edge };
    const label = svg("text", { ...at, "text-anchor": anchor }, text);
    if (word === null) return { node: svg("g", { class: "gap", "aria-hidden": "true" }, label) };
    const port = layout.ports[place] - (place ? 0 : layout.thick);
    const box = layout.upright
      ? { x: port, y: low, width: layout.thick, height: high - low }
      : { x: low, y: port, width: high - low, height: layout.thick };
    const said = sayWord(payload, flows, side, word);
    const node = svg("g", { class: "word", role: "button", "aria-label": said },
      svg("title", {}, full), svg("rect", box), label);
    return { node, side, word };
  });
};

const along = (length, upright) => {
  const [back, on] = upright ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
  return (place, key) => ({ [back]: place - 1, [on]: place + 1, Home: 0, End: length - 1 })[key] ?? place;
};

// Draws a panel and returns what in it can be lit.
export const drawPanel = (figure, payload, found, layout, top) => {
  const flows = drawFlows(found.flows, layout, top, payload);
  const words = ["source", "target"].map((side) => drawWords(side, layout, payload, found.flows));
  const picture = svg("svg", {
    viewBox: `0 0 ${layout.width} ${layout.height}`, width: layout.width, height: layout.height,
    role: "group", "aria-label": `Flows of ${found.method}`,
  }, ...flows.map(({ node }) => node), ...words.flat().map(({ node }) => node));
  for (const row of words) {
    const nodes = row.filter(({ word }) => word !== undefined).map(({ node }) => node);
    rove(nodes, along(nodes.length, layout.upright));
  }
  figure.querySelector(".drawing").replaceChildren(picture);
  figure.querySelector("figcaption .muted").textContent = found.method;
  return { plan: found.flows, flows, words: words.flat().filter(({ word }) => word !== undefined) };
};
