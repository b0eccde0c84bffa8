"""The whole site in Chromium, as people meet it: on phones and on screens, in light and in dark, offline, without scripts."""

import shutil
from collections import Counter

import pytest

from proofs.render.catalogues import in_language
from proofs.render.latex import Latex
from proofs.render.library import Library
from proofs.render.page_formulas import formulas_of
from proofs.render.theorem import page as model

from .browsing import BRACKETS, CUT, FAINT, READY, SCRIPTS, UNFOLD

pytestmark = pytest.mark.slow

KINDS = ("index", "softmax_jacobian", "decoder", "claims", "graph", "figures", "mistakes", "axioms")
LANGUAGES = ("", "ko/")
FORMULAS = "() => [...document.querySelectorAll('math')].filter((m) => m.namespaceURI.endsWith('MathML')).length"


@pytest.fixture(scope="module")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("there is no Chromium; `apt-get install chromium` brings it")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium, whole):
    """Opens pages of the site; whatever a page asks for that is not of the site is recorded, and not given."""
    contexts, asked = [], []

    def open_(width=1280, **options):
        if width < 500:
            options = {"is_mobile": True, "has_touch": True} | options
        context = chromium.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)

        def answer(route):
            if route.request.url.startswith(whole.folder.as_uri()):
                route.continue_()
            else:
                asked.append(route.request.url)
                route.abort()

        context.route("**/*", answer)
        return context.new_page()

    yield open_
    assert not asked, "the site asks for what is elsewhere"
    for context in contexts:
        context.close()


@pytest.fixture
def url(whole):
    """Where a page is, at an anchor or not."""

    def of(name):
        path, sign, anchor = name.partition("#")
        return (whole.folder / path).as_uri() + sign + anchor

    return of


def names(whole):
    return sorted(str(p.relative_to(whole.folder)) for p in whole.folder.rglob("*.html"))


@pytest.mark.parametrize("widths", [(390,), (768, 1280)], ids=["phone", "screens"])
def test_nothing_is_too_wide_and_no_formula_is_cut(opened, whole, url, widths):
    page, wrong = opened(widths[0]), {}
    for name in names(whole):
        page.goto(url(name))
        page.evaluate(UNFOLD)
        for width in widths:
            page.set_viewport_size({"width": width, "height": 900})
            if found := page.evaluate(CUT, width):
                wrong[name, width] = found[:3]
    assert not wrong


def test_what_is_too_wide_or_cut_is_seen(opened, url):
    page = opened(390)
    for style, seen in (
        (".formula { overflow: visible !important; width: 900px }", "px too wide"),
        (".formula { overflow: hidden !important; height: 12px }", "cut above or below"),
        (
            ".formula { overflow-x: clip !important } math { white-space: nowrap; display: block math !important }",
            "cut sideways",
        ),
    ):
        page.goto(url("attention_gradients.html"))
        page.add_style_tag(content=style)
        page.evaluate(UNFOLD)
        assert any(seen in found for found in page.evaluate(CUT, 390)), style


@pytest.mark.parametrize("place", LANGUAGES)
def test_every_formula_is_there_and_behind_each_button_is_what_was_proved(opened, whole, url, place):
    """The LaTeX of every formula on a line of its own, no more and no less, which the gate has compared with the proof."""
    page = opened()
    page.add_init_script(
        "window.copies = []; navigator.clipboard.writeText = async (text) => { window.copies.push(text); }"
    )
    for family, theorems in Library(whole.theorems).families.items():
        models = [model(t, Latex, in_language("ko" if place else "en")) for t in theorems]
        page.goto(url(f"{place}{family}.html"))
        assert page.evaluate(FORMULAS) == sum(len(formulas_of(found)) for found in models), family
        page.evaluate("() => { for (const button of document.querySelectorAll('.copy')) button.click(); }")
        wanted = Counter(f for found in models for f in _displayed(found))
        assert Counter(page.evaluate("() => window.copies")) == wanted, family


