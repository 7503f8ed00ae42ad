"""The page in a real browser: what it shows is what the library says, and nothing goes wrong."""

import json
import random
import re
import shlex
import shutil
import urllib.request
from importlib.resources import files
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
import pytest
from servers import serving

import movers
from movers.explain.relations import broken_relations
from movers.explain.summary import tell_judgement

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")
FLAGS = """--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync"""
SWAP = "A dog bites a man.", "A man bites a dog."
PRESS = (
    "The press greets the president.",
    "The president is welcomed by the press.",
    "The president greets the press.",
)
OBAMA = "Obama speaks to the media in Illinois.", "The press greets the President in Chicago."
HOSTILE = (
    '<img src=x onerror="document.title=1"> & </script> fox',
    "<b>שלום</b> 👩‍👩‍👧 \u202eworld 😀",
)
LONG = tuple(
    " ".join(f"{word} of {word}" for word in words.split())
    for words in (
        "rivers mountains stones clouds gardens letters doctors",
        "oceans forests carpets thunder kitchens envelopes nurses",
    )
)
MEASURES = ("movers", "wsmd-wrd", "movers", "smd", "wmd")


def random_sentences(count):
    """Sentences of a few words each, the same every time."""
    chosen = random.Random(5)
    people = ["teacher", "doctor", "painter", "sailor", "judge", "neighbour"]
    verbs = ["thanked", "followed", "invited", "ignored", "paid"]
    places = ["in the garden", "at the harbour", "on Monday", "without a word"]
    return [
        f"The {chosen.choice(people)} {chosen.choice(verbs)} the {chosen.choice(people)} "
        f"{chosen.choice(places)}."
        for _ in range(count)
    ]


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        yield opened
        opened.close()


@pytest.fixture
def tab(browser):
    """A tab in which every message, error and request is kept."""
    opened = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    opened.said, opened.asked = [], []
    opened.on("console", lambda message: opened.said.append(message.text))
    opened.on("pageerror", lambda error: opened.said.append(str(error)))
    opened.on("request", lambda request: opened.asked.append(request))
    opened.set_default_timeout(60_000)
    yield opened
    opened.close()


@pytest.fixture
def server(program):
    """The address of a running server."""
    return program.url


@pytest.fixture(scope="module")
def scorer():
    return movers.load()


@pytest.fixture(scope="module")
def wsmd(scorer):
    return scorer.using("wsmd")


@pytest.fixture(scope="module")
def axe():
    """The checker of accessibility, to be run in a page."""
    package = pytest.importorskip("axe_playwright_python")
    return (files(package) / "axe.min.js").read_text("utf-8")


def show(tab, explanation, tmp_path):
    """Open the exported page of an explanation from the disk."""
    path = tmp_path / "page.html"
    path.write_text(explanation.to_html(), "utf-8")
    tab.goto(path.as_uri())
    tab.wait_for_selector("#found:not([hidden])")
    settle(tab)


def settle(tab):
    """Wait until the page has drawn itself for the size of its window."""
    tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def open_live(tab, server, **state):
    tab.goto(f"{server}?{urlencode(state)}")
    ready(tab)


def ready(tab):
    """Wait until the last question has its answer."""
    tab.wait_for_selector("#found[aria-busy=false]:not([hidden])")


def put(tab, **fields):
    """Write into the form at once, as an answer to a single event."""
    change = """(fields) => {
      const form = document.querySelector("#ask");
      for (const [name, value] of Object.entries(fields)) form.elements[name].value = value;
      form.elements.source.dispatchEvent(new Event("input", { bubbles: true }));
      form.elements.source.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
    }"""
    tab.evaluate(change, fields)
    ready(tab)


def address(tab):
    """Where the page says it is; `tab.url` follows a little later."""
    return tab.evaluate("location.href")


