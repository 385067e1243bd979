# SPDX-License-Identifier: Apache-2.0
"""The documents as a site: every warning is an error, it needs no network, its search and its reference are complete.

usage: site_test.py SOURCE_DIR BUILD_DIR [PYTHON or ""] [CHROMIUM or ""] [unittest options]

PYTHON has mkdocs-material and mkdocstrings[python]; without it, they are installed from PyPI into BUILD_DIR/docs-venv.
Exits with 77 (skipped) if that is impossible. Without CHROMIUM, the test of the search in a browser is skipped.
"""

import ast
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from pypi import python_with

SOURCE, BUILD = (Path(argument).resolve() for argument in sys.argv[1:3])
PACKAGES = ["mkdocs-material==9.*", "mkdocstrings[python]==1.*", "ruff"]
CHROMIUM = sys.argv[4] if len(sys.argv) > 4 else ""
SITE = BUILD / "site"
TERM, TERM_PAGE = "requantize", "numerics.html"  # a word of the documents that a user looks for


def mkdocs(root, site):
    python = sys.argv[3] if len(sys.argv) > 3 and sys.argv[3] else python_with(BUILD / "docs-venv", PACKAGES)
    environment = dict(os.environ, NO_MKDOCS_2_WARNING="1")
    return subprocess.run([python, "-m", "mkdocs", "build", "--strict", "--site-dir", site], cwd=root, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)


class Page(html.parser.HTMLParser):
    """Addresses that a browser loads for a page, and ids of its elements."""

    def __init__(self, path):
        super().__init__()
        self.loads, self.ids = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.add(attributes.get("id"))
        if tag == "link":
            self.loads.append(attributes.get("href"))
        elif tag != "a":
            self.loads.append(attributes.get("src"))


def public_names():
    """`__all__` of the Python package, and the names of `_LAZY`, which are loaded when they are first used."""
    values = {ast.unparse(getattr(node, "target", None) or node.targets[0]): node.value
              for node in ast.parse((SOURCE / "python/thimble_ml/__init__.py").read_text()).body
              if isinstance(node, (ast.Assign, ast.AnnAssign))}
    lazy = ast.literal_eval(values["_LAZY"])
    present = [name for name, module in lazy.items() if (SOURCE / f"python/thimble_ml/{module}.py").is_file()]
    return ast.literal_eval(values["__all__"]) + present


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        built = mkdocs(SOURCE, SITE)
        if built.returncode != 0:
            raise AssertionError(f"mkdocs build --strict:\n{built.stdout}")

    def test_loads_nothing_from_other_hosts(self):
        pages = list(SITE.rglob("*.html"))
        self.assertGreater(len(pages), 25)
        for path in pages:
            for address in filter(None, Page(path).loads):
                self.assertNotRegex(address, r"^(\w+:)?//", path)
        for path in SITE.rglob("*.css"):
            self.assertNotRegex(path.read_text(), r"""(@import|url\()\s*["']?(\w+:)?//""", path)

    def test_search_index_has_every_page(self):
        text = (SITE / "search/search_index.js").read_text()
        entries = json.loads(text[text.index("{"):text.rindex("}") + 1])["docs"]
        self.assertTrue(any(TERM in entry["text"] and entry["location"].startswith(TERM_PAGE) for entry in entries))
        indexed = {entry["location"].partition("#")[0] for entry in entries}
        for path in (SOURCE / "docs").rglob("*.md"):
            if path.name != "README.md":
                self.assertIn(str(path.relative_to(SOURCE / "docs").with_suffix(".html")), indexed)

    def test_reference_has_every_public_name(self):
        ids = Page(SITE / "python.html").ids
        names = public_names()
        self.assertIn("compile", names)
        self.assertEqual([name for name in names if f"thimble_ml.{name}" not in ids], [])

    def test_lists_follow_their_paragraph(self):
        """Python's Markdown needs an empty line before a list, which Markdown elsewhere does not."""
        for path in SITE.rglob("*.html"):
            for paragraph in re.findall(r"<p>(.*?)</p>", path.read_text(), re.S):
                self.assertNotRegex(paragraph, r"(?m)^(- |\|.*\|$)", path)

    def test_errors_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for entry in SOURCE.iterdir():
                if entry.name != "docs" and not entry.name.startswith((".", "build")):
                    (root / entry.name).symlink_to(entry)
            shutil.copytree(SOURCE / "docs", root / "docs")
            (root / "docs/orphan.md").write_text("# Orphan\n\n[A link](nowhere.md), [another](fit.md#nowhere).\n")
            built = mkdocs(root, root / "site")
            self.assertNotEqual(built.returncode, 0)
            self.assertRegex(built.stdout, r'not included in the "nav" configuration:\n *- orphan\.md')
            self.assertIn("link 'nowhere.md'", built.stdout)
            self.assertIn("anchor '#nowhere'", built.stdout)
            self.assertIn("3 warnings in strict mode", built.stdout)

    @unittest.skipUnless(CHROMIUM and Path(CHROMIUM).is_file(), "no Chromium (Debian: apt-get install chromium)")
    def test_search_from_a_file_address(self):
        sys.path.insert(0, str(SOURCE / "tests/report"))
        from devtools import Browser
        with Browser(CHROMIUM) as browser:
            colors = []
            for dark in (True, False):
                browser.dark(dark)
                browser.open(SITE / "index.html")
                colors.append(browser.evaluate("getComputedStyle(document.body).backgroundColor"))
            self.assertNotEqual(*colors)
            browser.evaluate("document.querySelector('[data-md-component=search-query]').focus()")
            browser.type(TERM)
            found, until = "", time.monotonic() + 240
            while TERM_PAGE not in found and time.monotonic() < until:
                time.sleep(0.2)
                found = browser.evaluate("[...document.querySelectorAll('.md-search-result__link')].map(a => a.href).join(' ')")
            self.assertIn(TERM_PAGE, found)
            requests = [event["params"]["request"]["url"] for event in browser.events
                        if event.get("method") == "Network.requestWillBeSent"]
            self.assertGreater(len(requests), 3)
            self.assertEqual([url for url in requests if not url.startswith(("file:", "data:"))], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
