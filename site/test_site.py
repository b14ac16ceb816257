"""The site in a real browser: every example is computed again, the playground is used by keys, and pages fit their widths.

    cargo xtask site --examples target/site-examples.json
    pip install -r .ci/requirements.txt
    python -m pytest site

`CHROMIUM` names a Chromium; otherwise one of the PATH is taken. The pages are opened from the disk, as a reader may.
"""

import json
import os
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).parent.parent
SITE = Path(os.environ.get("VOP_SITE", ROOT / "target/site"))
EXAMPLES = Path(os.environ.get("VOP_SITE_EXAMPLES", ROOT / "target/site-examples.json"))
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
WIDTHS = [360, 768, 1280]
# Pages of each kind.
KINDS = ["index.html", "playground.html", "costs.html", "instructions/vadd4.html", "instructions/vmad.html", "diagnostics/index.html",
         "diagnostics/V0304.html", "guide/index.html", "guide/run.html", "examples/motion.html"]

# CI sets it: there nothing may be missing.
REQUIRED = "VOP_REQUIRE_BROWSER" in os.environ

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None and not REQUIRED, reason="there is no Chromium; Debian has one in the package chromium"),
    pytest.mark.skipif((not PAGES or not EXAMPLES.exists()) and not REQUIRED, reason="`cargo xtask site --examples target/site-examples.json` was not run"),
]


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Problems(list):
    """What a page complains of, and what it asks of others than the disk."""

    def watch(self, page):
        page.on("pageerror", lambda error: self.append(f"{page.url}: {error}"))
        page.on("console", lambda message: message.type in ("error", "warning") and self.append(f"{page.url}: {message.text}"))
        page.on("request", lambda request: request.url.split(":")[0] in ("file", "data", "blob") or self.append(f"asks for {request.url}"))
        page.on("requestfailed", lambda request: self.append(f"{page.url}: {request.url} cannot be loaded"))


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.set_default_timeout(15_000)
    page = context.new_page()
    problems = Problems()
    problems.watch(page)
    yield page
    context.close()
    assert not problems


def address(path):
    return (SITE / path.split("#")[0]).as_uri() + ("#" + path.split("#")[1] if "#" in path else "")


def wait_for_the_module(page):
    # A promise that only the driver awaits may be collected as garbage before it is kept.
    page.evaluate("() => { vopSite.load('vop-wasm.js').then(() => vop.ready).then(() => { self.isReady = true; }); }")
    page.wait_for_function("self.isReady")


def playground(page, path="playground.html"):
    page.goto(address(path))
    wait_for_the_module(page)
    page.wait_for_selector("#panel-instruction .register, #panel-instruction .finding", state="attached")


def copied(page):
    page.evaluate("() => { self.copied = null; navigator.clipboard.readText().then(text => { self.copied = text; }); }")
    page.wait_for_function("self.copied !== null")
    return page.evaluate("self.copied")


def examples():
    return json.loads(EXAMPLES.read_text())


def test_every_example_is_computed_as_the_library_computes_it(page):
    playground(page)
    rows = examples()
    assert len(rows) > 200
    differing = page.evaluate(
        """rows => rows.filter(row => JSON.stringify(vop.answer(row.request)) !== JSON.stringify(row.answer)).map(row => row.request.text)""", rows)
    assert differing == []


def test_the_module_answers_what_the_library_answers(page):
    folder = ROOT / "crates/vop-web/tests"
    requests, answers = [(folder / name).read_text().splitlines() for name in ("requests.jsonl", "answers.jsonl")]
    assert len(requests) == len(answers) > 40
    playground(page)
    found = page.evaluate("requests => requests.map(request => vop.exchange(request))", requests)
    assert [request for request, one, other in zip(requests, found, answers) if one != other] == []