def _displayed(found):
    yield from (*found.hypotheses, found.conclusion)
    yield from () if found.start is None else (found.start,)
    yield from (line.term for line in found.lines)
    for refusal in found.refusals:
        yield from (refusal.conclusion, *(refusal.hypotheses or ()), refusal.residue)


def test_a_button_copies(opened, url):
    page = opened(permissions=["clipboard-read", "clipboard-write"])
    page.goto(url("softmax_jacobian.html"))
    page.locator("#jacobian-1").hover()
    page.get_by_role("button", name="Copy LaTeX: step 1").first.click()
    assert page.evaluate("() => navigator.clipboard.readText()").startswith(r"\frac{\mathrm{d}}{\mathrm{d} t} \left[")
    assert page.locator(".told.shown").inner_text() == "Copied"


def test_scripts_are_smaller_than_what_they_hang_on_and_brackets_fit(opened, whole, url):
    page, wrong = opened(), {}
    for name in names(whole):
        if not name.startswith("ko/"):
            page.goto(url(name))
            page.evaluate(UNFOLD)
            if found := page.evaluate(SCRIPTS) + page.evaluate(BRACKETS):
                wrong[name] = found[:3]
    assert not wrong


def test_scripts_that_are_not_smaller_are_seen(opened, url):
    page = opened()
    page.goto(url("softmax_jacobian.html"))
    page.add_style_tag(content="math * { math-depth: 0 !important; font-size: 1rem !important }")
    assert any("not smaller: sub" in found for found in page.evaluate(SCRIPTS))