def post(server, path, question):
    body = json.dumps(question).encode()
    request = urllib.request.Request(
        f"{server}/v1/{path}", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def posted(tab, path):
    """The bodies of requests for a path."""
    return [json.loads(one.post_data) for one in tab.asked if one.url.endswith(f"/v1/{path}")]


def numbers(tab):
    """What is shown of every pair: without structure if that is there, and with it."""
    return [row.split(" → ") for row in tab.locator(".figures").all_inner_texts()]


def expected_numbers(found):
    """The same from a comparison."""
    if found.far is not None:
        shown = [found.alike(found.sentence), found.similarity]
        return [f"{value:.2f}" for value in shown]
    distances = [found.distance]
    payload = found.to_dict() if not found.heads else explained_words(found)
    if payload.get("words"):
        distances.insert(0, payload["words"]["distance"])
    return [f"{value:.{2 if value > 10 else 4}f}" for value in distances]


def explained_words(found):
    from movers.explain.explanation import Explanation

    return Explanation(found, found).to_dict()


def signed(tab, setting):
    """Wait until the page shows a result with this setting."""
    tab.wait_for_selector(f"#signature:has-text('{setting}')")


def cells(tab, name):
    """The percentages of a map."""
    texts = tab.locator(f"#{name} tbody td span").all_inner_texts()
    return np.array([float(text.replace("−", "-")) for text in texts])


def table(tab):
    """The alignment as the table shows it: words to percent with structure."""
    tab.evaluate("document.querySelector('#details').open = true")
    rows = tab.locator("#alignment tbody tr").all()
    shown = [row.locator("th, td").all_inner_texts() for row in rows]
    return {(source, target): shares for source, target, *shares in shown}


def test_verdict_and_numbers_of_pairs_are_those_of_library_and_api(tab, server, scorer):
    texts = random_sentences(20)
    open_live(tab, server, source=texts[0], target=texts[1])
    for place, pair in enumerate(zip(texts[::2], texts[1::2], strict=True)):
        measure = MEASURES[place % len(MEASURES)]
        put(tab, source=pair[0], target=pair[1], method=measure)
        found = scorer.using(measure).compare(*pair)
        api = post(server, "compare", {"source": pair[0], "target": pair[1], "method": measure})
        assert api["distance"] == pytest.approx(found.distance, abs=1e-9)
        assert numbers(tab) == [expected_numbers(found)], pair
        if found.verdict:
            assert tab.inner_text("#said").replace("\n", " ") == found.verdict == api["verdict"]
        assert tab.inner_text("#signature") == str(found.signature) == api["signature"]
    assert tab.said == []


def test_verdict_and_numbers_of_triplets_are_those_of_library_and_api(tab, server, scorer):
    texts = [*PRESS, *random_sentences(12)]
    open_live(tab, server, source=texts[0], target=texts[1], other=texts[2])
    for place, start in enumerate(range(0, 15, 3)):
        source, target, other = texts[start : start + 3]
        measure = ("movers", "wsmd-wrd")[place % 2]
        put(tab, source=source, target=target, other=other, method=measure)
        found = scorer.using(measure).contrast(source, target, other)
        question = {"source": source, "target": target, "other": other, "method": measure}
        assert tab.inner_text("#said") == found.verdict
        assert found.verdict == post(server, "contrast", question)["verdict"]
        pairs = [found.first.comparison, found.second.comparison]
        assert numbers(tab) == [expected_numbers(one) for one in pairs]
        told = tab.locator(".told").all_text_contents()
        assert told == [one.verdict or "" for one in pairs]
    tab.click("[aria-label='Look at A and C']")
    assert tab.inner_text("#stage-title") == "A AND C" and "look=C" in address(tab)
    assert tab.said == []


def test_dragging_a_word_onto_another_swaps_them(tab, server, scorer):
    open_live(tab, server, source=PRESS[0], target=PRESS[0])
    assert tab.inner_text("#said").startswith("The same:")
    words = tab.locator("#stage .word")
    words.nth(9).scroll_into_view_if_needed()
    start, end = (words.nth(place).locator("text").bounding_box() for place in (6, 9))
    middle = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in (start, end)]
    tab.mouse.move(*middle[0])
    tab.mouse.down()
    tab.mouse.move(*middle[1], steps=4)
    assert tab.locator(".word.aim").count() == 1 and tab.inner_text(".ghost") == "press"
    with tab.expect_response("**/v1/explain"):
        tab.mouse.up()
    ready(tab)
    assert tab.input_value("[name=target]") == "The president greets the press."
    found = scorer.compare(PRESS[0], PRESS[2])
    assert tab.inner_text("#said").replace("\n", " ") == found.verdict
    tab.locator("#stage .word").nth(0).focus()
    with tab.expect_response("**/v1/explain"):
        tab.keyboard.press("Alt+ArrowRight")
    ready(tab)
    assert tab.input_value("[name=source]") == "Press the greets the president."
    assert tab.said == []


def test_the_curve_is_eleven_requests_in_one(tab, server):
    question = {"source": PRESS[0], "target": PRESS[1], "method": "wsmd-wrd"}
    curve = post(server, "curve", {**question, "steps": 11})
    apart = [post(server, "compare", {**question, "mix": mix}) for mix in curve["mixes"]]
    for name, part in (("distances", "distance"), ("linear",) * 2, ("structural",) * 2):
        assert curve[name] == pytest.approx([one[part] for one in apart], abs=1e-12)
    open_live(tab, server, **question)
    tab.wait_for_selector("#curve-part:not([hidden])")
    tab.asked.clear()
    scrub = """(value) => {
      const slider = document.querySelector("[name=mix]");
      slider.value = value;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    }"""
    for one in apart:
        tab.evaluate(scrub, str(one["mix"]))
        assert numbers(tab)[0][1] == f"{one['distance']:.4f}"
        shown = f"distance {one['distance']:.4f}, words {one['linear']:.4f}"
        assert shown in tab.inner_text("#curve-at")
        assert f"mix:{one['mix']:g}" in tab.inner_text("#signature")
        drawn = sum(map(sum, (row for row in np.array(one["plan"]) > 0.02)))
        assert tab.locator("#stage .flow").count() == drawn
    assert tab.asked == []
    tab.evaluate(
        "document.querySelector('[name=mix]').dispatchEvent(new Event('change', {bubbles: true}))"
    )
    signed(tab, "mix:1.0")
    assert [body["attention"] for body in posted(tab, "explain")] == [False]
    assert tab.locator("#source-map tbody td").count() == 9  # what was sent before is still there
    assert tab.said == []