def test_every_drawing_of_every_page_is_what_the_playground_draws(page):
    pages = sorted({row["page"] for row in examples()})
    assert len(pages) == 23
    count = 0
    for path in pages:
        page.goto(address(path))
        wait_for_the_module(page)
        drawn, differing = page.evaluate(
            """() => {
              const figures = [...document.querySelectorAll("figure.example")];
              const differs = figure => {
                const inputs = figure.dataset.inputs.split(",").map(Number);
                const answer = vop.answer({ ask: "instruction", text: figure.dataset.text, inputs });
                const box = document.createElement("div");
                box.innerHTML = answer.semantics.find(one => one.name === figure.dataset.semantics).stages;
                return box.innerHTML !== figure.querySelector(".scrolls").innerHTML;
              };
              return [figures.length, figures.filter(differs).map(figure => figure.dataset.text)];
            }""")
        assert differing == [], path
        count += drawn
    assert count == len(examples())


def test_an_instruction_is_judged_as_it_is_typed(page):
    playground(page)
    panel = page.locator("#panel-instruction")
    text = panel.get_by_label("PTX instruction")
    text.fill("")
    text.press_sequentially("vmin4.u32.u32.u32 d, a.b0, b, c")
    expect(panel.locator(".finding")).to_have_count(1)
    expect(panel.locator(".finding")).to_contain_text("V0304")
    expect(panel.locator(".under .error")).to_have_text(".b0")
    # The underlined text stands under the typed one.
    mark = panel.locator(".under .error").bounding_box()
    field = text.bounding_box()
    assert field["x"] < mark["x"] < field["x"] + field["width"] and field["y"] < mark["y"] < field["y"] + field["height"]
    # A help that is an edit can be applied.
    text.fill("vadd4.u32.u32.u32.avg d, a, b, c")
    expect(panel.locator(".finding").first).to_contain_text("error")
    text.fill("vadd4.u32.u32.u32.sta d, a, b, c")
    panel.get_by_role("button", name="Apply the help").first.click()
    expect(text).to_have_value("vadd4.u32.u32.u32.sat d, a, b, c")
    expect(panel.locator(".finding")).to_have_count(0)
    expect(panel.locator(".status")).to_contain_text("Legal.")
    # Mnemonics and intrinsics are told of.
    text.fill("vset2")
    expect(panel).to_contain_text("Add types to see what it computes")
    text.fill("__vabsdiffu4")
    panel.get_by_role("button", name="Show the instruction").click()
    expect(text).to_have_value("vabsdiff4.u32.u32.u32 d, a, b, c")


def test_fields_are_typed_in_by_keys(page):
    # What is typed stays as it is typed while the drawing follows.
    playground(page, "playground.html#i=vadd.u32.u32.u32%20d%2C%20a%2C%20b&a=0&b=1")
    panel = page.locator("#panel-instruction")
    word = panel.get_by_label("a, hexadecimal")
    word.click()
    word.press("Control+a")
    word.press_sequentially("12f48056")
    expect(word).to_have_value("12f48056")
    expect(panel.locator("figure .d").first).to_have_text("0x12f48057")
    word.press("Tab")
    expect(word).to_have_value("0x12f48056")
    value = panel.get_by_label("b, unsigned")
    value.press("Control+a")
    value.press_sequentially("1000")
    expect(panel.locator("figure .d").first).to_have_text("0x12f4843e")
    expect(panel.locator(".finding")).to_have_count(0)
    panel.get_by_label("PTX instruction").fill("vadd4.u32.u32.u32 d, a, b, c")
    digits = panel.get_by_label("a.b3, hexadecimal")
    digits.press("Control+a")
    digits.press_sequentially("7f")
    expect(digits).to_have_value("7f")
    expect(panel.get_by_label("a, hexadecimal", exact=True)).to_have_value("0x7ff48056")


