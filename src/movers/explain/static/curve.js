// The distance and its parts at every mix of words and structure, to be scrubbed along.

import { byId, number, percent, svg } from "./elements.js";

const BOX = { width: 1000, height: 240, left: 52, right: 16, top: 14, bottom: 30 };
const MOVED = 0.01;
const LINES = ["linear", "structural", "distances"];

const across = (mix) => BOX.left + mix * (BOX.width - BOX.left - BOX.right);

const path = (curve, name, up) => curve[name]
  .map((value, at) => (value === null ? "" : `${at && curve[name][at - 1] !== null ? "L" : "M"}${across(curve.mixes[at]).toFixed(1)},${up(value).toFixed(1)}`)).join("");

const label = (text, x, y, anchor = "middle") => svg("text", { x, y, "text-anchor": anchor }, text);

export class Curve {
  constructor(box, scrub) {
    Object.assign(this, { box, curve: null });
    const seek = ({ clientX }) => {
      const { left, width } = box.getBoundingClientRect();
      const at = ((clientX - left) / width) * BOX.width;
      scrub(Math.min(1, Math.max(0, (at - BOX.left) / (BOX.width - BOX.left - BOX.right))));
    };
    box.addEventListener("pointerdown", (event) => { if (this.curve) { box.setPointerCapture(event.pointerId); seek(event); } });
    box.addEventListener("pointermove", (event) => { if (box.hasPointerCapture(event.pointerId)) seek(event); });
    box.addEventListener("pointerup", () => { if (this.curve) scrub(null); });
  }

  draw(curve) {
    this.curve = curve;
    const most = Math.max(...LINES.flatMap((name) => curve[name].map((value) => value ?? 0))) || 1;
    const up = (value) => BOX.height - BOX.bottom - (value / most) * (BOX.height - BOX.top - BOX.bottom);
    const floor = BOX.height - BOX.bottom;
    const jumps = curve.mixes.map((mix, at) => [mix, curve.moved[at], at]).filter(([, moved]) => moved > MOVED);
    this.up = up;
    this.hand = svg("g", { class: "hand" }, svg("line", { y1: BOX.top, y2: floor }), svg("circle", { r: 6 }));
    this.box.replaceChildren(svg("svg", { viewBox: `0 0 ${BOX.width} ${BOX.height}`, role: "img", "aria-label": this.describe(jumps) },
      svg("path", { class: "axis", d: `M${BOX.left},${BOX.top}V${floor}H${BOX.width - BOX.right}` }),
      label(number(most, 2), BOX.left - 8, BOX.top + 5, "end"), label("0", BOX.left - 8, floor + 4, "end"),
      label("words alone", BOX.left, BOX.height - 8, "start"), label("structure alone", BOX.width - BOX.right, BOX.height - 8, "end"),
      ...jumps.map(([, moved, at]) => svg("path", {
        class: "jump", d: `M${across((curve.mixes[at] + curve.mixes[at - 1]) / 2)},${floor}v-${6 + 26 * moved}`,
      }, svg("title", {}, `${percent(moved)} of the sentence goes elsewhere from λ = ${curve.mixes[at]} on`))),
      ...LINES.map((name) => svg("path", { class: `line ${name}`, d: path(curve, name, up) })), this.hand));
  }

  describe(jumps) {
    const { distances } = this.curve;
    return `Distance from ${number(distances[0])} with words alone to ${number(distances.at(-1))} with structure alone; the plan changes ${jumps.length} times.`;
  }

  // The step of the curve nearest to a mix, with the hand on it.
  point(mix) {
    const step = Math.round(mix * (this.curve.mixes.length - 1));
    const x = across(this.curve.mixes[step]);
    this.hand.setAttribute("transform", `translate(${x},0)`);
    this.hand.querySelector("circle").setAttribute("cy", this.up(this.curve.distances[step] ?? 0));
    byId("curve-at").textContent = `λ = ${this.curve.mixes[step].toFixed(2)}: distance ${number(this.curve.distances[step])}, `
      + `words ${number(this.curve.linear[step])}, structure ${number(this.curve.structural[step])}`;
    return step;
  }
}