def through_plan(found):
    """B's attention as A's words see it through the plan, mean over heads: P B P^T."""
    moved = found.plans.sum(axis=2, keepdims=True)
    shares = np.divide(found.plans, moved, out=np.zeros_like(found.plans), where=moved > 0)
    seen = shares @ found.target_attention @ shares.swapaxes(1, 2)
    return seen.mean(axis=0)


@pytest.mark.parametrize("method", ["movers", "wsmd"])
def test_the_difference_map_is_what_the_plan_leaves_between_the_attentions(
    tab, scorer, tmp_path, method
):
    chosen = scorer.using(method)
    show(tab, chosen.explain(*PRESS[:2]), tmp_path)
    found = chosen.compare(*PRESS[:2])
    for _ in range(2):
        own, seen = found.source_attention.mean(axis=0), through_plan(found)
        for name, values in (
            ("source-map", own),
            ("target-map", seen),
            ("difference-map", own - seen),
        ):
            np.testing.assert_allclose(cells(tab, name), 100 * values.ravel(), atol=0.8)
        tab.click("[data-heads='4.7']")
        found = chosen.using(layers=4, heads=7).compare(*PRESS[:2])
    assert tab.said == []


def test_the_cause_lists_the_terms_of_the_library(tab, scorer, tmp_path):
    found = scorer.compare(PRESS[0], PRESS[2])
    show(tab, scorer.explain(PRESS[0], PRESS[2]), tmp_path)
    assert not tab.locator("#terms").is_visible()
    tab.click("#relations summary")
    told = tab.locator("#terms li").all_inner_texts()
    for text, broken in zip(told, broken_relations(found), strict=False):
        assert f"{broken.source[0]} looks at {broken.source[1]}" in text
        share = float(re.search(r"([\d.]+)\s% of the distance", text)[1])
        assert share == pytest.approx(100 * broken.share, rel=0.02, abs=0.6)
    tab.locator("#stage .flow").nth(4).dispatch_event("click")
    assert "of the distance. Its dearest relations" in tab.inner_text("#cause-of")
    mass = float(re.search(r"pays ([\d.]+)", tab.inner_text("#cause-of"))[1])
    assert 0 < mass < found.distance
    tab.keyboard.press("Escape")
    assert "Relations that the plan breaks" in tab.inner_text("#cause-of")
    show(tab, scorer.explain(*[PRESS[0]] * 2), tmp_path)
    assert tab.inner_text("#cause-said") == "Nothing differs."
    assert not tab.locator("#relations").is_visible()
    assert tab.said == []


def test_one_head_is_told_from_the_distance(tab, wsmd, tmp_path):
    show(tab, wsmd.explain(*OBAMA), tmp_path)
    whole = wsmd.compare(*OBAMA)
    tab.click("[data-heads='4.7']")
    one = wsmd.using(layers=4, heads=7).compare(*OBAMA)
    assert tab.inner_text("#one-head") == (
        f"layer 4, head 7 alone: {one.distance:.4f}. This is one head, not the distance "
        f"({whole.distance:.4f})."
    )
    assert tab.inner_text("#signature") == str(one.signature)
    assert numbers(tab)[0][1] == f"{whole.distance:.4f}"
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Enter")
    assert "layer 4, head 8 alone" in tab.inner_text("#one-head")
    tab.click("button.layer >> nth=2")
    layer = wsmd.using(layers=3).compare(*OBAMA)
    assert f"alone: {layer.distance:.4f}. This is some heads" in tab.inner_text("#one-head")
    tab.click("#reset")
    assert tab.locator("#one-head").is_hidden()
    assert tab.inner_text("#signature") == str(whole.signature)
    assert tab.said == []


def test_the_export_holds_everything_and_asks_for_nothing(tab, wsmd, tmp_path):
    show(tab, wsmd.explain(*OBAMA), tmp_path)
    both = wsmd.compare(*OBAMA)
    assert tab.text_content("#formula") == (
        f"{both.distance:.4f} = 0.50 × {both.linear:.4f} words"
        f" + 0.50 × {both.structural:.4f} structure"
    )
    shown = table(tab)
    for flow in both.alignment:
        _, shared, cost, *_ = shown[flow.source, flow.target]
        digits = 1 if flow.mass < 0.0995 else 0
        assert shared == f"{flow.mass * 100:.{digits}f}\N{NO-BREAK SPACE}%"
        assert cost == f"{flow.cost:.4f}"
    assert [one.url for one in tab.asked] == [tab.url] and tab.said == []