def test_addresses_say_what_is_shown(page):
    # Another tab's address stays, and a link to an instruction opens its tab.
    playground(page, "playground.html#kernel")
    page.wait_for_timeout(500)
    assert page.url.endswith("#kernel")
    page.get_by_role("tab", name="File").click()
    assert page.url.endswith("#file")
    page.locator("#panel-file table a").first.click()
    expect(page.locator("#panel-instruction textarea")).to_be_visible()
    expect(page.locator("#panel-instruction textarea")).to_have_value("vabsdiff4.u32.u32.u32.add d, a, b, c")
    # Target and language change with the address, and go back to the usual ones.
    panel = page.locator("#panel-instruction")
    page.evaluate("location.hash = '#i=vadd4.u32.u32.u32&target=sm_120&to=opencl'")
    expect(panel.get_by_label("lowered for")).to_have_value("sm_120")
    expect(panel.get_by_label("ported to")).to_have_value("opencl")
    panel.get_by_role("button", name="Copy the link").click()
    expect(panel.get_by_role("button", name="Copied")).to_be_visible()
    link = copied(page)
    assert "target=sm_120" in link and "to=opencl" in link
    page.go_back()
    expect(panel.get_by_label("lowered for")).to_have_value("sm_90")
    expect(panel.locator("textarea")).to_have_value("vabsdiff4.u32.u32.u32.add d, a, b, c")
    # What is damaged is left out.
    page.evaluate("location.hash = '#i=vadd4.u32.u32.u32%20d,a,b,c&a=xyz&b=10&target=sm_999&to=klingon'")
    expect(panel.get_by_label("lowered for")).to_have_value("sm_90")
    expect(panel.get_by_label("b, hexadecimal", exact=True)).to_have_value("0x00000010")
    expect(panel.locator(".status")).to_contain_text("Legal.")


def test_a_trap_is_reported_and_the_next_request_answered(page):
    playground(page)
    bug, real = page.evaluate("""() => {
        // The module's function that answers traps once.
        const real = vop.exchange(JSON.stringify({ ask: "instruction", text: "vadd.u32.u32.u32 d, a, b" }));
        const decode = TextDecoder.prototype.decode;
        TextDecoder.prototype.decode = function () { TextDecoder.prototype.decode = decode; throw new WebAssembly.RuntimeError("unreachable"); };
        const bug = vop.answer({ ask: "instruction", text: "vadd.u32.u32.u32 d, a, b" });
        return [bug, real];
    }""")
    assert bug == {"error": "this is a bug in vop: unreachable", "bug": True}
    # At once, except where the browser makes no instance of a large module on the page's own thread, as of one that is not optimised.
    page.wait_for_function(
        """real => vop.exchange(JSON.stringify({ ask: "instruction", text: "vadd.u32.u32.u32 d, a, b" })) === real""", arg=real)


def test_lanes_are_edited_in_three_ways(page):
    playground(page, "playground.html#i=vadd4.s32.s32.s32.sat%20d%2C%20a%2C%20b%2C%20c&a=0&b=1&c=0")
    panel = page.locator("#panel-instruction")
    d = panel.locator("figure .d").first
    expect(d).to_have_text("0x00000001")
    panel.get_by_label("a.b3, hexadecimal").fill("7f")
    expect(d).to_have_text("0x7f000001")
    expect(panel.get_by_label("a.b3, signed")).to_have_value("127")
    panel.get_by_label("b.b3, signed").fill("-1")
    expect(d).to_have_text("0x7e000001")
    expect(panel.get_by_label("b, hexadecimal", exact=True)).to_have_value("0xff000001")
    panel.get_by_role("group", name="bits of b.b0").get_by_role("button", name="bit 1").click()
    expect(d).to_have_text("0x7e000003")
    # By keys alone.
    page.get_by_role("group", name="bits of b.b0").get_by_role("button", name="bit 7").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(d).to_have_text("0x7e000043")
    panel.get_by_label("a.b3, signed").focus()
    page.keyboard.press("ArrowDown")
    expect(d).to_have_text("0x7d000043")
    # What is no number changes nothing, and says so.
    panel.get_by_label("a.b3, hexadecimal").fill("xyz")
    expect(panel.get_by_label("a.b3, hexadecimal")).to_have_attribute("aria-invalid", "true")
    expect(d).to_have_text("0x7d000043")
    # The address holds it all.
    page.wait_for_function("location.hash.includes('a=7e000000')")
    link = page.url
    other = page.context.new_page()
    other.goto(link)
    expect(other.locator("#panel-instruction figure .d").first).to_have_text("0x7d000043")
    panel.get_by_role("button", name="Copy the link").click()
    expect(panel.get_by_role("button", name="Copied")).to_be_visible()
    assert copied(page) == link


