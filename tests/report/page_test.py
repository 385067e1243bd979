# SPDX-License-Identifier: Apache-2.0
"""The page of `compile --report x.html`, Model Explorer's JSON and the trace of `run`, without a browser.

usage: page_test.py THIMBLE SOURCE_DIR [unittest options]
"""

import json
import re
import sys
import tempfile
import unittest
from pathlib import Path

from support import HOSTILE, Compiler, Page, hostile_export, random_calibration

PROGRAM, SOURCE = (Path(argument).resolve() for argument in sys.argv[1:3])
BYTES_MAX = 2_000_000


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.compiler = Compiler(PROGRAM, SOURCE, cls.folder)


class Pages(Reports):
    def check(self, path, report):
        """Checks what holds for every page; returns the parsed page."""
        text = path.read_text()
        self.assertLess(len(text.encode()), BYTES_MAX)
        page = Page(text)
        self.assertEqual(page.problems, [])
        for element in page.elements:
            for key, value in element["attributes"].items():
                if key in ("src", "href", "xlink:href", "action", "data"):
                    self.assertTrue(value.startswith("#"), f"{key}={value}: the page must not load anything")
                self.assertFalse(key.startswith("on"), f"{key}: the content policy forbids handlers")
        self.assertIsNone(re.search(r"@import|url\((?!#)|https?://", text), "the page must not load anything")
        ids = [each["attributes"]["id"] for each in page.elements if "id" in each["attributes"]]
        self.assertEqual(len(ids), len(set(ids)))
        links = {each["attributes"]["href"][1:] for each in page.find("a")}
        self.assertLessEqual(links, set(ids))

        ops = report["ops"]
        nodes = json.loads(page.by_id("nodes")["text"])
        rows = [node for node in nodes if "row" in node]
        self.assertEqual([node["row"] for node in rows], list(range(len(ops))))
        for node, op in zip(rows, ops):
            self.assertEqual((node["kernel"], node["engine"], node["result"]), (op["op"], op["engine"], op["name"]))
            self.assertEqual((node["macs"], node["bytes"], node["cycles"]), (op["macs"], op["bytes_out"], op["cycles"]))
        drawn = page.find("g", cls="node")
        self.assertEqual([each["attributes"]["data-n"] for each in drawn], [str(i) for i in range(len(nodes))])
        edges = {(int(each["attributes"]["data-f"]), int(each["attributes"]["data-t"]))
                 for each in page.find("path") if "data-f" in each["attributes"]}
        self.assertEqual(edges, {(i, to) for i, node in enumerate(nodes) for to in node["out"]})
        for i, node in enumerate(nodes):
            ports = node["title"] in ("input", "state", "output", "next state")
            self.assertTrue(node["in"] or node["title"] in ("input", "state"), f"{i} {node['title']} reads nothing")
            self.assertTrue(node["out"] or ports, f"{i} {node['title']}: nobody reads it")

        table = [each for each in page.find("tr") if "data-r" in each["attributes"]]
        self.assertEqual(len(table), len(ops))
        self.assertEqual(len(page.find("g", cls="buffer")), len(report["arena"]))
        colors = {op["engine"]: set() for op in ops}
        for node, element in zip(nodes, drawn):
            if "row" in node:
                colors[node["engine"]] |= {each for each in element["attributes"]["class"].split() if each != "node"}
        self.assertTrue(all(len(each) == 1 for each in colors.values()), colors)
        self.assertEqual(len(set.union(*colors.values())), len(colors), "a color per engine")
        whole = page.find("main")[0]["text"]
        for memory in report["memories"]:
            self.assertIn(f"{memory['bytes_used']:,} B", whole)
        for fallback in report["fallbacks"]:
            self.assertIn(fallback["reason"], whole)
        return page

    def test_a_network_on_a_core(self):
        path, report = self.compiler.network("digits_cnn", "cortex-m4")
        page = self.check(path, report)
        headers = [each["text"] for each in page.find("th") if "thead" in each["parents"]]
        for title in ("instructions", "MACs", "bytes out", "constants", "arena", "SQNR, dB", "source"):
            self.assertIn(title, headers)
        self.assertIn("cycles", headers)
        for title in ("time, µs",):
            self.assertNotIn(title, headers, "columns without a value are not shown")
        self.assertIn("every operator runs on cortex-m4", page.find("main")[0]["text"])

    def test_the_command_can_be_repeated(self):
        page = self.check(*self.compiler.network("digits_cnn", "cortex-m4", "--memory", "sram=64K", name="it's here"))
        command = page.by_id("command")["text"]
        self.assertTrue(command.startswith("thimble compile "), command)
        self.assertIn("--memory sram=64K", command)
        self.assertIn("'it'\\''s here.pte'", command)

    def test_mobilenet_v2_tiny_on_an_npu(self):
        path, report = self.compiler.network("mobilenet_v2_tiny", "corstone-300")
        page = self.check(path, report)
        engines = {op["engine"] for op in report["ops"]}
        self.assertEqual(len(engines), 2)
        self.assertIn("cycles", [each["text"] for each in page.find("th")])
        bars = [each for each in page.find("rect") if "data-node" in each["attributes"]]
        self.assertGreater(len(bars), 60, "a bar for the SQNR of each layer")

    def test_a_transformer_with_fallbacks(self):
        path, report = self.compiler.transformer(4, "corstone-300")
        page = self.check(path, report)
        # The core of this part has no clock, the NPU has one: shares of cycles, which both have.
        times = {op["engine"]: op["time_us"] for op in report["ops"]}
        self.assertIsNone(times["cortex-m55"])
        self.assertIsNotNone(times["ethos-u55-128"])
        self.assertIn("bar and percentage: cycles", page.find("main")[0]["text"])
        path, report = self.compiler.transformer(4, "axon")
        page = self.check(path, report)
        rows = page.by_id("fallbacks")["text"]
        self.assertGreater(len(report["fallbacks"]), 8)
        for node in ("layer_norm", "layer_norm_7"):
            self.assertIn(node, rows)
        self.assertIn("x = x + self.attention(self.norm1(x))", rows, "the line of the model")
        peak = max(op["arena_live_bytes"] for op in report["ops"])
        self.assertIn(f"The peak of {peak:,} B", page.find("main")[0]["text"])

    def test_500_operators(self):
        path, report = self.compiler.transformer(20, "corstone-300")
        self.assertGreater(len(report["ops"]), 500)
        self.check(path, report)

    def test_states(self):
        path, report = self.compiler.network("streaming_conv_buffer", "cortex-m33")
        nodes = json.loads(self.check(path, report).by_id("nodes")["text"])
        self.assertTrue(any(node["title"] == "state" for node in nodes))

    def test_an_output_of_indices_has_no_sqnr(self):
        random_calibration(self.folder / "indices.npz", (6,))
        path, report = self.compiler.compile(SOURCE / "tests/data/pt2/argmax.pt2", self.folder / "indices.npz",
                                             "cortex-m4", name="indices")
        self.assertEqual(report["sqnr_db"], [None])
        tiles = [each["text"] for each in self.check(path, report).find(cls="tile")]
        self.assertFalse(any(text.startswith("SQNR") for text in tiles), tiles)
        self.assertTrue(any(text.startswith("agreement") for text in tiles), tiles)

    def test_several_networks(self):
        for network in ("unet_small", "lstm_classifier", "shufflenet_v2_like", "yolo_nano_like"):
            for target in ("cortex-m7", "nrf54lm20b", "imxrt700cm"):
                with self.subTest(network=network, target=target):
                    self.check(*self.compiler.network(network, target))

    def test_hostile_names(self):
        folder = SOURCE / "models/digits_cnn"
        hostile_export(folder / "digits_cnn.pt2", self.folder / "hostile.pt2")
        path, report = self.compiler.compile("hostile.pt2", folder / "calibrate.npz", "cortex-m4", name="hostile")
        self.assertTrue(any(HOSTILE in op["source_text"] for op in report["ops"]))
        self.assertTrue(any(HOSTILE in op["node"] for op in report["source_ops"]))
        page = self.check(path, report)
        self.assertEqual(page.find("img"), [])
        self.assertNotIn("<img", path.read_text())
        self.assertEqual(len(page.find("script")), 2)
        self.assertIn(HOSTILE, page.find("main")[0]["text"], "the text is shown as it is")


