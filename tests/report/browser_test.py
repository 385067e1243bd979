# SPDX-License-Identifier: Apache-2.0
"""The page of `compile --report x.html` in headless Chromium: what is shown, where, how fast, and what keys do.

usage: browser_test.py THIMBLE SOURCE_DIR CHROMIUM [--mobilenet-v2] [--seconds S] [unittest options]

Exits with 77 (skipped) if CHROMIUM is empty. THIMBLE_SCREENSHOTS=FOLDER keeps the screenshots.
--mobilenet-v2: only the page of MobileNetV2 for pictures of 224 x 224 pixels, which is too large to commit: the one that
`python models/make.py mobilenet_v2` wrote, or an untrained one if this Python has PyTorch; 77 without both.
--seconds: fails if a page needs more seconds until the last box of its graph exists. A busy machine needs any time.
"""

import argparse
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from support import Compiler, hostile_export

SKIPPED = 77
parser = argparse.ArgumentParser()
parser.add_argument("program", type=Path)
parser.add_argument("source", type=Path)
parser.add_argument("chromium", nargs="?", default="")
parser.add_argument("--mobilenet-v2", action="store_true")
parser.add_argument("--seconds", type=float)
OPTIONS, UNITTEST = parser.parse_known_args()
PROGRAM, SOURCE = OPTIONS.program.resolve(), OPTIONS.source.resolve()
MOBILENET_V2 = SOURCE / "build/models/mobilenet_v2"
BYTES_MAX = 2_000_000

OPTIONS.chromium = shutil.which(OPTIONS.chromium) or ""
if not OPTIONS.chromium:
    print("skipped: no Chromium (Debian: apt-get install chromium; cmake -DCHROMIUM=PROGRAM names another one)")
    sys.exit(SKIPPED)

from devtools import Browser  # noqa: E402

# Runs before the page: notes when the last node of the graph was there.
TIMER = """
  window.lastNode = 0;
  new MutationObserver((records) => {
    for (const record of records) for (const node of record.addedNodes) {
      if (node.classList && node.classList.contains("node")) window.lastNode = performance.now();
    }
  }).observe(document, { childList: true, subtree: true });
  window.violations = [];
  document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
"""

# Texts that intersect, or that are outside of the element that must contain them.
LAYOUT = """
(() => {
  const problems = [];
  const box = (element) => element.getBoundingClientRect();
  const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
  const meet = (a, b) => a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5;
  const disjoint = (elements, what) => {
    const boxes = elements.map((each) => [box(each), each]).sort((a, b) => a[0].left - b[0].left);
    for (let i = 0; i < boxes.length; ++i) {
      for (let k = i + 1; k < boxes.length && boxes[k][0].left < boxes[i][0].right; ++k) {
        if (meet(boxes[i][0], boxes[k][0])) problems.push(`${what} overlap: ${boxes[i][1].textContent} | ${boxes[k][1].textContent}`);
      }
    }
  };
  const all = (selector) => [...document.querySelectorAll(selector)];
  const stage = box(document.getElementById("graph"));
  for (const node of all(".node")) {
    const outline = box(node.querySelector(".box"));
    if (!inside(outline, stage)) problems.push(`node outside of the graph: ${node.textContent}`);
    for (const text of node.querySelectorAll("text")) {
      if (!inside(box(text), outline)) problems.push(`label outside of its node: ${text.textContent}`);
      if (!text.textContent.trim()) problems.push("empty label");
    }
  }
  disjoint(all(".node text"), "labels");
  disjoint(all(".node .box"), "nodes");
  disjoint(all(".tile"), "tiles");
  for (const chart of all(".chart")) {
    const texts = [...chart.querySelectorAll("text")];
    for (const text of texts) if (!inside(box(text), box(chart))) problems.push(`text outside of the chart: ${text.textContent}`);
    disjoint(texts, "texts of a chart");
  }
  for (const element of all("h1, h2, header p, nav a, .tile b, .tile span, .legend li, th, td:not(.src), #details *, button")) {
    if (element.closest("[hidden]") || !element.offsetWidth) continue;
    if (element.scrollWidth > element.clientWidth + 1 && element.clientWidth) problems.push(`clipped: ${element.textContent}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) problems.push("the page is wider than the window");
  return problems;
})()
"""

