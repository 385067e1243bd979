# SPDX-License-Identifier: Apache-2.0
"""`thimble annotate`: results, sharing, fixed scales, weights and refusals, by node of the export.

usage: annotate_test.py THIMBLE SOURCE_DIR [unittest options]
"""

import json
import pathlib
import subprocess
import sys
import unittest

THIMBLE = pathlib.Path(sys.argv[1]).resolve()
MODELS = pathlib.Path(sys.argv[2]).resolve() / "models"
RECURRENT = {"gru_classifier", "lstm_classifier"}
WITH_STATE = {"decoder_step", "streaming_conv_buffer"}


def annotate(path, target="cortex-m55", *more):
    return subprocess.run([str(THIMBLE), "annotate", str(path), "--target", target, *more],
                          capture_output=True, text=True, timeout=120)


def model(name):
    return MODELS / name / f"{name}.pt2"


class Annotate(unittest.TestCase):
    def nodes(self, name, target="cortex-m55"):
        done = annotate(model(name), target)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {node["node"]: node for node in json.loads(done.stdout)["nodes"]}

    def refused(self, done, code, *words):
        self.assertEqual(done.returncode, code, done.stdout)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertIn("error", json.loads(done.stdout))

    def test_clamp_after_convolution_is_quantized_instead_of_it(self):
        nodes = self.nodes("digits_cnn")
        self.assertNotIn("result", nodes["conv2d"])
        self.assertEqual(nodes["relu"]["result"],
                         {"dtype": "int8", "scheme": "affine", "min": -128, "max": 127})
        self.assertEqual(nodes["conv2d"]["weights"],
                         {"name": "conv1.0.weight", "dtype": "int8", "min": -127, "max": 127, "axis": 0})
        self.assertEqual(nodes["max_pool2d"]["result"]["shares_with"], "relu_1")
        self.assertEqual(nodes["conv2d"]["source"], "export.py:29")

    def test_operand_of_a_table_is_kept(self):
        # Without this, the sum inside of hardsigmoid would be merged into the convolution before it.
        nodes = self.nodes("mobilenet_v3_tiny")
        self.assertIn("result", nodes["conv2d_3"])
        self.assertIn("result", nodes["hardsigmoid"])
        self.assertNotIn("result", nodes["conv2d_2"])  # a relu follows

    def test_inside_of_attention_is_reported(self):
        done = annotate(model("deit_tiny_like"))
        decompose = {entry["op"] for entry in json.loads(done.stdout)["decompose"]}
        self.assertEqual(decompose, {"aten.scaled_dot_product_attention.default"})

    def test_linear_has_one_scale_where_the_npu_requires_it(self):
        by_target = {target: self.nodes("ad_autoencoder", target)["linear"]["weights"]["axis"]
                     for target in ("cortex-m55", "ethos-u55-128", "nrf54lm20b", "imxrt700cm")}
        expected = {"cortex-m55": 0, "ethos-u55-128": 0, "nrf54lm20b": None, "imxrt700cm": 0}
        self.assertEqual(by_target, expected)

    def test_every_network_is_annotated_or_refused_with_a_reason(self):
        count = 0
        for path in sorted(MODELS.glob("*/*.pt2")):
            name = path.parent.name
            if path.stem != name:
                continue
            with self.subTest(name):
                count += 1
                done = annotate(path)
                if name in RECURRENT:
                    self.refused(done, 1, "export.py:", "recurrent layer", "--calibrate")
                elif name in WITH_STATE:
                    self.refused(done, 1, "state ", "--calibrate")
                else:
                    self.check(json.loads(done.stdout))
        self.assertGreater(count, 20)

    def check(self, facts):
        named = {node["node"] for node in facts["nodes"]}
        results = [node for node in facts["nodes"] if "result" in node]
        self.assertGreater(len(results), 1)
        seen = set()
        for node in results:
            # A node shares parameters with a node before it that has some of its own.
            first = node["result"].get("shares_with")
            if first is not None:
                self.assertIn(first, seen)
            else:
                seen.add(node["node"])
            if node["result"]["scheme"] == "fixed":
                self.assertGreater(node["result"]["scale"], 0)
        self.assertLessEqual(seen, named)

    def test_bad_input(self):
        self.refused(annotate(MODELS / "none.pt2"), 2, "none.pt2")
        self.refused(annotate(model("digits_cnn"), "no-such-part"), 2, "no-such-part")
        quantized = MODELS.parent / "tests/data/pt2/q_xnnpack_image"
        self.refused(annotate(next(quantized.parent.glob("q_xnnpack_image*.pt2"))), 2, "quantized this model already")
        self.refused(annotate(model("digits_cnn"), "cortex-m55", "--arithmetic"), 2, "--calibrate")

    def test_arithmetic_of_a_quantized_network(self):
        cases = (("q_axon_image", "cortex-m4", 0), ("q_axon_image", "nrf54lm20b", 2),
                 ("q_neutron_image", "imxrt700cm", 1))
        for name, target, rounding in cases:
            done = annotate(MODELS.parent / f"tests/data/pt2/{name}.pt2", target, "--arithmetic")
            self.assertEqual(done.returncode, 0, done.stderr)
            facts = json.loads(done.stdout)
            linear = {op["rounding"] for op in facts["operators"] if op["op"] == "qlinear"}
            self.assertEqual(linear, {rounding}, f"{name} on {target}")
            pools = [op for op in facts["operators"] if op["op"] == "max_pool2d"]
            self.assertTrue(pools and all("rounding" not in op for op in pools), facts["operators"])
            self.assertEqual(facts["float_ops"], 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