def story_of(found):
    """What the page tells of two sentences: the judge first."""
    return [tell_judgement(found)["text"], *found.story]


def test_a_contrast_is_exported_whole(tab, scorer, tmp_path):
    found = scorer.contrast(*PRESS)
    show(tab, found, tmp_path)
    assert tab.inner_text("#said") == found.verdict
    assert tab.title() == " | ".join(PRESS)
    assert tab.inner_text("#stage-title") == "A AND C"  # where roles are exchanged
    story = [line.replace(" B: ", " C: ") for line in story_of(found.second.comparison)]
    assert tab.locator("#story li").all_inner_texts() == story
    assert tab.inner_text("#cause-said") == story[1] and "C: The president" in story[1]
    tab.click("[aria-label='Look at A and B']")
    assert tab.locator("#story li").all_inner_texts() == story_of(found.first.comparison)
    tab.click("[aria-label='Look at A and C']")
    assert tab.inner_text("#difference-low").endswith("more in C")
    assert tab.said == []


TOLD = {
    "roles": (*SWAP, "Same words, other roles: "),
    "reworded": ("A car stopped.", "An automobile stopped.", "Alike, but for some words: "),
    "denied": ("The drug is safe.", "The drug is not safe.", "Alike, but one denies it: "),
    "unrelated": ("The orchestra tuned its instruments.", "Rain is expected.", "Unrelated: "),
    "same": (SWAP[0], SWAP[0], "The same: 1.00 alike."),
}


@pytest.mark.parametrize("kind", TOLD)
def test_the_default_measure_leads_with_a_verdict_and_tells_its_parts(tab, scorer, tmp_path, kind):
    source, target, headline = TOLD[kind]
    show(tab, scorer.explain(source, target), tmp_path)
    found = scorer.compare(source, target)
    verdict = tab.inner_text("#said").replace("\n", " ")
    assert verdict == found.verdict and verdict.startswith(headline)
    assert "unrelated sentences" in tab.inner_text("#scale") + tab.inner_text("#anchors")
    assert tab.get_attribute("#scale", "title") and tab.get_attribute("#said", "aria-describedby")
    assert tab.locator("#story li").all_inner_texts() == story_of(found)
    assert not tab.locator("#figures").is_visible()
    tab.click("#words-part summary")
    assert tab.locator("#figures li").all_inner_texts() == list(found.figures)
    if found.gate:
        assert tab.inner_text("#formula") == (
            f"{found.distance:.4f} = {found.sentence:.4f} sentence"
            f" + {found.gate:.2f} × {found.structural:.4f} structure"
        )
    assert tab.said == []


def test_words_and_cells_are_read_at_the_pointer_and_by_keyboard(tab, wsmd, tmp_path):
    expect = pytest.importorskip("playwright.sync_api").expect
    show(tab, wsmd.explain(*SWAP), tmp_path)
    cell = tab.locator("#difference-map tbody td >> nth=1")
    cell.hover()
    expect(tab.locator("#tip")).to_have_text(re.compile("^dog looks at bites"))
    box, tip = cell.bounding_box(), tab.locator("#tip").bounding_box()
    assert abs(tip["y"] - box["y"]) < 120 and abs(tip["x"] - box["x"]) < 120
    assert tab.locator("#source-map td.lit").count() == 1
    tab.mouse.move(0, 0)  # or the cell would scroll away from the pointer at a moment of its own
    tab.locator("#stage .word >> nth=0").focus()
    tab.keyboard.press("ArrowRight")
    expect(tab.locator("#tip")).to_have_text(re.compile("^bites goes to bites"))
    assert tab.locator("#stage .word.lit").count() >= 2
    tab.keyboard.press("Escape")
    assert tab.locator(".lit").count() == 0
    assert tab.locator("#stage path[tabindex]").count() == 0


def test_flows_move_between_words_and_structure_and_small_ones_are_folded(tab, wsmd, tmp_path):
    expect = pytest.importorskip("playwright.sync_api").expect
    tab.emulate_media(reduced_motion="no-preference")
    show(tab, wsmd.using(mix=0.9).explain(*OBAMA), tmp_path)
    found, words = wsmd.using(mix=0.9).compare(*OBAMA), wsmd.using("wrd").compare(*OBAMA)
    flows = tab.locator("#stage .flow")
    assert flows.count() == (found.plan > 0.02).sum()
    small = ((found.plan > 1e-5) & (found.plan < 0.02)).sum()
    assert tab.inner_text("#small").startswith(f"{small} small move")
    tab.click("#small")
    assert flows.count() == (found.plan > 1e-5).sum()
    tab.click("#modes [value=words]")
    expect(flows).to_have_count(int((words.plan > 1e-5).sum()))
    tab.click("#lonely")
    assert tab.locator("#stage .word.lost").count() > 0
    assert tab.said == []


