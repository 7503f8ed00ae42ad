// The page: reads what was found, draws it, and follows what is chosen.

import { along, byId, html, number, plural, percent, rove } from "./elements.js";
import { byWords, readAttention, readLinks, readStep, readStructure, readTerms, readWords } from "./reading.js";
import { Stage, sayTotal, smallMoves } from "./stage.js";
import { readNearness, tellFormula, tellStory, tellUnread, tellVerdict } from "./verdict.js";
import { tellCause } from "./cause.js";
import { drawMaps } from "./heatmaps.js";
import { describeHeads, drawHeads, signHeads } from "./heads.js";
import { Curve } from "./curve.js";
import { drawAlignment, drawLinks } from "./alignment.js";
import { Lighting } from "./lighting.js";
import { makeDraggable, swapWords } from "./swapping.js";
import { offerSharing } from "./sharing.js";
import { goLive } from "./live.js";

const PRINTED = 16;
const LETTERS = ["B", "C"];

// The explanations of an answer: one, or the two of a contrast.
const pairsOf = (found) => (found.first ? [found.first, found.second] : [found]);

const GRAVE = ["roles", "negation", "opposite", "number", "name"];

// The pair to open on: the first where something happens.
const eventful = (found) => Math.max(0, pairsOf(found).findIndex(({ differences }) => differences.some(({ kind }) => GRAVE.includes(kind))));

class Page {
  constructor() {
    this.lighting = new Lighting();
    this.stage = new Stage(byId("stage"), this.lighting);
    this.lighting.stage = this.stage;
    this.lighting.followers.push(() => this.tellCause());
    this.curve = new Curve(byId("curve"), (mix) => this.live?.scrub(mix));
    Object.assign(this, { found: null, place: 0, mode: "structure", all: false, alone: false, curves: null, step: null });
    this.listen();
  }

  listen() {
    for (const button of byId("modes").children) {
      button.addEventListener("click", () => this.turn(button.value));
    }
    const toggles = { all: "small", alone: "lonely" };
    for (const [name, id] of Object.entries(toggles)) {
      byId(id).addEventListener("click", () => { this[name] = !this[name]; this.drawStage(); });
    }
    rove([...byId("modes").children], along(3));
    rove([...byId("share").querySelectorAll("button")], along(5));
    byId("reset").addEventListener("click", () => this.choose(this.payload.structure.selected));
    addEventListener("beforeprint", () => { byId("details").open = byId("alignment").rows.length <= PRINTED; });
    new ResizeObserver(() => {
      if (this.found && Math.abs(document.body.clientWidth - this.width) >= 2) this.draw();
    }).observe(document.body);
  }

  get payload() { return pairsOf(this.found)[this.place]; }

  get letter() { return LETTERS[this.place]; }

  // Shows what was found; `view` are the heads to look at, null for those of the distance.
  show(found, { view = null, place = null, curves = null } = {}) {
    this.found = found;
    this.place = Math.min(place ?? eventful(found), pairsOf(found).length - 1);
    const heads = this.payload.structure?.heads ?? [];
    const known = (view ?? []).filter(([l, h]) => heads.some(({ layer, head }) => layer === l && head === h));
    this.chosen = known.length ? known : null;
    Object.assign(this, { curves, step: null });
    this.draw();
  }

  // Takes the curves of all pairs, which come after the rest.
  take(curves, mix) {
    this.curves = curves;
    this.drawCurve(mix);
  }

  // Goes along the curve; false where there is none yet.
  scrub(mix) {
    if (!this.curves || this.chosen) return false;
    this.step = this.curve.point(mix);
    this.mode = "structure";
    this.readViews();
    this.drawNumbers();
    this.drawStage();
    return true;
  }

  choose(heads) {
    this.chosen = heads === this.payload.structure.selected ? null : heads;
    this.step = null;
    this.draw();
    this.live?.follow(this.chosen, this.place);
  }

  pick(place) {
    this.place = place;
    this.draw();
    byId("pairs").querySelectorAll(".pick")[place].focus();
    this.live?.follow(this.chosen, place);
  }

