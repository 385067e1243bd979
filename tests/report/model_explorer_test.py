# SPDX-License-Identifier: Apache-2.0
"""Model Explorer opens what Thimble writes: the graph of `--emit model-explorer`, and a .pte.

usage: model_explorer_test.py THIMBLE SOURCE_DIR BUILD_DIR [CHROMIUM] [unittest options]

If this Python has no ai-edge-model-explorer, one is installed from PyPI into BUILD_DIR/model-explorer-venv; exits with 77
(skipped) if that is impossible. With CHROMIUM, also opens the graph in Model Explorer's own page.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from support import Compiler

PROGRAM, SOURCE, BUILD = (Path(argument).resolve() for argument in sys.argv[1:4])
CHROMIUM = sys.argv[4] if len(sys.argv) > 4 and Path(sys.argv[4]).is_file() else ""
PACKAGES = ["ai-edge-model-explorer==0.1.34", "pte-adapter-model-explorer==0.2.0"]
VENV = BUILD / "model-explorer-venv"

try:
    import dacite
    import portpicker
    from model_explorer import graph_builder
    from model_explorer.extension_manager import ExtensionManager
except ImportError:
    if Path(sys.prefix) == VENV:
        raise
    sys.path.append(str(SOURCE / "tests/docs"))
    from pypi import python_with
    python = str(python_with(VENV, PACKAGES))
    os.execv(python, [python, *sys.argv])

PTE_ADAPTER = "pte_adapter_model_explorer"


class ModelExplorer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        compiler = Compiler(PROGRAM, SOURCE, cls.folder)
        _, cls.report = compiler.transformer(4, "corstone-300", "--emit", "pte,model-explorer")
        compiler.network("digits_cnn", "cortex-m4")
        cls.graph = cls.folder / "transformer_4.model_explorer.json"

    def test_the_graph_has_the_types_of_graph_builder(self):
        collection = dacite.from_dict(graph_builder.GraphCollection, json.loads(self.graph.read_text()),
                                      config=dacite.Config(strict=True))
        operators = [node for node in collection.graphs[0].nodes if node.style]
        self.assertEqual(len(operators), len(self.report["ops"]))

    def test_the_pte_adapter_opens_a_pte(self):
        manager = ExtensionManager([PTE_ADAPTER])
        manager.load_extensions()
        for name, delegates in (("digits_cnn", 0), ("transformer_4", 1)):
            answer = manager.run_cmd({"cmdId": "convert", "extensionId": PTE_ADAPTER, "settings": {},
                                      "modelPath": str(self.folder / f"{name}.pte"), "deleteAfterConversion": False})
            collections = {each["label"]: each["graphs"] for each in answer["graphCollections"]}
            (forward,) = collections[f"{name}.pte"]
            labels = [node["label"] for node in forward["nodes"]]
            self.assertGreater(len(labels), 4)
            self.assertTrue(any("quantize" in label for label in labels), labels)
            self.assertEqual(len(collections.get("delegates", [])), delegates)

    @unittest.skipUnless(CHROMIUM, "no Chromium")
    def test_its_page_shows_the_graph(self):
        from devtools import Browser

        port = portpicker.pick_unused_port()
        server = subprocess.Popen([sys.executable, "-u", "-m", "model_explorer", str(self.graph), "--no_open_in_browser",
                                   "--port", str(port)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        address = next(found[0] for found in (re.search(r"http://\S*data=\S*", line) for line in server.stdout) if found)
        nodes = len(json.loads(self.graph.read_text())["graphs"][0]["nodes"])
        with Browser(CHROMIUM) as browser:
            browser.call("Page.navigate", url=address)
            until = time.monotonic() + 240
            text = ""
            while f"{nodes} nodes" not in text and time.monotonic() < until:
                time.sleep(0.5)
                text = browser.evaluate("document.body ? document.body.innerText : ''")
        self.assertIn(f"{nodes} nodes", text)
        self.assertIn("corstone-300", text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