@pytest.mark.parametrize("pair", [HOSTILE, LONG], ids=["hostile", "long"])
def test_any_text_fits_any_screen(tab, scorer, tmp_path, pair):
    show(tab, scorer.explain(*pair), tmp_path)
    for width in (1280, 800, 390):
        tab.set_viewport_size({"width": width, "height": 800})
        settle(tab)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.inner_text("#source") == pair[0]
    assert tab.locator("#found img, #found b b, #found script").count() == 0
    assert tab.title() == " | ".join(pair)
    assert tab.said == []


@pytest.mark.parametrize("method", ["wmd", "smd", "lambda-wrd", "bow", "bertscore"])
def test_measures_of_every_kind_are_shown(tab, wsmd, tmp_path, method):
    chosen = wsmd.using(method)
    show(tab, chosen.explain(*OBAMA), tmp_path)
    expected = chosen.compare(*OBAMA).distance
    assert numbers(tab)[0][-1] == (f"{expected:.2f}" if expected > 10 else f"{expected:.4f}")
    assert tab.locator("#inside").is_visible() == (method in ("smd", "lambda-wrd"))
    assert tab.said == []


def test_what_the_model_does_not_read_is_told(tab, bert, tmp_path):
    long = " ".join(["the quick fox"] * 300)
    with pytest.warns(UserWarning, match="lost their end"):
        found = bert.compare(long, "the quick fox")
    assert found.source_unread and long.endswith(found.source_unread)
    show(tab, found, tmp_path)
    assert "of A, from “" in tab.inner_text("#unread")
    assert tab.inner_text("#unread").endswith("not compared.")


def test_print_is_light_and_takes_two_pages(tab, scorer, tmp_path):
    tab.emulate_media(color_scheme="dark")
    show(tab, scorer.contrast(*PRESS), tmp_path)
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab.emulate_media(media="print")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(252, 251, 248)"
    assert tab.locator("#alignment tbody tr").first.is_visible()
    assert len(re.findall(rb"/Type\s*/Page\b", tab.pdf(prefer_css_page_size=True))) == 2


def test_a_notebook_frame_draws(tab, wsmd):
    tab.set_content(wsmd.compare(*SWAP)._repr_html_())
    inside = tab.frame_locator("iframe")
    assert inside.locator(".figures .whole").inner_text() == f"{wsmd.compare(*SWAP).distance:.4f}"
    assert tab.said == []


def test_the_address_holds_the_state(tab, server):
    open_live(tab, server)
    # three sentences, if nothing is said
    assert tab.input_value("[name=other]") == "The lawyer questioned the judge."
    assert tab.locator("[name=mix]").is_disabled()
    tab.click("#examples button >> nth=2")
    tab.click("#drop")
    tab.select_option("[name=method]", "wsmd-wmd")
    tab.click("#settings summary")
    tab.fill("[name=layers]", "3-4")
    signed(tab, "layers:3-4")
    tab.click("[data-heads='3.1']")
    query = {name: value[0] for name, value in parse_qs(urlsplit(address(tab)).query).items()}
    assert query == {
        "source": "The cat chased the mouse.",
        "target": "The mouse was chased by the cat.",
        "method": "wsmd-wmd",
        "layers": "3-4",
        "view": "3.1",
    }
    before = tab.inner_text("#verdict")
    shared = address(tab)
    tab.goto("about:blank")
    tab.goto(shared)
    signed(tab, "layers:3")
    assert tab.inner_text("#verdict") == before and address(tab) == shared
    assert {urlsplit(one.url).netloc for one in tab.asked if one.url.startswith("http")} == {
        urlsplit(server).netloc
    }
    assert tab.said == []


def test_trouble_is_told_in_the_words_of_the_controls_and_passes(tab, server):
    open_live(tab, server, source=PRESS[0], target=PRESS[1], method="wsmd-wrd")
    tab.fill("[name=source]", "the of")
    tab.wait_for_selector("#trouble:not([hidden])")
    told = "A has no words left after stop-word removal ('the of'); set Stop words to kept."
    assert tab.inner_text("#trouble-text") == told
    tab.click("#settings summary")
    tab.select_option("[name=stopwords]", "none")
    tab.wait_for_selector("#trouble", state="hidden")
    signed(tab, "stopwords:none")
    assert [text for text in tab.said if "422" not in text] == []


def test_methods_that_lack_something_here_rest_with_the_reason(tab, server):
    open_live(tab, server)
    option = tab.locator("[name=method] option[value=synwmd]")
    assert option.is_disabled() and "--parser" in option.inner_text()
    tab.select_option("[name=method]", "wmd")
    signed(tab, "method:wmd")
    for name, disabled in {"layers": True, "heads": True, "mix": True, "embedding": False}.items():
        assert tab.locator(f"[name={name}]").is_disabled() == disabled
    assert tab.locator("label:has([name=mix])").get_attribute("title") == "means nothing to wmd"