  structureOf(payload, place, chosen) {
    const found = readStructure(payload, chosen ?? payload.structure?.selected);
    return found && this.step !== null ? readStep(payload, found, this.curves[place], this.step) : found;
  }

  readViews() {
    const { payload } = this;
    this.words = readWords(payload);
    this.structure = this.structureOf(payload, this.place, this.chosen);
    this.links = readLinks(payload);
  }

  draw() {
    const { payload } = this;
    byId("found").hidden = false;
    this.width = document.body.clientWidth;
    this.readViews();
    this.lighting.pin(null);
    const { structure } = this;
    this.drawTexts();
    this.drawNumbers();
    this.drawStage();
    byId("inside").hidden = !structure;
    for (const node of document.querySelectorAll(".letter")) node.textContent = this.letter;
    this.readInside();
    if (structure) {
      drawHeads(payload.structure, this.chosen ?? payload.structure.selected, (heads) => this.choose(heads));
      this.lighting.watch(this.inside ? drawMaps(payload, this.inside, this.letter) : []);
    }
    this.tellCause();
    this.drawCurve(payload.structure?.mix);
  }

  drawTexts() {
    const texts = [this.payload.source, ...pairsOf(this.found).map(({ target }) => target)];
    byId("pair").replaceChildren(...texts.flatMap((text, at) => [
      html("dt", {}, "ABC"[at]), html("dd", { dir: "auto", id: ["source", "target", "other"][at] }, text)]));
  }

  // Verdict and numbers of all pairs; other heads are told below, for they are not the distance.
  drawNumbers() {
    const { payload, structure, chosen } = this;
    const pairs = pairsOf(this.found).map((one, place) => ({
      payload: one, place, shown: place === this.place, nearness: readNearness(one, this.structureOf(one, place, null)),
    }));
    tellVerdict(this.found, pairs, (place) => this.pick(place));
    tellUnread(pairsOf(this.found));
    tellStory(payload, this.letter);
    tellFormula(this.structureOf(payload, this.place, null));
    byId("signature").textContent = signHeads(payload, chosen ?? payload.structure?.selected)
      .replace(/mix:[^|]*/, (mix) => (this.step === null ? mix : `mix:${this.curves[this.place].mixes[this.step]}`));
    byId("one-head").hidden = !chosen;
    if (chosen) {
      const what = chosen.length > 1 ? "some heads" : "one head";
      byId("one-head-text").textContent = `${describeHeads(chosen)} alone: ${number(structure.distance)}. `
        + `This is ${what}, not the distance (${number(payload.structure.distance)}).`;
    }
  }

  // Links are asked for when somebody wants to see them.
  turn(mode) {
    this.mode = mode;
    if (mode === "links" && !this.payload.links) { this.live.answer(); return; }
    this.drawStage();
    this.live?.writeUrl();
  }

  // Words, structure or links on the stage, whichever was asked for and exists.
  drawStage() {
    const { payload, words, structure, links } = this;
    const has = { words: Boolean(words?.flows.length), structure: Boolean(structure), links: Boolean(links) };
    const mode = [this.mode, "structure", "words", "links"].find((one) => has[one]);
    byId("stage-part").hidden = !mode;
    if (mode !== "links") drawAlignment(payload, words, structure);
    if (!mode) return;
    for (const button of byId("modes").children) {
      button.setAttribute("aria-pressed", String(button.value === mode));
      button.disabled = !has[button.value] && !(button.value === "links" && this.live);
    }
    byId("stage-title").textContent = `A and ${this.letter}`;
    byId("cost-ramp").className = `ramp ${mode === "links" ? "look" : "cost"}`;
    byId("reasons").hidden = mode === "links";
    this.lighting.pin(null);
    if (mode === "links") this.stageLinks();
    else this.stagePlan(mode);
  }

