"""The page in a real browser: what it shows is what the library says, and nothing goes wrong."""

import json
import shutil
import urllib.request
from urllib.parse import parse_qs, urlsplit

import pytest

import movers

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")
FLAGS = """--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync"""
SWAP = "A dog bites a man.", "A man bites a dog."
OBAMA = "Obama speaks to the media in Illinois.", "The press greets the President in Chicago."
HOSTILE = (
    '<img src=x onerror="document.title=1"> & </script> fox',
    "<b>שלום</b> 👩‍👩‍👧 \u202eworld 😀",
)
LONG = tuple(
    " ".join(f"{word} of {word}" for word in words.split())
    for words in (
        "rivers mountains stones clouds gardens letters doctors bridges harbours engines singers",
        "oceans forests carpets thunder kitchens envelopes nurses tunnels sailors motors dancers",
    )
)


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
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    opened.said, opened.asked = [], []
    opened.on("console", lambda message: opened.said.append(message.text))
    opened.on("pageerror", lambda error: opened.said.append(str(error)))
    opened.on("request", lambda request: opened.asked.append(request.url))
    opened.set_default_timeout(60_000)
    yield opened
    opened.close()


@pytest.fixture
def server(program):
    """The address of a running server."""
    return program.url


@pytest.fixture(scope="module")
def wsmd():
    return movers.load("wsmd")


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


def address(tab):
    """Where the page says it is; `tab.url` follows a little later."""
    return tab.evaluate("location.href")


