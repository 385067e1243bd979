# SPDX-License-Identifier: Apache-2.0
"""The functions for partitioners of other compilers: which nodes an engine runs, and payloads.

usage: delegates_test.py SOURCE_DIR [unittest options]
"""

import json
import pathlib
import sys
import unittest

from thimble_ml import BadInput, Unsupported
from thimble_ml._thimble import compile_delegate, engine_nodes, program_calls

SOURCE = pathlib.Path(sys.argv[1]).resolve()
ENGINES = {
    "ethos-u55-128": ("q_ethos_u_image", "EthosUBackend"),
    "axon": ("q_axon_image", "ThimbleAxonModel"),
    "imxrt700": ("q_neutron_image", "ThimbleNeutronModel"),
}


def pt2(name):
    return (str(SOURCE / "tests" / "data" / "pt2" / f"{name}.pt2"), None)


def nodes(name, target, **options):
    return json.loads(engine_nodes(pt2(name), target, options))


def computes(row):
    return "quantize" not in row["op"] and row["result"] == "operators"


class Delegates(unittest.TestCase):
    def test_all_nodes_are_in_one_subgraph(self):
        for target, (name, _) in ENGINES.items():
            with self.subTest(target):
                answer = nodes(name, target)
                self.assertEqual(answer["refused"], [])
                self.assertEqual(len(answer["engines"]), 1)
                places = {row["node"]: row["subgraph"] for row in answer["nodes"] if computes(row)}
                self.assertGreater(len(places), 5)
                self.assertEqual(set(places.values()), {0})

    def test_node_that_is_kept_off_cuts_the_graph(self):
        answer = nodes("q_ethos_u_image", "ethos-u55-128", engine_off=["max_pool2d"], npu_small=True)
        (row,) = [row for row in answer["nodes"] if row["op"].startswith("aten.max_pool2d")]
        self.assertIsNone(row["subgraph"])
        self.assertEqual(row["reason"], "--engine-off max_pool2d")
        self.assertEqual(len(answer["engines"]), 2)

    def test_nodes_that_are_not_quantized_are_refused(self):
        answer = nodes("q_xnnpack_softmax", "ethos-u55-128")
        self.assertEqual(answer["nodes"], [])
        ops = {row["op"] for row in answer["refused"]}
        self.assertIn("aten.softmax.int", ops)
        for row in answer["refused"]:
            self.assertTrue(row["node"] and row["reason"], row)

    def test_payload(self):
        for target, (name, identifier) in ENGINES.items():
            with self.subTest(target):
                found, payload, named, files, text = compile_delegate(pt2(name), target, {})
                self.assertEqual((found, named, files), (identifier, [], []))
                report = json.loads(text)
                self.assertEqual(report["payload_bytes"], len(payload))
                self.assertEqual([port["dtype"] for port in report["inputs"]], ["i8"])
                self.assertEqual(len(report["outputs"]), 1)
                self.assertTrue(any(op["source"] for op in report["ops"]))

    def test_payload_of_a_model_that_the_engine_does_not_run_is_refused(self):
        with self.assertRaises(Unsupported) as caught:
            compile_delegate(pt2("q_cortex_m_mixed"), "axon", {})
        self.assertTrue(caught.exception.ops)
        with self.assertRaises(BadInput):
            compile_delegate(pt2("q_cortex_m_image"), "cortex-m55", {})

    def test_calls(self):
        text, constants = program_calls(pt2("q_cortex_m_image"), "cortex-m55", {}, False)
        program = json.loads(text)
        self.assertEqual(len(program["constants"]), len(constants))
        defined = {*program["inputs"]}
        for call in program["calls"]:
            for argument in call["arguments"]:
                value = argument.get("value") if isinstance(argument, dict) else None
                self.assertTrue(value is None or value in defined or str(value) in program["views"])
            defined.add(call["out"])
        self.assertTrue(any(call["op"].startswith("cortex_m::quantized_conv2d") for call in program["calls"]))

    def test_pass_that_does_not_exist(self):
        with self.assertRaisesRegex(BadInput, "no_such_pass"):
            program_calls(pt2("q_cortex_m_image"), "cortex-m55", {"skip_passes": ["no_such_pass"]}, False)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