def test_a_slow_answer_is_pending_and_a_busy_server_is_asked_once_more(tab, server):
    open_live(tab, server, source=PRESS[0], target=PRESS[1])
    waiting, busy = [], []

    def hold(route):
        waiting.append(route)

    tab.route("**/v1/explain", hold)
    tab.fill("[name=target]", PRESS[2])
    tab.wait_for_selector("body.pending #found[aria-busy=true]")
    assert tab.evaluate("getComputedStyle(document.querySelector('main')).opacity") < "1"
    waiting[0].continue_()
    ready(tab)
    assert tab.locator("body.pending").count() == 0
    tab.unroute("**/v1/explain")

    def refuse(route):
        busy.append(route)
        if len(busy) == 1:
            refusal = {"error": {"message": "1 pair is waiting", "type": "too_many_requests"}}
            route.fulfill(status=429, json=refusal, headers={"Retry-After": "1"})
        else:
            route.continue_()

    tab.route("**/v1/explain", refuse)
    put(tab, target=PRESS[0])
    assert len(busy) == 2 and tab.inner_text("#said").startswith("The same")
    assert tab.locator("#trouble").is_hidden()


def test_a_stopped_server_leaves_the_last_answer_and_says_so(tab, models):
    with serving(models) as client:
        open_live(tab, str(client.base_url), source="the dog", target="the cat", method="wsmd")
        before = tab.inner_text("#said")
    tab.fill("[name=target]", "the quick fox")
    tab.wait_for_selector("body.stale #trouble:not([hidden]), body.stale")
    assert "The server cannot be reached. Below is the last answer." in tab.inner_text("#trouble")
    assert tab.inner_text("#said") == before
    assert tab.evaluate("getComputedStyle(document.querySelector('main')).opacity") < "1"
    assert tab.get_attribute("#found", "aria-busy") == "false"
    assert tab.locator("#again").is_visible()


def test_a_guarded_server_is_given_its_token(tab, server):
    refusal = {"error": {"message": "this server needs its token", "type": "TokenError"}}

    def guard(route):
        if route.request.headers.get("authorization") == "Bearer sesame":
            route.continue_()
        else:
            route.fulfill(status=401, json=refusal)

    tab.route("**/v1/**", guard)
    tab.goto(server)
    tab.wait_for_selector("#trouble:not([hidden])")
    assert "this server needs its token" in tab.inner_text("#trouble")
    tab.fill("[name=token]", "sesame")
    tab.wait_for_selector("#found[aria-busy=false]:not([hidden])")
    assert tab.locator("#trouble").is_hidden() and "sesame" not in address(tab)
    assert [text for text in tab.said if "401" not in text] == []


def test_it_can_be_taken_along(tab, server, scorer, monkeypatch):
    expect = pytest.importorskip("playwright.sync_api").expect
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server)
    open_live(tab, server, **dict(zip(("source", "target", "other"), PRESS, strict=True)))

    def copied(name, said):
        tab.click(f"#share [name={name}]")
        expect(tab.locator("#shared")).to_have_text(f"{said} copied.")
        return tab.evaluate("navigator.clipboard.readText()")

    assert copied("link", "Link") == address(tab)
    words = shlex.split(copied("curl", "cURL command"))
    answer = post(server, words[2].rpartition("/")[2], json.loads(words[-1]))
    assert answer["verdict"] == scorer.contrast(*PRESS).verdict
    monkeypatch.setattr(movers, "load", lambda method, **rest: scorer.using(method, **rest))
    variables = {}
    code, _, _printing = copied("python", "Python code").rpartition("\n")
    exec(code, variables)
    assert variables["found"].verdict == answer["verdict"]
    with tab.expect_download() as page:
        tab.click("#share [name=page]")
    saved = page.value.path().read_text("utf-8")
    assert "Content-Security-Policy" in saved and saved == scorer.contrast(*PRESS).to_html()
    with tab.expect_download() as picture:
        tab.click("#share [name=picture]")
    drawn = picture.value.path().read_text("utf-8")
    assert drawn.startswith("<svg") and "var(--" not in drawn and "president" in drawn
    assert tab.said == []


def test_every_control_is_within_25_tabs(tab, server):
    open_live(tab, server, method="wsmd", **dict(zip(("source", "target"), SWAP, strict=True)))
    tab.wait_for_selector("#curve-part:not([hidden])")
    stops = []
    for _ in range(25):
        tab.keyboard.press("Tab")
        stops.append(
            tab.evaluate("""() => {
              const at = document.activeElement;
              return at.name || at.id || at.closest("[id]")?.id || at.tagName;
            }""")
        )
    for control in (
        *("link", "source", "target", "add", "examples", "method", "mix", "settings", "modes"),
        *("small", "lonely", "stage", "difference-map", "source-map", "target-map", "strip"),
        "details",
    ):
        assert control in stops, (control, stops)
    tab.click("#settings summary")
    tab.focus("#settings summary")
    inside = []
    for _ in range(5):
        tab.keyboard.press("Tab")
        inside.append(tab.evaluate("document.activeElement.name"))
    assert inside == ["embedding", "layers", "heads", "recipe", "stopwords"]
    assert stops.index("settings") + len(inside) <= 25
    assert tab.inner_text("#announcer") == tab.inner_text("#said")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_violation_of_accessibility(tab, server, axe, scheme):
    tab.emulate_media(color_scheme=scheme)
    sentences = dict(zip(("source", "target", "other"), PRESS, strict=True))
    for method, shown in (("movers", "plan"), ("wsmd", "links")):
        open_live(tab, server, method=method, show=shown, **sentences)
        tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        tab.evaluate(axe)
        for width in (1440, 390) if (method, scheme) == ("movers", "light") else (1024,):
            tab.set_viewport_size({"width": width, "height": 900})
            settle(tab)
            found = tab.evaluate("axe.run({ resultTypes: ['violations'] })")
            told = [
                f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:300]}"
                for one in found["violations"]
                for node in one["nodes"][:3]
            ]
            assert told == [], (width, scheme)