def test_both_semantics_stand_side_by_side(page):
    playground(page, "playground.html#i=vadd.u32.s32.s32.sat%20d.b0%2C%20a%2C%20b%2C%20c&a=1&b=2&c=0&to=rust")
    panel = page.locator("#panel-instruction")
    expect(panel.locator(".sides figure")).to_have_count(1)
    panel.get_by_role("button", name="Show values for which it differs").click()
    expect(panel.locator(".sides figure")).to_have_count(2)
    values = [row.inner_text() for row in panel.locator(".sides .d").all()]
    assert values[0] != values[1], values
    expect(panel.locator(".sides figure.differs")).to_contain_text("By the manual")
    expect(panel.locator("table.costs")).to_contain_text("sm_120")
    expect(panel.locator("details pre")).to_contain_text("min.u32")
    expect(panel).to_contain_text("pub const fn")
    panel.get_by_label("ported to").select_option("opencl")
    expect(panel.locator("h3", has_text="Ported to opencl")).to_be_visible()
    page.wait_for_function("location.hash.includes('to=opencl')")


def test_a_file_is_judged(page):
    playground(page)
    page.get_by_role("tab", name="File").click()
    panel = page.locator("#panel-file")
    expect(panel.locator(".status")).to_contain_text("2 video instructions: 1 legal, 1 illegal")
    expect(panel.locator(".finding")).to_contain_text("V0207")
    panel.get_by_label("Source file").fill('// 𝄞\nasm("vset4.u32.u32.xx %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));')
    expect(panel.locator(".status")).to_contain_text("1 video instruction: 0 legal, 1 illegal")
    # Offsets count as JavaScript counts.
    expect(panel.locator(".under .error").first).to_have_text(".xx")
    file = {"name": "x.ptx", "mimeType": "text/plain", "buffer": b".version 7.0\n.target sm_75\n.func f() { .reg .b32 a; vadd.u32.u32.u32 a, a, a; ret; }\n"}
    panel.get_by_label("or open a file").set_input_files(file)
    expect(panel.get_by_label("language")).to_have_value("ptx")
    expect(panel.locator(".status")).to_contain_text("1 video instruction: 1 legal")


def test_a_kernel_is_run(page):
    playground(page, "playground.html#kernel")
    panel = page.locator("#panel-kernel")
    # It has been run once.
    expect(panel.locator("table.threads")).to_be_visible()
    panel.get_by_label("content of pixels").select_option("values")
    panel.get_by_label("values of pixels").fill("0x01020304 0xc0c0c0c0 5 6 7 8 9 10")
    panel.get_by_role("button", name="Run (Ctrl + Enter)").click()
    memory = panel.locator(".memory").first
    expect(memory).to_contain_text("4294967295")
    # Byte by byte 0x40 more, clamped; the last two words are beyond the count.
    words = [0x01020304, 0xc0c0c0c0, 5, 6, 7, 8, 9, 10]
    expected = [int.from_bytes(bytes(min(byte + 0x40, 255) for byte in word.to_bytes(4, "big")), "big") for word in words[:6]] + words[6:]
    assert [int(span.inner_text()) for span in memory.locator("span").all()] == expected
    expect(memory.locator(".changed")).to_have_count(6)
    rows = panel.locator("table.threads tbody tr")
    assert rows.count() > 10
    expect(panel.locator("table.threads thead th")).to_have_count(3 + 8)
    # Threads that have left the kernel do nothing.
    video = rows.filter(has_text="vadd4")
    expect(video.locator("td.off")).to_have_count(2)
    # A fault is drawn at its line.
    panel.get_by_label("count (u32)").fill("9")
    panel.get_by_label("block, as 8 or 8x8x1").fill("16")
    page.keyboard.press("Control+Enter")
    expect(panel.locator(".finding")).to_contain_text("V0606")
    expect(panel.locator(".under .error")).to_contain_text("ld.global.u32")
    # A parameter may have any name, and another type than before.
    panel.get_by_label("PTX module").fill(".version 7.0\n.target sm_75\n.visible .entry k(.param .f32 constructor, .param .f32 count) { ret; }")
    panel.get_by_label("constructor (f32)").fill("1.5")
    panel.get_by_label("count (f32)").fill("2.5")
    panel.get_by_role("button", name="Run (Ctrl + Enter)").click()
    expect(panel.locator(".status")).to_contain_text("thread-instructions")
    # An endless loop ends at the limit.
    panel.get_by_label("PTX module").fill(".version 7.0\n.target sm_75\n.visible .entry k() { $L: bra $L; }")
    expect(panel.get_by_label("content of pixels")).to_have_count(0)
    panel.get_by_role("button", name="Run (Ctrl + Enter)").click()
    expect(panel.locator(".status")).to_contain_text("Stopped at the limit of work")


