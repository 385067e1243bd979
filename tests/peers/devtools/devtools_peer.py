#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's Inspector and bundled programs with files of Thimble.

usage: devtools_peer.py SOURCE_DIR THIMBLE

Exit 77 if ExecuTorch is not installed.
"""

import contextlib
import importlib.util
import io
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

SOURCE, THIMBLE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
MISSING = [name for name in ("torch", "executorch") if importlib.util.find_spec(name) is None]
if MISSING:
    print(f"skipped: this Python has no {', '.join(MISSING)}")
    sys.exit(77)

import numpy as np  # noqa: E402
import torch  # noqa: E402
from executorch.devtools import Inspector  # noqa: E402
from executorch.devtools.inspector import TimeScale  # noqa: E402

from thimble_ml.etrecord import etrecord  # noqa: E402

DIGITS = SOURCE / "models/digits_cnn"
MODEL = DIGITS / "digits_cnn.pt2"
DATA = DIGITS / "calibrate.npz"
FILES = SOURCE / "tests/data/executorch/devtools"
EDGE = "edge_dialect_exported_program"


def thimble(*words, code=0):
    done = subprocess.run([str(THIMBLE), *map(str, words)], capture_output=True, text=True)
    assert done.returncode == code, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


class Peer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.x = self.path / "x.npy"
        np.save(self.x, np.load(DATA)["x"][:1])

    def compile(self, target, *more, model=MODEL, data=DATA):
        pte = self.path / f"{target}.pte"
        thimble("compile", model, "--target", target, "--calibrate", data, "--names", "-o", pte, *more)
        return pte

    def inspector(self, pte, record=None, tensors=False, run=(), **options):
        words = ["--etdump-outputs", self.path / "d.bin"] if tensors else []
        thimble("run", pte, "--input", self.x, "--etdump", self.path / "d.etdp", *words, *run)
        if tensors:
            options["debug_buffer_path"] = str(self.path / "d.bin")
        return Inspector(etdump_path=str(self.path / "d.etdp"), etrecord=record, **options)

    def record(self, pte, model=MODEL):
        return etrecord(model, pte, inputs=[torch.from_numpy(np.load(self.x))])


class Events(Peer):
    def test_names_and_times(self):
        pte = self.compile("cortex-m55")
        ops = json.loads(thimble("inspect", pte, "--json"))["ops"]
        (block,) = self.inspector(pte).event_blocks
        self.assertEqual(block.name, "Execute")
        self.assertEqual([event.name for event in block.events],
                         [*("native_call_" + op.split("::")[1] for op in ops), "Method::execute"])
        times = [event.perf_data.avg for event in block.events]
        self.assertTrue(all(time >= 0 for time in times))
        self.assertLessEqual(sum(times[:-1]), times[-1])

    def test_several_calls(self):
        np.save(self.x, np.load(DATA)["x"][:5])
        (block,) = self.inspector(self.compile("cortex-m55")).event_blocks
        self.assertEqual({len(event.perf_data.raw) for event in block.events}, {5})

    def test_board(self):
        pte = self.compile("cortex-m4")
        words = ["run", pte, "--input", self.x, "--on", "qemu", "--profile", "--json"]
        cycles = [op["cycles"] for op in json.loads(thimble(*words))["ops"]]
        inspector = self.inspector(pte, self.record(pte), run=["--on", "qemu"], source_time_scale=TimeScale.CYCLES,
                                   target_time_scale=TimeScale.CYCLES)
        (block,) = inspector.event_blocks
        self.assertEqual([event.perf_data.avg for event in block.events], [*cycles, sum(cycles)])
        self.assertGreater(inspector.find_total_for_module("conv2"), 0)

    def test_source_and_modules(self):
        for target in ("cortex-m55", "corstone-300", "nrf54lm20b", "imxrt700cm"):
            with self.subTest(target):
                pte = self.compile(target)
                inspector = self.inspector(pte, self.record(pte), run=["--target", target])
                (block,) = inspector.event_blocks
                modules, traces, types = set(), set(), set()
                for event in block.events:
                    types.update(event.op_types)
                    traces.update(trace for trace in event.stack_traces.values() if trace)
                    for stack in event.module_hierarchy.values():
                        modules.update(path for path, _ in stack.values())
                self.assertLessEqual({"conv1.0", "conv1.1", "conv1.2", "conv2.0", "conv3.0", "last"}, modules)
                self.assertTrue(any("digits_cnn/export.py" in trace for trace in traces), traces)
                self.assertLessEqual({"conv2d.default", "relu.default", "linear.default"}, types)
                if target == "cortex-m55":
                    continue
                inner = [event for event in block.events if event.is_delegated_op]
                self.assertTrue(inner)
                # Only the compiler of the Ethos-U states which operations an operator has.
                self.assertEqual(any(event.module_hierarchy for event in inner), target == "corstone-300")
                self.assertTrue(all(event.delegate_backend_name for event in inner))

    def test_record_as_file(self):
        pte = self.compile("cortex-m55")
        file = self.path / "m.etrecord"
        subprocess.run([sys.executable, "-m", "thimble_ml.etrecord", MODEL, pte, "-o", file, "--input", self.x], check=True,
                       capture_output=True)
        gaps = self.inspector(pte, str(file), tensors=True).calculate_numeric_gap("MSE", reference_graph=EDGE)
        self.assertGreater(len(gaps), 5)

    def test_without_names(self):
        pte = self.path / "plain.pte"
        thimble("compile", MODEL, "--target", "cortex-m55", "--calibrate", DATA, "-o", pte)
        with self.assertRaisesRegex(ValueError, "no debug handles"):
            etrecord(MODEL, pte)


class NumericGap(Peer):
    def gaps(self, pte):
        """Signal-to-noise ratio in decibels by the last node of each instruction, in execution order."""
        frame = self.inspector(pte, self.record(pte), tensors=True).calculate_numeric_gap("SNR", reference_graph=EDGE)
        rows = sorted(zip(frame["runtime_debug_handle"], frame["aot_ops"], frame["gap"]), key=lambda row: max(row[0]))
        return {ops[-1]: gap[0] for _, ops, gap in rows}

    def break_weights(self, pte, instruction):
        """Overwrites the largest constant of an instruction, which holds its weights."""
        from executorch.exir._serialize._program import deserialize_pte_binary

        plan = json.loads(thimble("inspect", pte, "--json"))["program"]["plans"][0]
        values = [plan["values"][index] for index in plan["chains"][0]["instructions"][instruction]["args"]]
        content = pte.read_bytes()
        buffers = deserialize_pte_binary(content).program.constant_buffer
        constants = [bytes(buffers[value["constant"]].storage) for value in values if "constant" in value]
        weights = max(constants, key=len)
        self.assertEqual(content.count(weights), 1)
        pte.write_bytes(content.replace(weights, weights[::-1]))

    def test_finds_a_broken_operator(self):
        pte = self.compile("cortex-m55")
        good = self.gaps(pte)
        self.assertGreater(min(good.values()), 15, good)
        facts = json.loads(thimble("inspect", pte, "--json"))
        (call,) = [i for i, each in enumerate(facts["debug_handles"]) if "conv2d_1" in each["nodes"]]
        self.break_weights(pte, call)
        bad = self.gaps(pte)
        self.assertEqual(list(bad), list(good))
        first = next(name for name in bad if bad[name] < 10)
        self.assertIn(first, facts["debug_handles"][call]["nodes"], bad)
        for name in list(bad)[:list(bad).index(first)]:
            self.assertEqual(bad[name], good[name], "operators before the broken one are unchanged")

    def test_delegate(self):
        for target in ("corstone-300", "nrf54lm20b", "imxrt700cm"):
            with self.subTest(target):
                pte = self.compile(target)
                self.assertGreater(min(self.gaps(pte).values()), 15)


class Bundled(Peer):
    def run_program(self, pte, x):
        np.save(self.x, x)
        thimble("run", pte, "--input", self.x, "--output", self.path / "out")
        return np.load(self.path / "out/output_0.npy")

    def test_own_file_in_executorch(self):
        """A program with operators of the wheel, bundled by `compare`."""
        from executorch.extension.pybindings.portable_lib import _load_bundled_program_from_buffer
        from executorch.exir import to_edge

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.a = torch.nn.Linear(4, 6)

            def forward(self, x):
                return torch.relu(self.a(x))

        torch.manual_seed(1)
        net = Net().eval()
        exported = torch.export.export(net, (torch.randn(1, 4),))
        torch.export.save(exported, self.path / "net.pt2")
        (self.path / "net.pte").write_bytes(to_edge(exported).to_executorch().buffer)
        samples = np.random.default_rng(1).normal(size=(4, 4)).astype(np.float32)
        np.save(self.path / "data.npy", samples)
        thimble("compare", self.path / "net.pt2", self.path / "net.pte", "--data", self.path / "data.npy", "--bundle",
                self.path / "net.bpte")
        content = (self.path / "net.bpte").read_bytes()
        bundled = _load_bundled_program_from_buffer(content)
        for case in range(4):
            bundled.verify_result_with_bundled_expected_output("forward", case)
        first = np.maximum(samples[:1] @ net.a.weight.detach().numpy().T + net.a.bias.detach().numpy(), 0)
        np.testing.assert_allclose(self.run_program(self.path / "net.pte", samples[:1]), first, rtol=1e-5, atol=1e-6)
        (output,) = bundled.verify_result_with_bundled_expected_output("forward", 0)
        changed = bytearray(content)
        changed[content.find(output.numpy().tobytes()) + 4 * int(output.argmax()) + 3] ^= 1
        with self.assertRaises(RuntimeError):
            _load_bundled_program_from_buffer(bytes(changed)).verify_result_with_bundled_expected_output("forward", 0)
        from executorch.devtools.bundled_program.serialize import deserialize_from_flatbuffer_to_bundled_program
        read = deserialize_from_flatbuffer_to_bundled_program(content)
        inputs = [np.frombuffer(bytes(case.inputs[0].val.data), np.float32)
                  for case in read.method_test_suites[0].test_cases]
        np.testing.assert_array_equal(np.stack(inputs), samples)

    def test_committed_files_are_reproducible(self):
        made = self.path / "made"
        subprocess.run([sys.executable, pathlib.Path(__file__).with_name("make.py"), made], check=True, capture_output=True)
        result = json.loads(thimble("run", "--bundled", made / "bundled.bpte", "--json"))
        self.assertEqual((result["failed"], len(result["cases"])), (0, 6))
        np.testing.assert_array_equal(np.load(made / "x.npy"), np.load(FILES / "x.npy"))
        for name in ("forward.npy", "double.npy"):  # PyTorch's order of a float sum depends on the machine
            np.testing.assert_allclose(np.load(made / name), np.load(FILES / name), rtol=1e-6)


class Documents(Peer):
    def test_commands_of_the_document(self):
        """Runs the commands and the Python code of docs/executorch.md, section Devtools, in order."""
        text = (SOURCE / "docs/executorch.md").read_text()
        section = text[text.index("## Devtools"):text.index("## Files for the tests")]
        for folder in ("models", "tests"):
            (self.path / folder).symlink_to(SOURCE / folder)
        commands = re.findall(r"^    (thimble .*|python .*)$", section, re.MULTILINE)
        self.assertGreater(len(commands), 8)
        for command in commands:
            words = shlex.split(command)
            words[0] = {"thimble": str(THIMBLE), "python": sys.executable}[words[0]]
            done = subprocess.run(words, cwd=self.path, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
        names = {}
        with contextlib.chdir(self.path), contextlib.redirect_stdout(io.StringIO()) as shown:
            exec(code, names)
        self.assertIn("native_call_", shown.getvalue())
        self.assertGreater(len(names["gaps"]), 5)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
