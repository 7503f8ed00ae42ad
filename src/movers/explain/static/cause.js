// The cause: which relations between words cost most, of the whole distance or of one flow.

import { byId, html, percent, price, quoted } from "./elements.js";
import { dearest } from "./reading.js";
import { sayFlow, sayWhole } from "./stage.js";
import { named } from "./verdict.js";

const MOST = 8;
const SLIGHT = 0.01;

// Similarity that structure takes away; nothing is said of relations that take next to none.
const taken = ({ far, structure }) => (far && structure.sentence !== null ? (structure.distance - structure.sentence) / far : 1);

// Who does what in either sentence, or that it is not for relations that they differ.
const sayCause = (payload, letter) => {
  if (!payload.differences.length && payload.structure.distance === 0) return "Nothing differs.";
  if (taken(payload) < SLIGHT) return "Structure adds next to nothing: the words or the topic differ.";
  const roles = payload.differences.find(({ kind }) => kind === "roles");
  if (roles) return named(roles.text, letter);
  const moved = payload.differences.some(({ kind }) => kind === "reordered");
  return moved ? "The words stand in another order, and who does what stays the same." : "Words look at others than their partners do.";
};

const term = (payload, { attention, distance, whole }, letter, { looks, at, cost }) => {
  const { source_words: a, target_words: b } = payload;
  const inSource = attention.source[looks.i * a.length + at.i];
  const inTarget = attention.target[looks.j * b.length + at.j];
  const first = [a[looks.i], a[at.i]];
  const second = [b[looks.j], b[at.j]];
  const alike = first.every((word, place) => word === second[place]);
  const look = ([one, other]) => [html("em", {}, quoted(one)), " looks at ", html("em", {}, quoted(other)), " "];
  return html("li", {},
    html("p", {}, ...look(first), html("b", {}, percent(inSource)), " in A, ",
      ...alike ? [] : look(second), html("b", {}, percent(inTarget)), ` in ${letter}`),
    html("p", { class: "cost" }, html("b", {}, price(cost)), distance ? `, ${percent(cost / distance)} of ${sayWhole(payload, true, whole)}` : ""));
};

// Lists the dearest terms: of a flow if one is chosen, or else of all.
export const tellCause = (payload, view, letter, flow) => {
  const { terms } = view;
  byId("cause").hidden = !terms;
  if (!terms) return;
  byId("cause-said").textContent = sayCause(payload, letter);
  const slight = taken(payload) < SLIGHT && !flow;
  byId("relations").hidden = slight;
  if (slight) return;
  if (flow) byId("relations").open = true;
  const own = flow ? terms.flows.findIndex(({ i, j }) => i === flow.i && j === flow.j) : null;
  const found = own === -1 ? [] : dearest(terms, MOST, own);
  byId("cause-of").textContent = flow
    ? `${sayFlow(payload, flow, view)}. Its dearest relations, each shared with the move of the other word:`
    : `Relations that the plan breaks, dearest first, with their share of ${sayWhole(payload, true, view.whole)}:`;
  byId("terms").replaceChildren(...found.length
    ? found.map((one) => term(payload, view, letter, one))
    : [html("li", { class: "none" }, "None: no relation between words costs anything here.")]);
};