def test_a_page_s_example_becomes_a_playground(page):
    page.goto(address("instructions/vadd4.html"))
    panel = page.locator(".playground")
    expect(panel.locator("figure")).to_be_visible()
    panel.get_by_label("PTX instruction").focus()
    expect(panel.locator(".register")).to_have_count(3)
    expect(panel.locator(".register").last).to_contain_text("not read")
    panel.get_by_label(".add").select_option(".add")
    expect(panel.locator(".finding")).to_contain_text("V0207")
    panel.get_by_label(".sat").select_option("")
    expect(panel.get_by_label("PTX instruction")).to_have_value("vadd4.s32.s32.s32.add d, a, b, c")
    expect(panel.locator(".register").last).not_to_contain_text("not read")
    panel.get_by_role("button", name="Open in the playground").click()
    page.wait_for_url(lambda url: "playground.html#i=vadd4.s32.s32.s32.add" in url)
    expect(page.locator("#panel-instruction textarea")).to_have_value("vadd4.s32.s32.s32.add d, a, b, c")


def test_the_search_is_used_by_keys(page):
    def finds(text, path):
        page.goto(address("index.html"))
        page.keyboard.press("/")
        page.keyboard.type(text)
        page.wait_for_function("self.vopIndex")
        expect(page.locator("#found a").first).to_be_visible()
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: path in url)

    finds("vabsdiff4", "instructions/vabsdiff4.html")
    finds("v0304", "diagnostics/V0304.html")
    finds("__vsubss4", "instructions/vsub4.html#intrinsics")
    finds("vset2.s32.s32.lt d, a, b, c", "playground.html#i=vset2.s32.s32.lt")
    finds("glossary", "guide/glossary.html")
    # Arrows choose, Escape closes.
    page.keyboard.press("/")
    page.keyboard.type("selector")
    first = page.locator("#found a[aria-selected=true]").inner_text()
    page.keyboard.press("ArrowDown")
    assert page.locator("#found a[aria-selected=true]").inner_text() != first
    page.keyboard.press("Escape")
    expect(page.locator("#found")).to_be_hidden()


def test_tables_are_filtered_and_sorted(page):
    page.goto(address("index.html"))
    expect(page.locator("tr.mnemonic:visible")).to_have_count(23)
    page.get_by_role("button", name="half-words").click()
    expect(page.locator("tr.mnemonic:visible")).to_have_count(7)
    page.get_by_label("Show only instructions with this word").fill("minimum")
    expect(page.locator("tr.mnemonic:visible")).to_have_count(1)
    page.goto(address("costs.html"))
    head = page.locator("thead th", has_text="sm_90")
    head.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    column = [th.inner_text() for th in page.locator("thead th").all()].index("sm_90")
    values = page.locator(f"tbody tr > :nth-child({column + 1})").evaluate_all("cells => cells.map(cell => Number(cell.dataset.value))")
    assert values == sorted(values) and values[0] < values[-1] and len(values) > 300


