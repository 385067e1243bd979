#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The formats of ExecuTorch's devtools: ETDump, bundled programs, data files, files with several methods.

usage: devtools_test.py THIMBLE SOURCE_DIR FLATC [--boards] [unittest options]

Files of ExecuTorch itself are in tests/data/executorch/devtools (tests/peers/devtools/make.py).
"""

import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

from npy import read_floats, write_npy

THIMBLE, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
FLATC = sys.argv[3]
BOARDS = "--boards" in sys.argv
DIGITS = SOURCE / "models/digits_cnn"
FILES = SOURCE / "tests/data/executorch/devtools"


class Devtools(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.x = self.path / "x.npy"
        values = [(7 * i) % 17 / 8 - 1 for i in range(64)]
        write_npy(self.x, "<f4", (1, 1, 8, 8), struct.pack("<64f", *values))

    def thimble(self, *words, code=0):
        done = subprocess.run([str(THIMBLE), *map(str, words)], capture_output=True, text=True, cwd=self.path)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout if code == 0 else done.stdout + done.stderr

    def json(self, *words):
        return json.loads(self.thimble(*words, "--json"))

    def compile(self, target, *more):
        out = self.path / f"{target}.pte"
        self.thimble("compile", DIGITS / "digits_cnn.pt2", "--target", target, "--calibrate", DIGITS / "calibrate.npz",
                     "--names", "-o", out, *more)
        return out

    def decode(self, schema, file, *options):
        subprocess.run([FLATC, "--json", "--strict-json", "--defaults-json", "--raw-binary", *options, "-o",
                        str(self.path), str(SOURCE / "src/formats" / schema), "--", str(file)], check=True)
        return json.loads((self.path / file.name).with_suffix(".json").read_text())

    def runs(self, file):
        """Returns per run of an ETDump its name, profile events and debug events."""
        dump = self.decode("etdump/etdump.fbs", file, "--size-prefixed")
        return [(run["name"], [e["profile_event"] for e in run["events"] if "profile_event" in e],
                 [e["debug_event"] for e in run["events"] if "debug_event" in e]) for run in dump["run_data"]]


class Etdump(Devtools):
    def names_of(self, pte):
        """Names of the events that the instructions have."""
        ops = self.json("inspect", pte)["ops"]
        return ["DELEGATE_CALL" if op.startswith("(delegate") else "native_call_" + op.split("::")[1] for op in ops]

    def test_host(self):
        pte = self.compile("cortex-m55")
        self.thimble("run", pte, "--input", self.x, "--etdump", "d.etdp", "--output", "out")
        ((name, events, tensors),) = self.runs(self.path / "d.etdp")
        self.assertEqual((name, tensors), ("Execute", []))
        self.assertEqual([e["name"] for e in events], [*self.names_of(pte), "Method::execute"])
        self.assertEqual([e["instruction_id"] for e in events], [*range(len(events) - 1), -1])
        whole = events.pop()
        times = [time for e in events for time in (e["start_time"], e["end_time"])]
        self.assertEqual(times, sorted(times))
        self.assertTrue(0 < times[-1] <= whole["end_time"])

    def test_host_tensors(self):
        pte = self.compile("cortex-m55")
        self.thimble("run", pte, "--input", self.x, "--etdump", "d.etdp", "--etdump-outputs", "d.bin", "--output", "out")
        ((_, events, tensors),) = self.runs(self.path / "d.etdp")
        buffer = (self.path / "d.bin").read_bytes()
        output = read_floats(self.path / "out/output_0.npy")
        values = {}
        for event in tensors:
            tensor = event["debug_entry"]["tensor"]
            self.assertEqual(tensor["scalar_type"], 6, "integers are written as their real values")
            count = math.prod(tensor["sizes"])
            values[event["instruction_id"]] = struct.unpack_from(f"<{count}f", buffer, tensor["offset"])
        self.assertEqual(sorted(values), [-1, *range(len(events) - 1)])
        self.assertEqual(values[-1], output)
        self.assertEqual(values[len(events) - 2], output, "the last instruction computes the output")
        # The first one quantizes the input: its real values are close to it.
        self.assertLess(max(abs(a - b) for a, b in zip(values[0], read_floats(self.x))), 0.2)

    def test_calls_are_runs(self):
        pte = self.compile("cortex-m55")
        write_npy(self.x, "<f4", (3, 1, 8, 8), struct.pack("<192f", *[i / 192 for i in range(192)]))
        self.thimble("run", pte, "--input", self.x, "--etdump", "d.etdp")
        dump = self.decode("etdump/etdump.fbs", self.path / "d.etdp", "--size-prefixed")
        self.assertEqual([run["bundled_input_index"] for run in dump["run_data"]], [-1, -1, -1])
        self.thimble("run", pte, "--input", self.x, "--etdump", "d.etdp", "--etdump-outputs", "d.bin")
        dump = self.decode("etdump/etdump.fbs", self.path / "d.etdp", "--size-prefixed")
        self.assertEqual([run["bundled_input_index"] for run in dump["run_data"]], [0, 1, 2])

    def test_delegate(self):
        for target in ("corstone-300", "nrf54lm20b", "imxrt700cm"):
            with self.subTest(target):
                pte = self.compile(target)
                self.thimble("run", pte, "--input", self.x, "--etdump", "d.etdp", "--target", target)
                ((_, events, _),) = self.runs(self.path / "d.etdp")
                own = [e for e in events if not e["delegate_debug_id_str"]] if "delegate_debug_id_str" in events[0] \
                    else [e for e in events if "delegate_debug_id_str" not in e]
                self.assertEqual([e["name"] for e in own], [*self.names_of(pte), "Method::execute"])
                inner = [e["delegate_debug_id_str"] for e in events if e.get("delegate_debug_id_str")]
                known = {key for call in self.json("inspect", pte)["debug_handles"] for key in call["operations"]}
                # Only the compiler of the Ethos-U states which operations an operator has.
                self.assertEqual(bool(known), target == "corstone-300")
                self.assertLessEqual(known, set(inner), "each operation with a node is an event")
                self.assertLessEqual(len({len(key) for key in inner}), 1)

    @unittest.skipUnless(BOARDS, "needs the emulated boards")
    def test_board(self):
        pte = self.compile("cortex-m4")
        words = ["run", pte, "--input", self.x, "--on", "qemu", "--etdump", "d.etdp"]
        cycles = [op["cycles"] for op in self.json("run", pte, "--input", self.x, "--on", "qemu", "--profile")["ops"]]
        self.assertEqual(self.json(*words)["etdump_time_unit"], "cycles")
        ((_, events, _),) = self.runs(self.path / "d.etdp")
        self.assertEqual([e["end_time"] - e["start_time"] for e in events], [*cycles, sum(cycles)])
        part = ["--target", "stm32f446"]
        timed = self.json("run", pte, "--input", self.x, "--on", "qemu", "--profile", *part)
        self.assertEqual(self.json(*words, *part)["etdump_time_unit"], "ns")
        ((_, events, _),) = self.runs(self.path / "d.etdp")
        for event, op in zip(events, timed["ops"]):
            self.assertLessEqual(abs(event["end_time"] - event["start_time"] - 1000 * op["time_us"]), 1)

    def test_refusals(self):
        pte = self.compile("cortex-m55")
        for words, reason in ((["--etdump-outputs", "d.bin"], "use it with --etdump"),
                              (["--etdump", "d.etdp", "--on", "eval"], "--on eval"),
                              (["--etdump", "d.etdp", "--etdump-outputs", "d.bin", "--on", "qemu"], "use --on host")):
            self.assertIn(reason, self.thimble("run", pte, "--input", self.x, *words, code=2))
        self.assertFalse((self.path / "d.etdp").exists())


class DebugHandles(Devtools):
    def test_nodes(self):
        facts = self.json("inspect", self.compile("cortex-m55"))
        nodes = [name for call in facts["debug_handles"] for name in call["nodes"]]
        for name in ("conv2d", "batch_norm", "relu", "max_pool2d", "conv2d_2", "relu_2", "linear"):
            self.assertIn(name, nodes)
        self.assertEqual(len(facts["debug_handles"]), len(facts["ops"]))

    def test_only_on_request(self):
        out = self.path / "plain.pte"
        self.thimble("compile", DIGITS / "digits_cnn.pt2", "--target", "cortex-m55", "--calibrate",
                     DIGITS / "calibrate.npz", "-o", out)
        self.assertNotIn("debug_handles", self.json("inspect", out))


class Bundled(Devtools):
    def bundle(self):
        pte = self.compile("cortex-m55")
        self.thimble("compare", DIGITS / "digits_cnn.pt2", pte, "--data", DIGITS / "calibrate.npz", "--bundle", "b.bpte")
        return self.path / "b.bpte"

    def test_own(self):
        file = self.bundle()
        result = self.json("run", "--bundled", file)
        self.assertEqual(result["failed"], 0)
        self.assertEqual(len(result["cases"]), 64)
        for word in ("nan", "-1"):
            self.assertIn(f"--rtol: found {word}, expected", self.thimble("run", "--bundled", file, "--rtol", word, code=2))
        if BOARDS:
            self.thimble("run", "--bundled", FILES / "bundled.bpte", "--on", "qemu", "--target", "cortex-m55")

    def test_a_changed_output_fails(self):
        file = self.bundle()
        content = self.decode("bundle/bundle.fbs", file)
        data = content["method_test_suites"][0]["test_cases"][5]["expected_outputs"][0]["val"]["data"]
        expected = bytearray(file.read_bytes())
        at = expected.find(bytes(data))
        self.assertGreater(at, 0)
        expected[at + 3] ^= 1  # the exponent of the first float
        file.write_bytes(expected)
        text = self.thimble("run", "--bundled", file, code=1)
        self.assertIn("63 of 64 test cases passed", text)
        self.assertIn("forward, test case 5", text)

    def test_of_executorch(self):
        result = self.json("run", "--bundled", FILES / "bundled.bpte")
        self.assertEqual([(c["method"], c["case"], c["passed"]) for c in result["cases"]],
                         [(m, i, True) for m in ("double", "forward") for i in range(3)])

    def test_damaged(self):
        file = self.path / "damaged.bpte"
        whole = (FILES / "bundled.bpte").read_bytes()
        for size in range(0, len(whole), 97):
            file.write_bytes(whole[:size])
            self.thimble("run", "--bundled", file, code=2)
        self.assertIn("remove --input", self.thimble("run", "--bundled", file, "--steps", code=2))


class DataFile(Devtools):
    WORDS = ["run", FILES / "external.pte", "--input", FILES / "x.npy"]

    def test_run(self):
        self.thimble(*self.WORDS, "--ptd", FILES / "external.ptd", "--output", "out")
        self.assertEqual(read_floats(self.path / "out/output_0.npy"), read_floats(FILES / "forward.npy"))
        if BOARDS:
            self.thimble(*self.WORDS, "--ptd", FILES / "external.ptd", "--output", "board", "--on", "qemu", "--target",
                         "cortex-m55")
            self.assertEqual(read_floats(self.path / "board/output_0.npy"), read_floats(FILES / "forward.npy"))

    def test_refusals(self):
        self.assertIn("use --ptd FILE", self.thimble(*self.WORDS, code=2))
        whole = (FILES / "external.ptd").read_bytes()
        file = self.path / "damaged.ptd"
        for size in range(0, len(whole), 16):
            file.write_bytes(whole[:size])
            self.thimble(*self.WORDS, "--ptd", file, code=2)
        file.write_bytes(whole.replace(b"a\0", b"q\0", 1))
        self.thimble(*self.WORDS, "--ptd", file, code=2)


class Methods(Devtools):
    def test_each(self):
        for method in ("forward", "double"):
            self.thimble("run", FILES / "methods.pte", "--method", method, "--input", FILES / "x.npy", "--output", method)
            self.assertEqual(read_floats(self.path / method / "output_0.npy"), read_floats(FILES / f"{method}.npy"))
        self.thimble("run", FILES / "methods.pte", "--input", FILES / "x.npy", "--output", "default")
        self.assertEqual(read_floats(self.path / "default/output_0.npy"), read_floats(FILES / "forward.npy"))

    def test_unknown(self):
        self.assertIn("it has double, forward",
                      self.thimble("run", FILES / "methods.pte", "--method", "backward", "--input", FILES / "x.npy", code=2))

    def test_inspect(self):
        self.assertEqual([m["name"] for m in self.json("inspect", FILES / "methods.pte")["methods"]],
                         ["double", "forward"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *[word for word in sys.argv[4:] if word != "--boards"]])