# The least contrast of texts against the background that they are on (WCAG 2, section 1.4.3).
CONTRAST = """
(() => {
  const channels = (color) => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ratio = (a, b) => {
    const [x, y] = [luminance(channels(a)), luminance(channels(b))].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const style = (selector) => getComputedStyle(document.querySelector(selector));
  const page = style("body").backgroundColor, card = style(".tile").backgroundColor;
  const results = {
    text: ratio(style("body").color, page), heading: ratio(style("h2").color, card), tile: ratio(style(".tile span").color, card),
    link: ratio(style("nav a").color, card), axis: ratio(style(".chart text").fill, card), peak: ratio(style(".peaktext").fill, card),
  };
  for (const node of document.querySelectorAll(".node:not(.port)")) {
    const back = getComputedStyle(node.querySelector(".box")).fill;
    for (const part of [".t", ".s"]) {
      const name = `${part} ${node.getAttribute("class")}`;
      results[name] = results[name] || ratio(getComputedStyle(node.querySelector(part)).fill, back);
    }
  }
  return results;
})()
"""


class InBrowser(unittest.TestCase):
    """Opens pages; has no tests of its own."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.compiler = Compiler(PROGRAM, SOURCE, cls.folder)
        cls.browser = Browser(OPTIONS.chromium)
        cls.addClassCleanup(cls.browser.__exit__)
        cls.browser.call("Page.addScriptToEvaluateOnNewDocument", source=TIMER)
        cls.pictures = Path(os.environ.get("THIMBLE_SCREENSHOTS", cls.folder))
        cls.pictures.mkdir(parents=True, exist_ok=True)

    def setUp(self):
        self.browser.size(1500, 1100)
        self.browser.dark(False)

    def open(self, made):
        path, report = made
        self.browser.open(path)
        requests = {event["params"]["request"]["url"] for event in self.browser.events
                    if event.get("method") == "Network.requestWillBeSent"}
        self.assertEqual(requests, {path.resolve().as_uri()}, "the page loads nothing")
        errors = [event["params"] for event in self.browser.events
                  if event.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")]
        self.assertEqual(errors, [])
        self.assertEqual(self.browser.evaluate("window.violations"), [])
        return report

    def check(self, made):
        """Checks what holds for every page; returns the report."""
        report = self.open(made)
        evaluate = self.browser.evaluate
        seconds = evaluate("window.lastNode") / 1000
        nodes = evaluate("document.querySelectorAll('.node:not(.port)').length")
        print(f"{report['target']}: {nodes} operators, last node after {seconds:.3f} s, "
              f"{made[0].stat().st_size:,} bytes ({made[0].name})")
        self.assertEqual(nodes, len(report["ops"]))
        self.assertGreater(seconds, 0)
        self.assertLess(made[0].stat().st_size, BYTES_MAX)
        if OPTIONS.seconds:
            self.assertLess(seconds, OPTIONS.seconds)
        # The graph in its natural size: in a smaller one, the browser rounds the height of labels.
        evaluate("(() => { const g = document.getElementById('graph'), v = g.viewBox.baseVal;"
                 " g.style.width = v.width + 'px'; g.style.maxHeight = 'none'; })()")
        self.assertEqual(evaluate(LAYOUT), [], "in its natural size")
        evaluate("(() => { const g = document.getElementById('graph'); g.style.width = g.style.maxHeight = ''; })()")
        for width in (1500, 1000, 700) if nodes < 200 else ():
            self.browser.size(width, 1100)
            self.assertEqual(evaluate(LAYOUT), [], f"at {width} pixels")
        self.browser.size(1500, 1100)
        return report

    def check_mobilenet_v2(self, made):
        self.check(made)
        text = self.browser.evaluate("document.body.innerText")
        for part in ("Operators by engine", "Arena over time", "Accuracy of each layer", "Memories", "thimble compile"):
            self.assertIn(part, text)


class MobileNetV2(InBrowser):
    def test_page(self):
        for name in ("mobilenet_v2.pt2", "calibrate.npz"):
            (self.folder / name).symlink_to(EXPORTED / name)
        self.check_mobilenet_v2(self.compiler.mobilenet_v2("corstone-300"))
        self.browser.screenshot(self.pictures / "mobilenet_v2.png", height=1500)


class Pages(InBrowser):
    def test_mobilenet_v2_tiny(self):
        self.check_mobilenet_v2(self.compiler.network("mobilenet_v2_tiny", "corstone-300"))

    def test_transformer(self):
        self.check(self.compiler.transformer(4, "axon"))
        self.assertIn("no quotient and no root", self.browser.evaluate("document.body.innerText"))
        self.browser.dark(True)
        self.browser.screenshot(self.pictures / "transformer.png", height=1500)

    def test_500_operators(self):
        self.check(self.compiler.transformer(20, "corstone-300"))
        self.browser.evaluate("document.getElementById('search').focus()")
        self.browser.type("layer_norm_17")
        self.browser.key("Enter")
        seen = self.browser.evaluate("""(() => {
          const a = document.querySelector(".node.chosen .t").getBoundingClientRect();
          const b = document.getElementById("graph").getBoundingClientRect();
          return [a.left > b.left && a.right < b.right && a.top > b.top && a.bottom < b.bottom, a.height]; })()""")
        self.assertTrue(seen[0], "the found operator is in view")
        self.assertGreater(seen[1], 9, "and large enough to read")

    def test_a_core_with_arena(self):
        self.check(self.compiler.network("unet_small", "cortex-m7"))
        self.browser.screenshot(self.pictures / "unet.png", height=2200)

    def test_hostile_names(self):
        folder = SOURCE / "models/digits_cnn"
        hostile_export(folder / "digits_cnn.pt2", self.folder / "hostile.pt2")
        self.check(self.compiler.compile("hostile.pt2", folder / "calibrate.npz", "cortex-m4", name="hostile"))
        for node in range(self.browser.evaluate("document.querySelectorAll('.node').length")):
            self.browser.evaluate(f"document.getElementById('n{node}').dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
        self.assertIsNone(self.browser.evaluate("window.attacked === undefined ? null : window.attacked"))
        self.assertEqual(self.browser.evaluate("document.images.length"), 0)

    def test_light_and_dark(self):
        self.open(self.compiler.transformer(4, "corstone-300"))
        backgrounds = set()
        for dark in (False, True):
            self.browser.dark(dark)
            backgrounds.add(self.browser.evaluate("getComputedStyle(document.body).backgroundColor"))
            for what, ratio in self.browser.evaluate(CONTRAST).items():
                self.assertGreaterEqual(ratio, 4.5, f"contrast of {what}, {'dark' if dark else 'light'}")
            self.browser.screenshot(self.pictures / f"{'dark' if dark else 'light'}.png")
        self.assertEqual(len(backgrounds), 2)
        light, dark = ((self.pictures / f"{name}.png").read_bytes() for name in ("light", "dark"))
        self.assertNotEqual(light, dark)

    def test_keys(self):
        report = self.open(self.compiler.transformer(4, "corstone-300"))
        browser, evaluate = self.browser, self.browser.evaluate
        focused = []
        for _ in range(14):
            browser.key("Tab")
            focused.append(evaluate("document.activeElement.id || document.activeElement.textContent"))
            self.assertNotEqual(evaluate("getComputedStyle(document.activeElement).outlineStyle"), "none", focused[-1])
        self.assertEqual(focused[:2], ["Graph", "Arena"])
        self.assertLess(focused.index("search"), focused.index("graph"))
        evaluate("document.getElementById('graph').focus()")
        view = "(() => { const v = document.getElementById('graph').viewBox.baseVal; return [v.x, v.y, v.width]; })()"
        start = evaluate(view)
        browser.key("+", text="+")
        nearer = evaluate(view)
        self.assertLess(nearer[2], start[2])
        browser.key("ArrowRight")
        browser.key("ArrowDown")
        moved = evaluate(view)
        self.assertGreater(moved[0], nearer[0])
        self.assertGreater(moved[1], nearer[1])
        browser.key("-", text="-")
        self.assertGreater(evaluate(view)[2], moved[2])
        browser.key("0", text="0")
        self.assertEqual(evaluate(view), start)
        for expected in (0, 1, 2):
            browser.key(".", text=".")
            self.assertEqual(evaluate("document.querySelector('tr.chosen').dataset.r"), str(expected))
            self.assertIn(report["ops"][expected]["op"], evaluate("document.getElementById('details').innerText"))
        browser.key(",", text=",")
        self.assertEqual(evaluate("document.querySelector('tr.chosen').dataset.r"), "1")
        self.assertEqual(evaluate(LAYOUT.replace("node outside of the graph", "").replace("!inside(outline, stage)", "false")), [])
        browser.key("Enter")
        self.assertEqual(evaluate("document.querySelectorAll('.node.chosen').length"), 1)

    def test_sorting_and_search(self):
        report = self.open(self.compiler.transformer(4, "corstone-300"))
        browser, evaluate = self.browser, self.browser.evaluate
        column = "[...document.querySelectorAll('#ops th')].findIndex((each) => each.textContent === 'MACs')"
        evaluate(f"document.querySelectorAll('#ops th button')[{column}].focus()")
        order = "[...document.querySelectorAll('#ops tbody tr')].map((each) => Number(each.dataset.r))"
        for key, direction in (("Enter", "descending"), (" ", "ascending")):
            browser.key(key, text=" " if key == " " else None)
            rows = evaluate(order)
            macs = [report["ops"][row]["macs"] for row in rows]
            self.assertEqual(macs, sorted(macs, reverse=direction == "descending"))
            self.assertEqual(sorted(rows), list(range(len(rows))))
            self.assertEqual(evaluate("document.querySelector('#ops th[aria-sort]').getAttribute('aria-sort')"), direction)
        evaluate("document.getElementById('search').focus()")
        browser.type("blocks.2 linear")
        shown = evaluate("[...document.querySelectorAll('#ops tbody tr:not([hidden])')].map((each) => Number(each.dataset.r))")
        expected = [row for row, op in enumerate(report["ops"]) if "blocks.2" in op["module"]
                    and "linear" in f"{op['op']} {op['name']} {op['node']} {op['source_text']}".lower()]
        self.assertLessEqual(set(expected), set(shown))
        self.assertLess(len(shown), len(report["ops"]) / 2)
        self.assertEqual(evaluate("document.getElementById('found').textContent"), f"{len(shown)} found")
        self.assertEqual(evaluate("document.querySelectorAll('.node.hit').length"), len(shown))
        browser.key("Enter")
        self.assertEqual(evaluate("document.getElementById('found').textContent"), f"1 of {len(shown)}")
        browser.key("Escape")
        self.assertEqual(evaluate("document.querySelectorAll('#ops tbody tr[hidden]').length"), 0)

    def test_a_click_selects(self):
        self.open(self.compiler.transformer(4, "corstone-300"))
        browser, evaluate = self.browser, self.browser.evaluate
        at = evaluate("(() => { const b = document.querySelector('#n5 .box').getBoundingClientRect();"
                      " return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        browser.click(*at)
        self.assertEqual(evaluate("document.querySelector('.node.chosen').id"), "n5")
        self.assertGreater(evaluate("document.querySelectorAll('.edges .on').length"), 1)
        self.assertGreater(evaluate("document.querySelectorAll('#details dt').length"), 4)
        evaluate("document.querySelector('#details button').click()")
        self.assertNotEqual(evaluate("document.querySelector('.node.chosen').id"), "n5")

    def test_print(self):
        self.open(self.compiler.transformer(4, "corstone-300"))
        self.assertGreater(len(self.browser.call("Page.printToPDF", printBackground=True)["data"]), 50_000)
        self.browser.call("Emulation.setEmulatedMedia", media="print")
        try:
            hidden = self.browser.evaluate("['nav', '.zoom', '#details'].map((each) =>"
                                           " getComputedStyle(document.querySelector(each)).display)")
            self.assertEqual(hidden, ["none"] * 3)
            self.browser.size(718, 1000)  # a page of A4 without its margins
            wide = self.browser.evaluate("[...document.querySelectorAll('table, svg, .tile, pre')].filter((each) =>"
                                         " each.getBoundingClientRect().right > innerWidth + 1)"
                                         ".map((each) => each.id || each.textContent)")
            self.assertEqual(wide, [], "nothing is cut off on paper")
            self.assertGreater(self.browser.evaluate("document.getElementById('graph').getBoundingClientRect().height"), 200)
        finally:
            self.browser.call("Emulation.setEmulatedMedia", media="")


def exported_mobilenet_v2(folder):
    """Returns the folder of the export, or None without an export and without PyTorch."""
    if (MOBILENET_V2 / "mobilenet_v2.pt2").exists():
        return MOBILENET_V2
    sys.path.append(str(SOURCE / "models"))
    try:
        from common.untrained import export_mobilenet_v2
    except ImportError:
        return None
    export_mobilenet_v2(folder)
    return folder


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as exports:
        if OPTIONS.mobilenet_v2:
            EXPORTED = exported_mobilenet_v2(Path(exports))
            if EXPORTED is None:
                print(f"skipped: {MOBILENET_V2}/mobilenet_v2.pt2 does not exist (python models/make.py mobilenet_v2), and "
                      f"{sys.executable} has no PyTorch to export an untrained one")
                sys.exit(SKIPPED)
            print(f"mobilenet_v2: {EXPORTED}")
        unittest.main(argv=[sys.argv[0], *UNITTEST], defaultTest="MobileNetV2" if OPTIONS.mobilenet_v2 else "Pages")
