// Pointing at a word, a flow or a cell lights what belongs to it everywhere.

import { byId, percent } from "./elements.js";
import { sayFlow, sayWord } from "./flows.js";
import { partners } from "./reading.js";

const FAINT = 0.05;

const otherSide = (side) => (side === "source" ? "target" : "source");

// Cells of the other matrix that a cell is matched with, and how much of it each gets.
export const matched = (plan, side, a, b) => {
  const cells = new Map();
  for (const [p, first] of partners(plan, side, a)) {
    for (const [q, second] of partners(plan, side, b)) cells.set(`${p} ${q}`, first * second);
  }
  return cells;
};

export class Lighting {
  constructor() {
    this.pinned = null;
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") this.pin(null); });
  }

  // Takes the things of a fresh drawing: panels of words and flows, and cells of attention.
  watch(payload, panels, cells) {
    Object.assign(this, { payload, panels, cells });
    for (const { plan, words, flows } of panels) {
      for (const { node, side, word } of words) {
        this.listen(node, { side, words: [word], said: () => sayWord(payload, plan, side, word) });
      }
      for (const { node, flow } of flows) this.listen(node, { flow, said: () => sayFlow(payload, flow) });
    }
    for (const { node, side, a, b } of cells) {
      const said = () => this.sayCell(node, side, a, b);
      this.listen(node, { side, words: [a, b], cell: [a, b], said });
    }
    this.pin(null);
  }

  listen(node, target) {
    node.addEventListener("pointerenter", () => { if (!this.pinned) this.light(target); });
    node.addEventListener("pointerleave", () => { if (!this.pinned) this.light(null); });
    node.addEventListener("focus", () => { this.pinned = null; this.light(target); });
    node.addEventListener("blur", () => { if (!this.pinned) this.light(null); });
    node.addEventListener("click", () => this.pin(this.pinned === target ? null : target));
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.pin(target);
    });
  }

  pin(target) {
    this.pinned = target;
    this.light(target);
  }

  sayCell(node, side, a, b) {
    const [most] = [...matched(this.panels.at(-1).plan, side, a, b)].sort((x, y) => y[1] - x[1]);
    if (!most) return node.title;
    const [p, q] = most[0].split(" ").map(Number);
    const other = this.cells.find((cell) => cell.side !== side && cell.a === p && cell.b === q);
    if (!other) return node.title;
    return `${node.title}; matched with ${other.node.title} (${percent(most[1])} of it)`;
  }

  light(target) {
    for (const panel of this.panels ?? []) this.lightPanel(panel, target);
    this.lightCells(target);
    byId("readout").textContent = target ? target.said() : "Point at a word, a flow or a cell.";
  }

  lightPanel({ plan, words, flows }, target) {
    const belongs = ({ i, j }) => (target.flow
      ? i === target.flow.i && j === target.flow.j
      : target.words.includes(target.side === "source" ? i : j));
    const lit = target ? plan.filter(belongs) : [];
    const ends = { source: new Set(lit.map(({ i }) => i)), target: new Set(lit.map(({ j }) => j)) };
    if (target?.words) target.words.forEach((word) => ends[target.side].add(word));
    for (const { node, flow } of flows) mark(node, target, lit.includes(flow));
    for (const { node, side, word } of words) mark(node, target, ends[side].has(word));
  }

  lightCells(target) {
    const plan = this.panels?.at(-1)?.plan ?? [];
    const shares = target?.cell && matched(plan, target.side, ...target.cell);
    const rows = target && !target.cell ? rowsOf(plan, target) : null;
    const shareOf = (side, a, b) => (side === target.side
      ? Number(a === target.cell[0] && b === target.cell[1])
      : shares.get(`${a} ${b}`) ?? 0);
    for (const { node, side, a, b } of this.cells ?? []) {
      const share = shares && shareOf(side, a, b);
      const lit = shares ? share > FAINT : rows && (rows[side].has(a) || rows[side].has(b));
      node.classList.toggle("lit", Boolean(shares && lit));
      node.classList.toggle("faded", Boolean(rows && !lit));
      node.style.setProperty("--share", shares && lit ? Math.max(0.35, share) : 1);
    }
  }
}

const rowsOf = (plan, { flow, side, words }) => {
  if (flow) return { source: new Set([flow.i]), target: new Set([flow.j]) };
  const others = partners(plan, side, words[0])
    .filter(([, share]) => share > FAINT).map(([other]) => other);
  return { [side]: new Set(words), [otherSide(side)]: new Set(others) };
};

const mark = (node, target, lit) => {
  node.classList.toggle("lit", Boolean(target) && lit);
  node.classList.toggle("faded", Boolean(target) && !lit);
};