def test_dark_and_light_have_the_same_steps(tab, scorer, tmp_path):
    show(tab, scorer.explain(*SWAP), tmp_path)
    read = """() => ["cost", "look"].map((ramp) => [0, 1, 2, 3, 4, 5].map((step) =>
      Number(getComputedStyle(document.documentElement).getPropertyValue(`--${ramp}-${step}`)
        .match(/oklch\\(([\\d.]+)/)[1])))"""
    steps = {}
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        steps[scheme] = np.diff(tab.evaluate(read), axis=1)
    assert (steps["light"] < 0).all() and (steps["dark"] > 0).all()
    np.testing.assert_allclose(np.abs(steps["light"]), np.abs(steps["dark"]), atol=0.02)


RAIN = (
    "Before the rain came, the farmer closed the barn.",
    "The farmer shut the barn before it rained.",
)


def told_links(found):
    """What the page says of an alignment: links by name, and words that match nothing."""
    links = [
        f"{link.source_index}-{link.target_index}: {link.source} → {link.target}, "
        f"{link.confidence:.0%}".replace("%", "\N{NO-BREAK SPACE}% sure")
        for link in found
    ]
    alone = [f"{k} {found.source_words[k]}: matches nothing" for k in found.unmatched_source]
    return links, alone + [f"{k} {found.target_words[k]}" for k in found.unmatched_target]


def test_links_are_shown_when_asked_for_and_not_before(tab, server, scorer):
    from playwright.sync_api import expect

    links, alone = told_links(scorer.align(*RAIN))
    open_live(tab, server, source=RAIN[0], target=RAIN[1])
    tab.click("#modes [value=links]")
    expect(tab.locator("#stage-sum")).to_have_text("9 links; 2 words match nothing.")
    assert [question.get("links") for question in posted(tab, "explain")] == [None, True]
    labels = tab.locator("#stage .word").evaluate_all(
        "(nodes) => nodes.map((node) => node.getAttribute('aria-label'))"
    )
    assert set(labels) == {*links, *alone}
    expect(tab.locator("#stage .word.lost text")).to_have_text(["came", ","])
    assert tab.locator("#stage .flow").count() == len(links) == 9
    tab.locator("#stage .word").nth(1).hover()
    expect(tab.locator("#tip")).to_have_text("1-6: the → it, 63\N{NO-BREAK SPACE}% sure")
    assert "show=links" in address(tab)
    assert table(tab)["came", "nothing"] == ["3-", "–"]
    tab.click("#modes [value=structure]")
    expect(tab.locator("#stage-sum")).to_contain_text("The moves pay")
    assert "show=links" not in address(tab)
    assert not tab.said


def test_exported_links_come_first_and_only_if_asked_for(tab, scorer, tmp_path):
    from playwright.sync_api import expect

    show(tab, scorer.contrast(*RAIN, RAIN[0], links=True), tmp_path)
    expect(tab.locator("#modes [value=links]")).to_have_attribute("aria-pressed", "true")
    expect(tab.locator("#stage .word.lost text")).to_have_text(["came", ","])
    tab.click("#pairs li:nth-child(2) .pick")
    expect(tab.locator("#stage-sum")).to_have_text("11 links; 0 words match nothing.")
    show(tab, scorer.explain(*RAIN), tmp_path)
    expect(tab.locator("#modes [value=links]")).to_be_disabled()
    expect(tab.locator("#modes [value=structure]")).to_have_attribute("aria-pressed", "true")
    assert not tab.said


def test_words_at_home_are_told_and_marked(tab, wsmd, tmp_path):
    from playwright.sync_api import expect

    found = wsmd.using(null=0.3).explain(*RAIN)
    show(tab, found, tmp_path)
    expect(tab.locator("#formula")).to_contain_text(
        f"{found.comparison.parts['at home']:.4f} at home"
    )
    moved, weights = found.comparison.plan.sum(axis=1), found.comparison.weights[0]
    stay = np.array(found.comparison.source_words)[moved < weights / 2]
    marked = tab.locator("#stage .word.lost text").all_text_contents()
    assert marked[: len(stay)] == [*stay] and "came" in stay
    assert not tab.said