def post(server, question):
    body = json.dumps(question).encode()
    request = urllib.request.Request(
        f"{server}/v1/explain", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def distances(tab):
    """The distances shown, words alone first."""
    return tab.locator(".distance").all_inner_texts()


def signed(tab, setting):
    """Wait until the page shows a result with this setting."""
    tab.wait_for_selector(f"#signature:has-text('{setting}')")


def flows(tab, panel):
    return tab.locator(f"#{panel}-panel .flow").count()


def table(tab):
    """The alignment as the table shows it: words to percent with structure."""
    tab.evaluate("document.querySelector('#details').open = true")
    rows = tab.locator("#alignment tbody tr").all()
    cells = [row.locator("th, td").all_inner_texts() for row in rows]
    return {(source, target): shares for source, target, *shares in cells}


def test_the_export_shows_the_numbers_of_the_library(tab, wsmd, tmp_path):
    show(tab, wsmd.explain(*OBAMA), tmp_path)
    both, words = wsmd.compare(*OBAMA), wsmd.using("wrd").compare(*OBAMA)
    assert distances(tab) == [f"{words.distance:.4f}", f"{both.distance:.4f}"]
    assert tab.inner_text("#formula") == (
        f"{both.distance:.4f} = 0.50 × {both.linear:.4f} words"
        f" + 0.50 × {both.structural:.4f} structure"
    )
    assert tab.inner_text("#signature") == str(both.signature)
    assert flows(tab, "words") == (words.plan > 1e-5).sum()
    shown = table(tab)
    for flow in both.alignment:
        _, shared, cost, *_ = shown[flow.source, flow.target]
        assert shared == f"{flow.mass * 100:.0f}\N{NO-BREAK SPACE}%" and cost == f"{flow.cost:.4f}"
    assert tab.asked == [tab.url] and tab.said == []


TOLD = {
    "roles": (*SWAP, "Same words, other relations: "),
    "reworded": (
        "A dog chases a cat.",
        "A dog runs after a cat.",
        "Much the same, in other words: ",
    ),
    "unrelated": ("The orchestra tuned its instruments.", "Rain is expected.", "Unrelated: "),
    "same": (SWAP[0], SWAP[0], "The same to this measure: 1.00 alike."),
}


@pytest.mark.parametrize("kind", TOLD)
def test_the_default_measure_leads_with_a_verdict_and_tells_its_parts(tab, wsmd, tmp_path, kind):
    source, target, headline = TOLD[kind]
    scorer = wsmd.using("movers")
    show(tab, scorer.explain(source, target), tmp_path)
    found = scorer.compare(source, target)
    verdict = tab.inner_text("#said")
    assert verdict == found.verdict and verdict.startswith(headline)
    assert "unrelated sentences" in tab.inner_text("#anchors") + tab.get_attribute("#said", "title")
    assert tab.locator("#story li").all_inner_texts()[: len(found.story)] == list(found.story)
    assert distances(tab) == [f"{found.sentence:.4f}", f"{found.distance:.4f}"]
    alike = [found.alike(found.sentence), found.similarity]
    assert tab.locator(".share").all_inner_texts() == [f"{value:.2f} alike" for value in alike]
    if found.gate:
        assert tab.inner_text("#formula") == (
            f"{found.distance:.4f} = {found.sentence:.4f} sentence"
            f" + {found.gate:.2f} × {found.structural:.4f} structure"
        )
    assert tab.said == []


def test_a_head_is_followed_everywhere(tab, wsmd, tmp_path):
    show(tab, wsmd.explain(*OBAMA), tmp_path)
    tab.click("[data-head='4.7']")
    one = wsmd.using(layers=4, heads=7).compare(*OBAMA)
    assert distances(tab)[1] == f"{one.distance:.4f}"
    assert flows(tab, "structure") == (one.plan > 1e-5).sum()
    cells = tab.locator("#source-attention tbody td").all_inner_texts()
    assert cells == [f"{value * 100:.0f}" for value in one.source_attention[0].ravel()]
    assert tab.inner_text("#view") == "shown: layer 4, head 7"
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Enter")
    assert tab.inner_text("#view") == "shown: layer 4, head 8"
    tab.click("#reset")
    assert distances(tab)[1] == f"{wsmd.compare(*OBAMA).distance:.4f}"
    tab.click("button.layer >> nth=2")
    assert distances(tab)[1] == f"{wsmd.using(layers=3).compare(*OBAMA).distance:.4f}"
    assert tab.said == []


def test_a_cell_lights_its_match(tab, wsmd, tmp_path):
    show(tab, wsmd.using(layers=4, heads=9, mix=0.9).explain(*SWAP), tmp_path)
    one = wsmd.using(layers=4, heads=9, mix=0.9).compare(*SWAP)
    assert one.plan.argmax(axis=1).tolist() == [0, 1, 2]  # dog goes to man
    tab.hover("#source-attention tbody td >> nth=1")  # dog looks at bites
    lit = tab.locator("#target-attention td.lit")
    assert lit.count() == 1
    assert lit.get_attribute("aria-label").startswith("man looks at bites")
    assert tab.locator("#source-attention td.lit").count() == 1
    assert "matched with man looks at bites" in tab.inner_text("#readout")


def test_words_are_reached_by_keyboard(tab, wsmd, tmp_path):
    show(tab, wsmd.explain(*SWAP), tmp_path)
    tab.locator("#words-panel .word >> nth=0").focus()
    assert tab.inner_text("#readout").startswith("dog goes to dog")
    tab.keyboard.press("ArrowRight")
    assert tab.inner_text("#readout").startswith("bites goes to bites")
    assert tab.locator("#structure-panel .word.lit").count() >= 2
    tab.keyboard.press("Escape")
    assert tab.locator(".lit").count() == 0
    names = tab.locator("[role=button], button:visible, td[tabindex]").all()
    assert all(name.get_attribute("aria-label") or name.inner_text() for name in names)


@pytest.mark.parametrize("pair", [HOSTILE, LONG], ids=["hostile", "long"])
def test_any_text_fits_any_screen(tab, wsmd, tmp_path, pair):
    show(tab, wsmd.explain(*pair), tmp_path)
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
    scorer = wsmd.using(method)
    show(tab, scorer.explain(*OBAMA), tmp_path)
    expected = scorer.compare(*OBAMA).distance
    assert distances(tab)[-1] == (f"{expected:.2f}" if expected > 10 else f"{expected:.4f}")
    assert tab.locator("#inside").is_visible() == (method in ("smd", "lambda-wrd"))
    assert tab.said == []


def test_print_is_light_and_complete(tab, wsmd, tmp_path):
    tab.emulate_media(color_scheme="dark")
    show(tab, wsmd.explain(*SWAP), tmp_path)
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab.emulate_media(media="print")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.locator("#alignment tbody tr").first.is_visible()
    assert tab.pdf().startswith(b"%PDF")


def test_a_notebook_frame_draws(tab, wsmd):
    tab.set_content(wsmd.compare(*SWAP)._repr_html_())
    inside = tab.frame_locator("iframe")
    assert (
        inside.locator(".distance >> nth=1").inner_text() == f"{wsmd.compare(*SWAP).distance:.4f}"
    )
    assert tab.said == []


def test_the_live_page_answers_what_is_typed(tab, server, wsmd):
    tab.goto(server)
    tab.wait_for_selector("#found:not([hidden])")
    assert tab.locator("[name=mix]").is_disabled() and "method:movers" in tab.inner_text(
        "#signature"
    )
    tab.select_option("[name=method]", "wsmd-wrd")
    signed(tab, "method:wsmd-wrd")
    with tab.expect_response("**/v1/explain"):
        tab.fill("[name=source]", SWAP[0])
    with tab.expect_response(lambda r: "explain" in r.url and SWAP[1] in r.request.post_data):
        tab.fill("[name=target]", SWAP[1])
    with tab.expect_response(lambda r: "explain" in r.url and '"mix":0.9' in r.request.post_data):
        tab.fill("[name=mix]", "0.9")
    signed(tab, "mix:0.9")
    scorer = wsmd.using(mix=0.9)
    api = post(server, {"source": SWAP[0], "target": SWAP[1], "method": "wsmd", "mix": 0.9})
    assert api == json.loads(json.dumps(scorer.explain(*SWAP).to_dict()))
    assert distances(tab) == [
        f"{wsmd.using('wrd').compare(*SWAP).distance:.4f}",
        f"{scorer.compare(*SWAP).distance:.4f}",
    ]
    tab.click("[data-head='4.9']")
    assert distances(tab)[1] == f"{scorer.using(layers=4, heads=9).compare(*SWAP).distance:.4f}"
    assert {urlsplit(url).netloc for url in tab.asked if not url.startswith("data:")} == {
        urlsplit(server).netloc
    }
    assert tab.said == []


def test_the_address_holds_the_state(tab, server):
    tab.goto(server)
    tab.wait_for_selector("#found:not([hidden])")
    tab.click("#examples button >> nth=4")
    tab.select_option("[name=method]", "wsmd-wmd")
    tab.fill("[name=layers]", "3-4")
    signed(tab, "layers:3-4")
    tab.click("[data-head='3.1']")
    query = {name: value[0] for name, value in parse_qs(urlsplit(address(tab)).query).items()}
    source, target = SWAP
    assert query == {
        "source": source,
        "target": target,
        "method": "wsmd-wmd",
        "layers": "3-4",
        "view": "3.1",
    }
    before = tab.inner_text("#verdict")
    shared = address(tab)
    tab.goto("about:blank")
    tab.goto(shared)
    signed(tab, "layers:3-4")
    assert tab.inner_text("#verdict") == before and address(tab) == shared
    assert tab.said == []


def test_trouble_is_told_and_passes(tab, server):
    tab.goto(server)
    tab.wait_for_selector("#found:not([hidden])")
    tab.select_option("[name=method]", "wsmd-wrd")
    signed(tab, "method:wsmd-wrd")
    tab.fill("[name=source]", "the of")
    tab.wait_for_selector("#trouble:not([hidden])")
    assert "no words left after stop-word removal" in tab.inner_text("#trouble")
    tab.select_option("[name=stopwords]", "none")
    tab.wait_for_selector("#trouble", state="hidden")
    signed(tab, "stopwords:none")
    assert [text for text in tab.said if "422" not in text] == []


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
    assert tab.inner_text("#trouble") == "this server needs its token"
    tab.fill("[name=token]", "sesame")
    tab.wait_for_selector("#found:not([hidden])")
    assert tab.locator("#trouble").is_hidden() and "sesame" not in address(tab)
    assert [text for text in tab.said if "401" not in text] == []
