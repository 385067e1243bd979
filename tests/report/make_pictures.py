# SPDX-License-Identifier: Apache-2.0
"""Writes the pictures of docs/report.md: the reports of MobileNetV2 and of a transformer in Chromium.

usage: make_pictures.py THIMBLE CHROMIUM MOBILENET_FOLDER        with a Python that has Pillow

MOBILENET_FOLDER is what `python models/make.py mobilenet_v2` writes. Pictures have 256 colors, for their size.
"""

import sys
import tempfile
from pathlib import Path

from PIL import Image

from devtools import Browser
from support import Compiler

ROOT = Path(__file__).resolve().parents[2]


def picture(browser, name):
    path = ROOT / "docs" / name
    browser.screenshot(path)
    with Image.open(path) as image:
        small = image.convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def main():
    program, chromium, mobilenet = (Path(argument).resolve() for argument in sys.argv[1:4])
    with tempfile.TemporaryDirectory() as folder, Browser(str(chromium)) as browser:
        compiler = Compiler(program, ROOT, Path(folder))
        page, _ = compiler.compile(mobilenet / "mobilenet_v2.pt2", mobilenet / "calibrate.npz", "corstone-300",
                                   name="mobilenet_v2")
        browser.size(1400, 1100)
        browser.open(page)
        picture(browser, "report-mobilenet-v2.png")
        page, _ = compiler.transformer(4, "corstone-300")
        browser.dark(True)
        browser.size(1400, 1390)
        browser.open(page)
        browser.evaluate("document.getElementById('graph').focus()")
        for _ in range(7):
            browser.key(".", text=".")
        browser.key("0", text="0")
        browser.evaluate("document.activeElement.blur()")
        picture(browser, "report-transformer.png")


if __name__ == "__main__":
    main()
