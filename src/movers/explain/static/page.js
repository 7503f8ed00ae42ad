// The page: reads what was found, draws it, and follows what is chosen.

import { byId, number } from "./elements.js";
import { readStructure, readWords } from "./reading.js";
import { arrange } from "./layout.js";
import { drawPanel } from "./flows.js";
import { drawBars, tellStory, tellVerdict, titles } from "./bars.js";
import { drawMaps } from "./heatmaps.js";
import { drawHeads } from "./heads.js";
import { drawAlignment } from "./alignment.js";
import { Lighting } from "./lighting.js";
import { goLive } from "./live.js";

const LONG = 200;

const lighting = new Lighting();
let payload = null;
let chosen = null;

const draw = () => {
  const words = readWords(payload);
  const structure = readStructure(payload, chosen);
  byId("found").hidden = false;
  byId("words-panel").hidden = !words?.flows.length;
  byId("structure-panel").hidden = byId("inside").hidden = !structure;
  byId("cost-legend").hidden = !payload.cost.length && !structure;
  byId("panels").classList.toggle("single", !words?.flows.length || !structure);
  byId("source").textContent = payload.source;
  byId("target").textContent = payload.target;
  byId("pair").classList.toggle("long", payload.source.length + payload.target.length > LONG);
  byId("signature").textContent = payload.signature;
  for (const [name, title] of Object.entries(titles(words, structure))) {
    byId(`${name}-panel`).querySelector("h2").textContent = title;
  }
  tellVerdict(payload);
  drawBars(words, structure, payload.far);
  tellStory(payload, words, structure);
  const limit = words?.chance || structure?.chance || 1;
  const far = structure && structure.sentence !== null ? structure.chance : limit;
  byId("cost-top").textContent = far === limit
    ? `${number(limit, 3)} (chance) or more` : `${number(limit, 3)} (words), ${number(far, 3)} (structure) or more`;
  const shown = [["words-panel", words], ["structure-panel", structure]].filter(([id]) => !byId(id).hidden);
  const width = Math.min(...shown.map(([id]) => byId(id).querySelector(".drawing").clientWidth));
  const layout = shown.length ? arrange(payload, width) : null;
  const panels = shown.map(([id, found]) => drawPanel(byId(id), payload, found, layout, found === structure ? far : limit));
  const cells = structure ? drawMaps(payload, structure) : [];
  if (structure) drawHeads(payload.structure, chosen, choose);
  drawAlignment(payload, words, structure);
  lighting.watch(payload, panels, cells);
};

let follow = () => {};

const choose = (heads) => {
  chosen = heads;
  draw();
  follow(heads === payload.structure.selected ? null : heads);
};

// Shows what was found; `view` are the heads to look at, or null for those of the distance.
const show = (found, view = null) => {
  payload = found;
  const heads = payload.structure?.heads ?? [];
  const known = (view ?? []).filter(([l, h]) => heads.some(({ layer, head }) => layer === l && head === h));
  chosen = known.length ? known : payload.structure?.selected;
  draw();
};

byId("reset").addEventListener("click", () => choose(payload.structure.selected));
addEventListener("beforeprint", () => { byId("details").open = true; });

let width = 0;
new ResizeObserver(() => {
  if (!payload || Math.abs(document.body.clientWidth - width) < 2) return;
  width = document.body.clientWidth;
  draw();
}).observe(document.body);

const exported = byId("payload");
if (exported) show(JSON.parse(exported.textContent));
else follow = goLive(show);