class ModelExplorer(Reports):
    def test_graph_collection(self):
        """The members that model_explorer/graph_builder.py of ai-edge-model-explorer 0.1.34 defines."""
        _, report = self.compiler.transformer(4, "corstone-300", "--emit", "pte,model-explorer")
        collection = json.loads((self.folder / "transformer_4.model_explorer.json").read_text())
        self.assertEqual(set(collection), {"label", "graphs"})
        (graph,) = collection["graphs"]
        self.assertEqual(set(graph), {"id", "nodes", "groupNodeAttributes"})
        self.assertTrue(all(isinstance(each, str) for each in graph["groupNodeAttributes"][""].values()))
        ids = {node["id"] for node in graph["nodes"]}
        self.assertEqual(len(ids), len(graph["nodes"]))
        optional = {"style"}
        required = {"id", "label", "namespace", "attrs", "incomingEdges", "outputsMetadata"}
        for node in graph["nodes"]:
            self.assertEqual(set(node) - optional, required)
            for edge in node["incomingEdges"]:
                self.assertEqual(set(edge), {"sourceNodeId", "sourceNodeOutputId", "targetNodeInputId"})
                self.assertIn(edge["sourceNodeId"], ids)
            pairs = node["attrs"] + [pair for each in node["outputsMetadata"] for pair in each["attrs"]]
            self.assertTrue(all(set(pair) == {"key", "value"} and isinstance(pair["value"], str) for pair in pairs))
        kernels = [pair["value"] for node in graph["nodes"] for pair in node["attrs"] if pair["key"] == "kernel"]
        self.assertEqual(kernels, [op["op"] for op in report["ops"]])
        self.assertTrue(any(node["namespace"].startswith("blocks/0/") for node in graph["nodes"]))


