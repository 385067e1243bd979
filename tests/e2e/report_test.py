# SPDX-License-Identifier: Apache-2.0
"""Reports and saved stages of `thimble compile`: every operator of the user's program is accounted for.

usage: report_test.py THIMBLE SOURCE_DIR [unittest options]
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

THIMBLE = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()


def aten_nodes(model):
    """Returns names and operators of the export's nodes, from the archive itself."""
    with zipfile.ZipFile(model) as archive:
        name = next(n for n in archive.namelist() if n.endswith("models/model.json"))
        nodes = json.loads(archive.read(name))["graph_module"]["graph"]["nodes"]
    found = {}
    for node in nodes:
        if not node["target"].startswith("torch.ops.aten."):
            continue
        names = [o["as_tensor"]["name"] for o in node["outputs"] if "as_tensor" in o]
        names += [node["name"] for o in node["outputs"] if "as_tensors" in o]
        for name in names[:1]:
            found[name] = node["target"].removeprefix("torch.ops.")
    return found


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def compile(self, network, *options, target="cortex-m55"):
        """Returns the report; self.text keeps the terminal's text."""
        folder = SOURCE / "models" / network
        self.text = self.thimble("compile", folder / f"{network}.pt2", "--target", target, "--calibrate",
                                 folder / "calibrate.npz", "-o", "y.pte", "--report", "y.json", *options)
        report = json.loads((self.path / "y.json").read_text())
        self.check(report, aten_nodes(folder / f"{network}.pt2"))
        return report

    def thimble(self, *arguments):
        done = subprocess.run([str(THIMBLE), *map(str, arguments)], capture_output=True, text=True, cwd=self.path,
                              timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check(self, report, nodes):
        """Checks the properties of every report."""
        rows = report["source_ops"]
        self.assertEqual({row["node"]: row["op"] for row in rows}, nodes, "a row per operator of the export")
        self.assertEqual(len(rows), len(nodes))
        for row in rows:
            self.assertTrue(row["calls"] or row["reason"], f"{row['node']} has vanished without a reason")
            self.assertEqual(row["kernels"], [report["ops"][i]["op"] for i in row["calls"]])
            self.assertEqual(row["engine"] is None, not row["calls"])
            for key in ("macs", "constant_bytes"):
                self.assertEqual(row[key], sum(report["ops"][i][key] for i in row["calls"]))
            if row["calls"]:
                self.assertEqual(row["bytes_out"], report["ops"][row["calls"][-1]]["bytes_out"])
                known = [report["ops"][i]["instructions"] for i in row["calls"]]
                self.assertEqual(row["instructions"], None if None in known else sum(known))
            self.assertIn(row["node"], self.text)
            self.assertIn(row["reason"], self.text)
            other = row["reason"].rpartition(" of ")[2]
            if row["reason"].startswith("in the "):
                self.assertIn(other, nodes, f"{row['node']}: {row['reason']}")
        called = sorted(i for row in rows for i in row["calls"])
        self.assertEqual(called, list(range(len(report["ops"]))), "each call belongs to one operator")

    def reasons(self, report):
        return {row["node"]: row["reason"] for row in report["source_ops"]}

    def test_what_is_folded(self):
        report = self.compile("mobilenet_v3_tiny")
        reasons = self.reasons(report)
        self.assertEqual(reasons["conv2d"], "")
        self.assertEqual(reasons["batch_norm"], "in the weights and bias of conv2d")
        self.assertEqual(reasons["relu"], "in the bounds of conv2d_1")
        self.assertEqual(reasons["hardswish"], "")
        self.assertEqual(reasons["flatten"], "no call: the result uses the operand's buffer")
        rows = {row["node"]: row for row in report["source_ops"]}
        (table,) = rows["hardswish"]["calls"]
        self.assertEqual(report["ops"][table]["reason"], "a lookup table of 256 entries")
        self.assertEqual(report["ops"][0]["reason"], "a float input becomes integer here")

    def test_what_is_put_in(self):
        report = self.compile("mobilenet_v3_tiny", "--compat", "executorch")
        put_in = {op["op"]: op["reason"] for op in report["ops"] if op["reason"].startswith("inserted: ")}
        self.assertNotIn("aten::expand_copy.out", {op["op"] for op in report["ops"]})   # kernels read one element per channel
        self.assertIn("channels-last", put_in["dim_order_ops::_clone_dim_order.out"])

    def test_what_is_moved_or_known(self):
        reasons = self.reasons(self.compile("shufflenet_v2_like"))
        self.assertEqual(reasons["contiguous"], "returns its operand unchanged")
        self.assertEqual(reasons["view"], "merged with the next data movement")
        self.assertEqual(self.reasons(self.compile("gru_classifier"))["zeros"], "computed at compile time")
        reasons = self.reasons(self.compile("deit_tiny_like"))
        self.assertEqual(reasons["expand"], "computed at compile time")
        self.assertEqual(reasons["flatten"], "merged with the next data movement")
        reasons = self.reasons(self.compile("decoder_step"))
        self.assertEqual(reasons["copy_"], "returns its operand unchanged")
        self.assertRegex(reasons["mul"], "^in the operands and the scale of matmul")

    def test_what_pytorch_quantized(self):
        model = SOURCE / "tests/data/pt2/q_cortex_m_image.pt2"
        self.text = self.thimble("compile", model, "--target", "cortex-m55", "-o", "y.pte", "--report", "y.json")
        report = json.loads((self.path / "y.json").read_text())
        rows = report["source_ops"]
        for row in rows:
            self.assertTrue(row["calls"] or row["reason"], row["node"])
        merged = [row for row in rows if "its scale and zero point" in row["reason"]]
        self.assertTrue(merged)
        self.assertTrue(all("quantize_per" in row["op"] for row in merged))

    def test_engine_off(self):
        report = self.compile("digits_cnn", "--engine-off", "linear", target="cortex-m4")
        off = [row for row in report["source_ops"] if "--engine-off linear" in row["reason"]]
        self.assertTrue(off)
        self.assertEqual({row["op"] for row in off}, {"aten.linear.default"})
        self.assertEqual({row["engine"] for row in off}, {"cortex-m4"})

    def test_stages(self):
        self.compile("digits_cnn", "--save-stages", "stages")
        names = sorted(path.name for path in (self.path / "stages").iterdir())
        self.assertEqual([name[:3] for name in names], [f"{i:02}-" for i in range(1, len(names) + 1)])
        order = [name[3:] for name in names]
        wanted = ["imported.ir", "float.ir", "integer.ir", "lowered.ir", "program.txt",
                  "partition-cortex-m55.ir", "partition-cortex-m55.pte"]
        self.assertEqual([name for name in order if name in wanted], wanted)
        passes = [name for name in order if name not in wanted]
        listed = self.thimble("opt", "--list").split()
        self.assertTrue(passes)
        for name in passes:
            self.assertIn(name.removesuffix(".ir"), listed)
        stage = {name[3:]: self.path / "stages" / name for name in names}
        self.assertEqual(stage["partition-cortex-m55.pte"].read_bytes(), (self.path / "y.pte").read_bytes())
        with zipfile.ZipFile(SOURCE / "models/digits_cnn/golden.npz") as golden:
            golden.extract("x.npy", self.path)
        hashes = set()
        for file in (self.path / "y.pte", stage["partition-cortex-m55.ir"], stage["lowered.ir"], stage["integer.ir"]):
            ran = json.loads(self.thimble("run", file, "--input", "x.npy", "--steps", "--on", "eval", "--json"))
            hashes.add(ran["outputs"][0]["sha256"])
        self.assertEqual(len(hashes), 1, "every integer stage means the same")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
