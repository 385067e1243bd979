# SPDX-License-Identifier: Apache-2.0
"""Compiles networks for the tests of the report, and parses the page."""

import html.parser
import json
import random
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

from npy import write_npy  # noqa: E402

HOSTILE = """</script><img src=x onerror="window.attacked=1"><b>'&amp;"""


def random_calibration(path, shape, samples=8):
    """An .npz with one array x of uniform values."""
    count = samples
    for size in shape:
        count *= size
    generator = random.Random(7)
    write_npy(path.with_suffix(".npy"), "<f4", (samples, *shape),
              struct.pack(f"<{count}f", *[generator.uniform(-1, 1) for _ in range(count)]))
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(path.with_suffix(".npy"), "x.npy")


def rewrite(model, result, change):
    """Copies an export with its graph's JSON text changed."""
    with zipfile.ZipFile(model) as archive, zipfile.ZipFile(result, "w") as written:
        for name in archive.namelist():
            data = archive.read(name)
            written.writestr(name, change(data.decode()).encode() if name.endswith("models/model.json") else data)


def hostile_export(model, result):
    """Makes names of nodes and lines of source text that a page must escape."""
    def change(text):
        graph = json.loads(text)

        def rename(value):
            if isinstance(value, dict):
                return {rename(key): rename(each) for key, each in value.items()}
            if isinstance(value, list):
                return [rename(each) for each in value]
            if isinstance(value, str) and value.startswith("relu"):
                return HOSTILE + value
            return value
        graph = rename(graph)
        for node in graph["graph_module"]["graph"]["nodes"]:
            trace = node.get("metadata", {}).get("stack_trace")
            if trace:
                lines = [line if line.lstrip().startswith("File") else f"{line} # {HOSTILE}" for line in trace.splitlines()]
                node["metadata"]["stack_trace"] = "\n".join(lines) + "\n"
        return json.dumps(graph)
    rewrite(model, result, change)


class Compiler:
    """Compiles networks of the tree; files are in `folder`."""

    def __init__(self, program, source, folder):
        self.program, self.source, self.folder = program, source, folder

    def run(self, *arguments, code=0):
        done = subprocess.run([str(self.program), *map(str, arguments)], capture_output=True, text=True,
                              cwd=self.folder, timeout=300)
        if done.returncode != code:
            raise AssertionError(f"{arguments}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stderr if code else done.stdout

    def compile(self, model, calibration, target, *more, name):
        """Returns the page's path and the JSON report of the same compilation."""
        said = self.run("compile", model, "--target", target, "--calibrate", calibration, "-o", f"{name}.pte",
                        "--report", f"{name}.html", "--json", *more)
        return self.folder / f"{name}.html", json.loads(said)

    def network(self, network, target, *more, name=None):
        folder = self.source / "models" / network
        return self.compile(folder / f"{network}.pt2", folder / "calibrate.npz", target, *more, name=name or network)

    def transformer(self, blocks, target, *more):
        calibration = self.folder / "pictures.npz"
        if not calibration.exists():
            random_calibration(calibration, (3, 32, 32))
        return self.compile(HERE / f"transformer_{blocks}.pt2", calibration, target, *more,
                            name=f"transformer_{blocks}")

    def mobilenet_v2(self, target):
        """MobileNetV2 for pictures of 224 x 224 pixels, in `folder`."""
        return self.compile("mobilenet_v2.pt2", "calibrate.npz", target, name="mobilenet_v2")


class Page(html.parser.HTMLParser):
    """The elements of a page, with attributes and text; checks that elements are nested."""

    VOID = {"meta", "input", "br", "img", "link", "hr"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.problems = [], [], []
        self.feed(text)
        self.close()
        self.problems += [f"<{each['tag']}> is not closed" for each in self.open]

    def handle_starttag(self, tag, attributes):
        element = {"tag": tag, "attributes": dict(attributes), "text": "",
                   "parents": [each["tag"] for each in self.open]}
        self.elements.append(element)
        if tag not in self.VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1]["tag"] != tag:
            self.problems.append(f"</{tag}> inside of {[each['tag'] for each in self.open[-3:]]}")
            return
        self.open.pop()

    def handle_data(self, data):
        for each in self.open:
            each["text"] += data

    def find(self, tag=None, **attributes):
        """Elements by tag and attributes; `cls` is one word of the class."""
        found = []
        for each in self.elements:
            own = each["attributes"]
            matches = tag in (None, each["tag"])
            for key, value in attributes.items():
                if key == "cls":
                    matches = matches and value in own.get("class", "").split()
                else:
                    matches = matches and own.get(key) == value
            if matches:
                found.append(each)
        return found

    def by_id(self, name):
        found = self.find(id=name)
        if len(found) != 1:
            raise AssertionError(f"{len(found)} elements with id {name}")
        return found[0]