class Trace(Reports):
    def trace(self, *arguments):
        self.compiler.run("run", *arguments, "--profile", "--trace", "trace.json")
        trace = json.loads((self.folder / "trace.json").read_text())
        lanes, ends = {}, {}
        for event in trace["traceEvents"]:
            if event["name"] == "thread_name":
                lanes[event["tid"]] = event["args"]["name"]
            if event["ph"] != "X":
                continue
            self.assertLessEqual({"name", "cat", "pid", "tid", "ts", "dur", "args"}, set(event))
            self.assertGreaterEqual(event["dur"], 0)
            self.assertGreaterEqual(event["ts"] + 1e-6, ends.get(event["tid"], 0), "events of a lane do not overlap")
            ends[event["tid"]] = event["ts"] + event["dur"]
        events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        self.assertEqual({event["tid"] for event in events} - set(lanes), set())
        return trace, events, lanes

    def test_an_npu_on_the_host(self):
        self.compiler.network("digits_cnn", "corstone-300", name="npu")
        trace, events, lanes = self.trace("npu.pte")
        profile = json.loads(self.compiler.run("run", "npu.pte", "--profile", "--json"))["npu"][0]
        operations = [event for event in events if event["cat"] == profile["npu"]]
        self.assertEqual(sorted(event["name"] for event in operations), sorted(op["name"] for op in profile["ops"]))
        self.assertIn("cycle of the NPU", trace["otherData"]["unit"])
        self.assertTrue(any("not measured" in name for name in lanes.values()))
        (call,) = [event for event in events if event["name"].startswith("delegate")]
        self.assertAlmostEqual(call["dur"], profile["cycles"], places=2)

    def test_a_trace_requires_a_profile(self):
        self.compiler.network("digits_cnn", "corstone-300", name="npu")
        said = self.compiler.run("run", "npu.pte", "--trace", "other.json", code=2)
        self.assertIn("--profile", said)
        self.assertFalse((self.folder / "other.json").exists())

    @unittest.skipUnless("--boards" in sys.argv, "requires the images of emulated boards")
    def test_both_lanes_on_a_board(self):
        self.compiler.network("digits_cnn", "corstone-300", "--names", name="npu")
        trace, events, lanes = self.trace("npu.pte", "--on", "qemu")
        ops = json.loads(self.compiler.run("run", "npu.pte", "--on", "qemu", "--profile", "--json"))["ops"]
        core = [event for event in events if event["cat"] == "cortex-m55"]
        self.assertEqual(len(core), len(ops), "an event per instruction of the file")
        self.assertEqual(core[0]["name"], ops[0]["name"])
        self.assertEqual(core[0]["dur"], ops[0]["instructions"])
        self.assertEqual(core[0]["args"]["result"], "x_int8")
        (call,) = [event for event in core if event["name"].startswith("delegate")]
        for event in events:
            if event["cat"] == "ethos-u55-128":
                self.assertGreaterEqual(event["ts"], call["ts"])
                self.assertLessEqual(event["ts"] + event["dur"], call["ts"] + call["dur"] + 1)
        self.assertIn("ethos-u55-128", lanes.values())
        self.assertIn("instruction of the core", trace["otherData"]["unit"])

    @unittest.skipUnless("--boards" in sys.argv, "requires the images of emulated boards")
    def test_microseconds_with_a_clock(self):
        self.compiler.network("digits_cnn", "nrf54lm20b", "--engine-off", "*", name="core")
        trace, events, _ = self.trace("core.pte", "--on", "qemu", "--target", "nrf54lm20b")
        self.assertEqual(trace["otherData"]["unit"], "microseconds")
        clock_mhz = 128
        for event in events:
            count = event["args"].get("cycles", event["args"]["instructions"])
            self.assertAlmostEqual(event["dur"], count / clock_mhz, places=2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(each for each in sys.argv[3:] if each != "--boards")])