def test_formulas_are_set_in_the_bundled_font(opened, url):
    page = opened()
    page.goto(url("positional_encoding.html"))
    session = page.context.new_cdp_session(page)
    for domain in ("DOM", "CSS"):
        session.send(f"{domain}.enable")
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    tokens = session.send("DOM.querySelectorAll", {"nodeId": root, "selector": "mi, mo, mn, mtext"})["nodeIds"]
    fonts = Counter()
    for node in tokens[:600]:
        for font in session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]:
            fonts[font["familyName"]] += font["glyphCount"]
    assert list(fonts) == ["Proof Formulas Math"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(opened, url, scheme):
    page, wrong = opened(color_scheme=scheme), {}
    for name in (f"{place}{kind}.html" for kind in KINDS for place in LANGUAGES):
        page.goto(url(name))
        page.evaluate(UNFOLD)
        if found := page.evaluate(FAINT):
            wrong[name] = found
    assert not wrong


def test_a_faint_text_is_seen(opened, url):
    page = opened(color_scheme="dark")
    page.goto(url("claims.html"))
    page.add_style_tag(content=".sentence { color: #666 }")
    assert any('class="sentence"' in found for found in page.evaluate(FAINT))


def test_the_theme_is_switched_and_remembered_without_cookies(opened, url):
    page = opened(color_scheme="light")
    page.goto(url("index.html"))
    paper = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.get_by_role("button", name="Light or dark").click()
    dark = page.evaluate(paper)
    assert dark != light
    page.goto(url("ko/softmax.html"))
    assert page.evaluate(paper) == dark
    page.locator(".theme").click()
    assert page.evaluate(paper) == light
    assert page.context.cookies() == []


def test_it_is_whole_without_scripts(opened, whole, url):
    bare, full = opened(java_script_enabled=False), opened()
    for name in (f"{place}{kind}.html" for kind in KINDS for place in LANGUAGES):
        bare.goto(url(name))
        full.goto(url(name))
        assert bare.locator("main").inner_text().split() == _without_search(full).split(), name
        assert bare.locator(".copy").count() == 0
        assert not any(bare.locator(".theme, .search, .results").nth(k).is_visible() for k in range(2)), name
        assert bare.locator("math").count() == full.locator("math").count()
    bare.goto(url("softmax_jacobian.html"))
    bare.locator("#jacobian .refusals summary").click()
    assert bare.locator("#jacobian-near-1").is_visible()


def _without_search(page):
    page.evaluate("() => { for (const one of document.querySelectorAll('.search, .results')) one.remove(); }")
    return page.locator("main").inner_text()


@pytest.mark.parametrize(
    ("place", "words", "target"),
    [
        ("", "jacobian times cotangent", "softmax_jacobian.html#gradient_is_jacobian_times_cotangent"),
        ("", "softmax_jacobian.vjp", "softmax_jacobian.html#vjp"),
        ("", "depends on the offset", "position_similarity.html#similarity_depends_on_offset"),
        ("ko/", "소프트맥스: 야코비안 trace", "softmax_jacobian.html#trace"),
    ],
)
def test_the_search_finds(opened, url, place, words, target):
    page = opened(390)
    page.goto(url(f"{place}index.html"))
    page.keyboard.press("/")
    page.keyboard.type(words)
    links = page.locator(".results li a")
    assert target in [links.nth(k).get_attribute("href") for k in range(links.count())][:5]
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.getAttribute('href')") == links.first.get_attribute("href")
    page.locator(f'.results a[href="{target}"]').press("Enter")
    page.wait_for_url(f"**/{place}{target}")
    assert page.locator(":target").is_visible()


def test_the_search_says_that_it_found_nothing(opened, url):
    page = opened()
    page.goto(url("index.html"))
    page.get_by_role("searchbox").fill("no such theorem")
    assert page.locator(".found").inner_text() == "Nothing found; all theorems are listed below."
    assert page.locator(".chapters").is_visible()
    page.get_by_role("searchbox").fill("")
    assert not page.locator(".results").is_visible()


def test_a_link_opens_what_is_folded(opened, url):
    page = opened()
    page.goto(url("softmax_jacobian.html#jacobian-near-2"))
    assert page.locator("#jacobian-near-2").is_visible()
    page.goto(url("softmax_jacobian.html"))
    assert not page.locator("#jacobian-near-2").is_visible()


def test_the_other_language_opens_at_the_same_theorem(opened, url):
    page = opened()
    page.goto(url("softmax_jacobian.html#trace"))
    page.get_by_role("link", name="한국어").click()
    page.wait_for_url("**/ko/softmax_jacobian.html#trace")
    assert page.locator("html").get_attribute("lang") == "ko"
    page.get_by_role("link", name="English").click()
    page.wait_for_url("**/softmax_jacobian.html#trace")


def test_it_can_be_used_by_keyboard(opened, url):
    page = opened()
    page.goto(url("softmax_jacobian.html"))
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("() => Boolean(document.activeElement.closest('main'))")


def test_the_graph_shows_what_rests_on_what(opened, url):
    page = opened()
    page.goto(url("graph.html"))
    page.locator('[data-node="multi_head_gradients"]').focus()
    lit = page.evaluate("() => [...document.querySelectorAll('.graph a.lit')].map((a) => a.dataset.node)")
    assert {"softmax", "attention_gradients", "softmax_jacobian", "multi_head_gradients"} <= set(lit)
    assert "layer_norm" not in lit


def test_long_formulas_are_broken_on_a_phone(opened, url):
    page = opened(390)
    page.goto(url("decoder.html"))
    box = page.locator("#decoder_layer_is_causal .conclusion .formula")
    assert box.evaluate("(e) => e.scrollWidth <= e.clientWidth")
    assert box.evaluate("(e) => e.clientHeight") > 100


def test_what_is_folded_is_printed(opened, url):
    page = opened()
    page.goto(url("softmax_jacobian.html"))
    folded = page.locator("details:not([open])")
    assert folded.count() > 10
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert folded.count() == 0
    page.emulate_media(media="print")
    assert not page.locator(".top nav").is_visible()
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert folded.count() > 10


def test_the_largest_page_is_ready_within_a_second(opened, whole, url):
    page = opened(390)
    name, _ = whole.summary.largest
    times = []
    for _ in range(3):
        page.goto(url(name))
        times.append(page.evaluate(READY))
    assert min(times) < 1000
