"""The site builds without a warning, its links lead somewhere, nothing comes from outside."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from sphinx.util.inventory import InventoryFile

import movers
from movers.cli import command_names

ROOT = Path(__file__).parents[1]
LOADING = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Links(HTMLParser):
    """What a page links to, what it loads, and the places it offers."""

    def __init__(self, page):
        super().__init__()
        self.links, self.loaded, self.places = [], [], {""}
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places |= {found.get("id"), found.get("name")}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if found.get(LOADING.get(tag)):
            self.loaded.append(found[LOADING[tag]])


pytestmark = pytest.mark.published


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    call = [sys.executable, "-m", "sphinx", "-b", "html", "-c", "docs", "-W", "--keep-going", "-q"]
    places = ["-d", str(folder / "doctrees"), ".", str(folder / "html")]
    done = subprocess.run([*call, *places], cwd=ROOT, capture_output=True, text=True)
    return folder / "html", done


@pytest.fixture(scope="module")
def pages(built):
    return {page: Links(page) for page in built[0].rglob("*.html")}


def test_site_builds_without_a_warning(built):
    assert not built[1].stderr
    assert built[1].returncode == 0


def test_every_page_of_the_documentation_is_there(pages, built):
    sources = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "api").glob("*.rst")]
    expected = {built[0] / page.relative_to(ROOT).with_suffix(".html") for page in sources}
    assert expected <= set(pages)
    assert len(expected) > 20


def test_internal_links_lead_somewhere(pages):
    for page, found in pages.items():
        for link in found.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.is_file(), f"{page.name}: {link}"
            if target.suffix == ".html" and parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].places, f"{page.name}: {link}"


def test_pages_load_nothing_from_elsewhere(pages):
    for page, found in pages.items():
        for address in found.loaded:
            assert not urlsplit(address).netloc, f"{page.name} loads {address}"
            assert urlsplit(address).scheme in ("", "data")


def test_formulas_need_no_script(built):
    page = (built[0] / "docs" / "how_it_works.html").read_text("utf-8")
    assert page.count('<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">') == 3


def test_reference_names_everything_public(built):
    text = (built[0] / "objects.inv").read_bytes()
    inventory = InventoryFile.loads(text, uri="").data
    named = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    public = {f"movers.{name}" for name in movers.__all__ if name != "__version__"}
    aliases = {
        name: name.replace("movers.", "movers.errors.") for name in public if "Error" in name
    }
    assert {aliases.get(name, name) for name in public} <= named


def test_every_command_and_option_has_its_place_in_the_reference(built):
    page = (built[0] / "docs" / "commands.html").read_text("utf-8")
    for command in command_names():
        assert f'id="movers-{command}"' in page
    for option in ("--resume", "--protocol", "--within", "--precision", "--source-file"):
        assert option in page


def test_the_landing_page_says_how_to_install(built):
    page = (built[0] / "docs" / "index.html").read_text("utf-8")
    assert "pip install ." in re.sub("<.*?>", "", page)
