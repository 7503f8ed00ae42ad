// Pointing at a word, a flow or a cell lights what belongs to it everywhere, and says what it is.

import { byId } from "./elements.js";
import { partners } from "./reading.js";

const FAINT = 0.05;
const AWAY = 14;

const otherSide = (side) => (side === "source" ? "target" : "source");

const mark = (node, target, lit) => {
  node.classList.toggle("lit", Boolean(target) && lit);
  node.classList.toggle("faded", Boolean(target) && !lit);
};

// Words of both sentences that belong to what is pointed at.
const endsOf = (flows, target) => {
  if (target.flow) return { source: new Set([target.flow.i]), target: new Set([target.flow.j]) };
  const [side, words] = target.cell ? ["source", target.cell] : [target.side, [target.word]];
  const others = words.flatMap((word) => partners(flows, side, word)
    .filter(([, share]) => share > FAINT).map(([other]) => other));
  return { [side]: new Set(words), [otherSide(side)]: new Set(others) };
};

export class Lighting {
  constructor() {
    Object.assign(this, { pinned: null, stage: null, cells: [], followers: [] });
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") this.pin(null); });
    document.addEventListener("pointermove", (event) => { this.pointer = event; if (!this.pinned) this.place(event); });
  }

  // The cells of a fresh drawing of the maps.
  watch(cells) {
    this.cells = cells;
    for (const { node, a, b, said } of cells) this.listen(node, { cell: [a, b], said });
  }

  listen(node, target) {
    node.addEventListener("pointerenter", (event) => { if (!this.pinned) { this.light(target); this.place(event); } });
    node.addEventListener("pointerleave", () => { if (!this.pinned) this.light(null); });
    node.addEventListener("click", (event) => { this.pin(this.pinned === target ? null : target); this.place(event); });
    if (target.flow !== undefined) return;  // listening for the keyboard would make flows tab stops
    node.addEventListener("focus", () => {
      if (!node.matches(":focus-visible")) return;
      this.pin(null);
      this.light(target);
      this.beside(node);
    });
    node.addEventListener("blur", () => { if (!this.pinned) this.light(null); });
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.pin(target);
      this.beside(node);
    });
  }

  pin(target) {
    const changed = this.pinned !== target;
    this.pinned = target;
    this.light(target);
    if (changed) this.followers.forEach((follow) => follow(target));
  }

  light(target) {
    const { flows = [], lost } = this.stage?.found ?? {};
    const apart = Boolean(lost);  // links have words of their own, which the maps do not know
    const ends = target && !(apart && target.cell) && endsOf(flows, target);
    const staged = ends ? target : null;
    for (const { node, flow } of this.stage?.shapes.values() ?? []) {
      const own = target?.flow ? flow.i === target.flow.i && flow.j === target.flow.j
        : ends && (target.side === "target" ? ends.target.has(flow.j) : ends.source.has(flow.i));
      mark(node, staged, Boolean(own));
    }
    for (const { node, side, word } of this.stage?.words ?? []) mark(node, staged, Boolean(ends?.[side]?.has(word)));
    for (const { node, a, b } of this.cells) {
      const lit = target?.cell ? a === target.cell[0] && b === target.cell[1] : ends && (ends.source.has(a) || ends.source.has(b));
      node.classList.toggle("lit", Boolean(target?.cell && lit));
      node.classList.toggle("faded", Boolean(target && !target.cell && !apart && !lit));
    }
    byId("tip").textContent = target ? target.said() : "";
    byId("tip").hidden = !target;
  }

  // The readout stands at the pointer, inside the window.
  place({ clientX, clientY }) {
    const tip = byId("tip");
    if (tip.hidden) return;
    const { width, height } = tip.getBoundingClientRect();
    const below = clientY + AWAY + height < innerHeight;
    tip.style.left = `${Math.max(4, Math.min(clientX + AWAY, document.documentElement.clientWidth - width - 4))}px`;
    tip.style.top = `${Math.max(4, below ? clientY + AWAY : clientY - AWAY - height)}px`;
  }

  beside(node) {
    const { left, bottom } = node.getBoundingClientRect();
    this.place({ clientX: left - AWAY, clientY: bottom - AWAY / 2 });
  }
}