LEASES = [f"examples/data/lease_{name}.txt" for name in ("old", "new")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_two_texts_side_by_side(tab, server, scorer, axe, tmp_path, scheme):
    """The page of longer texts shows what the library says, alike when it was saved."""
    texts = [Path(name).read_text("utf-8") for name in LEASES]
    expected = scorer.compare_texts(*texts)
    tab.emulate_media(color_scheme=scheme)
    tab.goto(f"{server}/texts")
    for name, text in zip(("source", "target"), texts, strict=True):
        tab.fill(f"textarea[name={name}]", text)
    tab.click("button[type=submit]")
    tab.wait_for_selector("#found:not([hidden])")
    with tab.expect_download() as saved:
        tab.click("#save")
    path = tmp_path / "saved.html"
    saved.value.save_as(path)
    for width, address in ((1280, None), (375, path.as_uri())):
        tab.set_viewport_size({"width": width, "height": 900})
        if address:
            tab.goto(address)
            tab.wait_for_selector(".sentence")
        settle(tab)
        assert tab.text_content("#said") == expected.verdict
        for side, words in (("a", expected.source_words), ("b", expected.target_words)):
            assert tab.locator(f"#side-{side} .sentence").all_text_contents() == list(words)
        pairs = [one for one in expected.changes if None not in (one.source, one.target)]
        assert tab.locator("#lines path").count() == len(pairs)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        tab.click("#side-b .sentence.new")
        assert "Smoking" in tab.text_content("#pair") and "Only in B" in tab.text_content("#pair")
        tab.click("#only")
        told = sum(one.fate not in ("same", "reworded") for one in pairs)
        assert tab.locator("#lines path").count() == told
        tab.evaluate(axe)
        found = tab.evaluate("axe.run({ resultTypes: ['violations'] })")
        assert not found["violations"], found["violations"]
    assert not tab.said, tab.said


def test_texts_that_are_refused_say_why(tab, server):
    tab.goto(f"{server}/texts")
    tab.fill("textarea[name=source]", "a")
    tab.click("button[type=submit]")
    tab.wait_for_selector("#trouble:not([hidden])")
    assert "B is empty" in tab.text_content("#trouble")
    tab.click("#example")
    tab.wait_for_selector(".sentence.changed")
    assert tab.locator("#trouble").is_hidden()


def test_the_view_of_an_index_shows_what_the_library_finds(tab, client, indexed, axe):
    query = "the fox greets a dog"
    tab.goto(f"{client.base_url}/search?{urlencode({'query': query})}")
    tab.wait_for_selector("#matches li")
    found = movers.Index.open(indexed).search(query, 10, align=10)
    assert tab.locator("#matches summary").all_inner_texts() == [one.text for one in found]
    numbers = tab.locator("#matches .figures .whole").all_inner_texts()
    assert numbers == [f"{one.similarity:.2f}" for one in found]
    tab.fill("#query", "the fox greets a dog and the dog greets a fox " * 3)
    box = "document.querySelector('#query')"
    assert tab.evaluate(f"{box}.scrollHeight <= {box}.clientHeight"), "a long query is cut"
    tab.fill("#query", query)
    tab.locator("#matches summary").nth(1).click()
    told = tab.locator("#matches > li").nth(1).locator("ul li").all_inner_texts()
    assert told == list(found.comparisons[1].story)
    tab.evaluate(axe)
    violations = tab.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
    assert [one["id"] for one in violations] == []
    tab.get_by_label("roles").check()
    kept = movers.Index.open(indexed).search(query, 10, guards=["roles"])
    first = [one.text for one in kept]
    tab.wait_for_function(
        "(texts) => JSON.stringify([...document.querySelectorAll('#matches summary')]"
        ".map((one) => one.textContent)) === JSON.stringify(texts)",
        arg=first,
    )
    tab.locator("#matches summary").first.click()
    shown = tab.locator("#matches > li").first
    shown.get_by_role("link", name="Word by word").click()
    ready(tab)
    assert tab.input_value("#ask-source") == query and tab.input_value("#ask-target") == first[0]
    tab.get_by_role("link", name="Search an index").click()
    tab.wait_for_selector("#guards input")
    assert tab.said == []


def test_the_manual_shows_every_route_and_takes_a_token(tab, models):
    with serving(models, token="sesame") as client:
        tab.goto(f"{client.base_url}/docs")
        tab.get_by_label("needs its token").fill("sesame")
        tab.get_by_role("button", name="Go on").click()
        tab.wait_for_selector(".opblock")
        routes = tab.locator(".opblock-summary-path").all_inner_texts()
        assert {"/v1/search", "/v1/align", "/v1/differences"} <= {
            one.replace("\u200b", "") for one in routes
        }
        assert all(one.url.startswith((str(client.base_url), "data:")) for one in tab.asked)
        refused = [text for text in tab.said if "401" not in text]
        assert refused == []
