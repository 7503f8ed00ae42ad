"""The exported page: one file, nothing loaded, nothing run but its own script, text escaped."""

import hashlib
import html
import json
import re
from base64 import b64encode
from pathlib import Path

import pytest

from movers.explain import page as page_module
from tiny_models import SENTENCES

STATIC = Path(page_module.__file__).parent / "static"
HOSTILE = (
    'quick </script><script>alert("1")</script> & <!-- fox \u2028 \u2029 <img src=x onerror=x>'
)


def parsed(page):
    """The policy, the style, the data and the script of a page."""
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    data = re.search(r'<script type="application/json" id="payload">(.*?)</script>', page)[1]
    script = re.search(r'<script type="module">(.*?)</script>', page, re.DOTALL)[1]
    return policy, style, json.loads(data), script


def digest(text):
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_only_the_own_script_and_style_may_run(bert):
    policy, style, _, script = parsed(bert.compare(*SENTENCES[:2]).to_html())
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules == {
        "default-src": "'none'",
        "script-src": digest(script),
        "style-src": digest(style),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


@pytest.mark.parametrize("verb", ["compare", "compare_texts"])
def test_the_file_refers_to_nothing_outside(bert, verb):
    page = getattr(bert.using("movers", layers=None), verb)(*SENTENCES[:2]).to_html()
    assert re.findall(r"(?:src|href)=[\"']([^\"']*)", page) == ["data:,"]
    links = set(re.findall(r"https?://[^\s\"'`<]+", page))
    assert links == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\(", page)


def test_sentences_cannot_break_out(bert):
    page = bert.explain(HOSTILE, SENTENCES[0]).to_html()
    _, _, data, _ = parsed(page)
    assert data["source"] == HOSTILE
    assert page.count("<script") == page.count("</script") == 2
    assert "<img" not in page and "<!--" not in page
    assert html.escape(HOSTILE) in page
    inside = page.split('id="payload">')[1].split("</script>")[0]
    assert not re.search("[<>&\u2028\u2029]", inside)


def test_the_bundle_holds_every_script_once():
    names = {path.stem for path in STATIC.glob("*.js")}
    assert names == {*page_module.MODULES, *page_module.TEXTS, "search", "docs"}  # live alone
    for modules in (page_module.MODULES, page_module.TEXTS):
        bundle = page_module.bundle(modules)
        assert not re.search(r"^(import|export)\b", bundle, re.MULTILINE)
        tops = re.findall(r"^(?:const|let|class|function) (\w+)", bundle, re.MULTILINE)
        assert len(tops) == len(set(tops))


def test_modules_import_only_what_comes_before():
    for place, name in enumerate(page_module.MODULES):
        found = re.findall(
            r'^import .* from "\./(\w+)\.js";$', (STATIC / f"{name}.js").read_text("utf-8"), re.M
        )
        assert set(found) <= set(page_module.MODULES[:place]), name


def test_the_live_page_needs_no_inline_style_or_script():
    page = (STATIC / "page.html").read_text("utf-8")
    assert not re.search(r"\sstyle=|<style|\son\w+=|<script(?![^>]*src=)", page)
    for path in STATIC.glob("*.js"):
        text = path.read_text("utf-8")
        assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(", text), (
            path.name
        )
        assert not re.search(r"[\"']style[\"']|\bstyle:", text), path.name


def test_a_notebook_shows_the_page_in_a_frame(bert):
    found = bert.compare(*SENTENCES[:2])
    frame = found._repr_html_()
    inside = re.fullmatch(
        r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts" [^>]*></iframe>', frame
    )
    assert html.unescape(inside[1]) == found.to_html()


@pytest.mark.parametrize("name", ["obama", "word_swap"])
def test_examples_are_small(name):
    path = Path(__file__).parents[2] / "examples" / f"{name}.html"
    assert path.stat().st_size < 300_000
    policy, _, data, script = parsed(path.read_text("utf-8"))
    assert digest(script) in policy and len(data["second"]["structure"]["heads"]) == 72