  stageLinks() {
    const { links } = this;
    const alone = links.lost.source.length + links.lost.target.length;
    this.stage.show(links.payload, links, { limit: 1, all: true, alone: false });
    byId("small").hidden = true;
    byId("lonely").hidden = true;
    byId("stage-sum").textContent = `${plural(links.flows.length, "link")}; ${plural(alone, "word")} ${alone === 1 ? "matches" : "match"} nothing.`;
    byId("cost-low").textContent = "not sure";
    byId("cost-top").textContent = "sure";
    drawLinks(links);
  }

  stagePlan(mode) {
    const { payload, words, structure } = this;
    const found = mode === "words" ? words : structure;
    const unit = mode === "structure" && structure.sentence !== null ? payload.far : found.chance;
    const size = Math.max(payload.source_words.length, payload.target_words.length);
    const limit = (unit || 1) / size;
    this.stage.show(payload, found, { limit, all: this.all, alone: this.alone });
    const small = smallMoves(payload, found.flows);
    byId("small").hidden = !small.count;
    byId("small").textContent = `${plural(small.count, "small move")}, ${percent(small.mass)}`;
    byId("small").setAttribute("aria-pressed", String(this.all));
    byId("lonely").setAttribute("aria-pressed", String(this.alone));
    byId("lonely").hidden = !payload.cost.length;
    const total = mode === "words" ? ["The words cost", words.distance, words.chance, "chance"]
      : ["The moves pay", structure.distance - (structure.sentence ?? 0) - (structure.home ?? 0), structure.sentence === null ? structure.chance : structure.distance,
        structure.sentence === null ? "chance" : "the distance"];
    byId("stage-sum").textContent = `${sayTotal(...total)}.`;
    byId("cost-low").textContent = "pays 0";
    byId("cost-top").textContent = `${number(limit, 3)} or more`;
  }

  // Attention of the heads shown, and what its differences cost; none for too many words.
  readInside() {
    const { payload, structure } = this;
    this.inside = null;
    if (!structure || !structure.heads.every((head) => head.source_attention && head.target_attention)) return;
    const attention = readAttention(payload, structure.heads);
    const flows = readStructure(payload, this.chosen ?? payload.structure.selected).flows;
    const terms = readTerms(payload, flows, structure.heads);
    this.inside = { ...attention, paid: byWords(terms, payload.source_words.length), terms };
  }

  tellCause() {
    if (!this.found) return;
    const { inside, structure } = this;
    const view = { terms: inside?.terms, attention: inside, distance: structure?.distance, whole: structure?.whole };
    const pinned = this.stage.found?.lost ? null : this.lighting.pinned?.flow;
    const flow = pinned && structure?.flows.find(({ i, j }) => i === pinned.i && j === pinned.j);
    tellCause(this.payload, view, this.letter, flow);
  }

  drawCurve(mix) {
    byId("curve-part").hidden = !this.curves;
    if (!this.curves) return;
    this.curve.draw(this.curves[this.place]);
    const step = this.curve.point(mix);
    if (this.step !== null) this.step = step;
  }

  swap(side, one, other) {
    const name = side === "source" ? "source" : ["target", "other"][this.place];
    this.live.swap(name, swapWords(this.stage.payload[`${side}_parts`], one, other));
  }

  // The question that an exported page answers.
  question() {
    const { source, target, settings } = pairsOf(this.found)[0];
    const { method, layers = null, heads = "all", mix = 0.5, recipe } = settings;
    const other = this.found.second?.target;
    return { source, target, ...other ? { other } : {}, ...this.links ? { links: true } : {}, method, layers, heads, mix: Number(mix), recipe };
  }
}

const page = new Page();
const exported = byId("payload");
if (exported) {
  page.mode = "links";  // if somebody asked for them
  page.show(JSON.parse(exported.textContent));
  offerSharing(page.stage, () => page.question(), null);
} else {
  makeDraggable(page.stage, (side, one, other) => page.swap(side, one, other));
  page.live = goLive(page);
  offerSharing(page.stage, () => page.live.question(), { page: () => page.live.download() });
}