def test_dark_and_light(page):
    page.goto(address("index.html"))
    theme = lambda: page.evaluate("document.documentElement.dataset.theme")
    before = theme()
    page.get_by_role("button", name="Switch between dark and light").click()
    assert {before, theme()} == {"dark", "light"}
    page.goto(address("costs.html"))
    assert theme() != before, "the choice stays on the next page"


CONTRAST = """() => {
  const parse = text => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a]; };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const background = node => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const low = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !node.checkVisibility() || node.closest(".under, .unseen, .skip, option, noscript")) continue;
    const style = getComputedStyle(node);
    let opacity = 1;
    for (let at = node; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
    const below = background(node);
    const colour = parse(style.color);
    const [one, other] = [luminance(over([...colour.slice(0, 3), colour[3] * opacity], below)), luminance(below)].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (other + 0.05);
    if (ratio < 4.5) low.add(`${ratio.toFixed(2)} ${node.tagName}.${node.className}: ${walker.currentNode.textContent.trim().slice(0, 30)}`);
  }
  return [...low];
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_contrast(page, theme):
    page.emulate_media(color_scheme=theme)
    for path in KINDS:
        if path == "playground.html":
            playground(page, "playground.html#i=vadd.u32.s32.s32.sat%20d.b0%2C%20a%2C%20b%2C%20c&a=ffffff00&b=2&c=0")
        else:
            page.goto(address(path))
        assert page.evaluate("document.documentElement.dataset.theme") == theme
        assert page.evaluate(CONTRAST) == [], path


OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll("a, button, input, select, textarea, summary")]
    .filter(node => node.checkVisibility() && !node.closest(".skip, .under, .scrolls, .aside, #found, pre, p, td, .contents"))
    .map(node => [node, node.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0 && box.height > 0);
  const found = [];
  for (const [i, [one, a]] of boxes.entries()) {
    for (const [other, b] of boxes.slice(i + 1)) {
      if (one.contains(other) || other.contains(one)) continue;
      if (a.left + 1 < b.right && b.left + 1 < a.right && a.top + 1 < b.bottom && b.top + 1 < a.bottom) {
        found.push(`${one.outerHTML.slice(0, 60)} | ${other.outerHTML.slice(0, 60)}`);
      }
    }
  }
  return found;
}"""


def test_pages_fit_their_widths(page):
    wide = []
    # Pages of one kind are alike: a part of them, or all with VOP_FULL=1.
    some = [path for i, path in enumerate(PAGES) if path in KINDS or path.startswith("instructions/") or i % 4 == 0]
    for path in PAGES if "VOP_FULL" in os.environ else some:
        page.set_viewport_size({"width": WIDTHS[0], "height": 800})
        page.goto(address(path))
        if path == "playground.html":
            page.wait_for_selector("#panel-instruction .register")
        for width in WIDTHS if path in KINDS else WIDTHS[:1]:
            page.set_viewport_size({"width": width, "height": 800})
            found = page.evaluate("document.documentElement.scrollWidth")
            if found > width:
                wide.append(f"{path} is {found} wide on {width}")
            if path in KINDS:
                # The head stays over what scrolls below it: at the top nothing does.
                assert page.evaluate(OVERLAPS) == [], f"{path} at {width}"
    assert wide == []


def test_pages_have_what_readers_of_screens_need(page):
    for path in KINDS:
        page.goto(address(path))
        nameless = page.evaluate(
            """() => [...document.querySelectorAll("input, select, textarea, button, img, nav")]
                 .filter(node => !(node.getAttribute("aria-label") || node.labels?.length || node.textContent.trim() || node.hasAttribute("alt")))
                 .map(node => node.outerHTML.slice(0, 80))""")
        assert nameless == [], path
        assert page.locator("h1").count() == 1 and page.locator("main").count() == 1, path
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map(node => node.id)")
        assert len(ids) == len(set(ids)), f"{path}: {[name for name in ids if ids.count(name) > 1]}"
