// Dragging a word onto another of its sentence swaps the two; Alt and an arrow key do the same.

import { html } from "./elements.js";

const FAR = 6;
const STEP = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

const capital = (word) => word.slice(0, 1).toUpperCase() + word.slice(1);
const plainCase = (word) => word.slice(0, 1).toLowerCase() + word.slice(1);
const startsBig = (word) => /^\p{Lu}\p{Ll}*$/u.test(word);

// Two words change places; the capital at the start of a sentence stays where it is.
export const swapWords = (parts, one, other) => {
  const [first, second] = [one, other].map((word) => parts.findIndex(([, number]) => number === word));
  const [a, b] = [Math.min(first, second), Math.max(first, second)];
  let [early, late] = [parts[a][0], parts[b][0]];
  const opens = !parts.slice(0, a).some(([text]) => /\p{L}/u.test(text));
  if (opens && startsBig(early) && !startsBig(late)) [early, late] = [plainCase(early), capital(late)];
  return parts.map(([text], at) => ({ [a]: late, [b]: early })[at] ?? text).join("");
};

// Words of a stage that can be swapped; `swap` gets the side and the two words.
export const makeDraggable = (stage, swap) => {
  let held = null;
  const over = ({ clientX, clientY }) => {
    const node = document.elementFromPoint(clientX, clientY)?.closest(".word");
    const thing = stage.words.find((one) => one.node === node);
    return thing && thing.side === held.thing.side && thing.word !== held.thing.word ? thing : null;
  };
  const mark = (event) => {
    const aim = event && over(event);
    for (const { node } of stage.words) node.classList.toggle("aim", node === aim?.node);
  };
  const move = (event) => {
    if (!held) return;
    if (!held.ghost && Math.hypot(event.clientX - held.x, event.clientY - held.y) < FAR) return;
    if (!held.ghost) {
      held.ghost = html("div", { class: "ghost", "aria-hidden": "true" }, held.thing.full);
      document.body.append(held.ghost);
      held.thing.node.classList.add("held");
    }
    held.ghost.style.left = `${event.clientX}px`;
    held.ghost.style.top = `${event.clientY}px`;
    mark(event);
  };
  const drop = (event) => {
    if (!held) return;
    const { thing, ghost } = held;
    const aim = ghost && event.type === "pointerup" ? over(event) : null;
    mark(null);
    ghost?.remove();
    thing.node.classList.remove("held");
    held = null;
    if (aim) swap(thing.side, thing.word, aim.word);
    // The click that ends a drag is none.
    if (ghost) addEventListener("click", (click) => click.stopPropagation(), { capture: true, once: true });
    if (ghost) setTimeout(() => dispatchEvent(new Event("click")), 0);
  };
  document.addEventListener("pointermove", move);
  for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, drop);
  stage.drag = (thing) => {
    const { node, side, word } = thing;
    node.classList.add("movable");
    node.addEventListener("pointerdown", (event) => {
      if (event.button === 0) held = { thing, x: event.clientX, y: event.clientY };
    });
    node.addEventListener("keydown", (event) => {
      const next = word + STEP[event.key];
      if (!event.altKey || !stage.words.some((one) => one.side === side && one.word === next)) return;
      event.preventDefault();
      swap(side, word, next);
    });
  };
};
