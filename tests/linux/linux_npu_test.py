#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An Ethos-U of the Linux kernel's driver: the program and the shared library run networks on it, with the results of the simulator,
and each failure of the driver is a sentence.

usage: linux_npu_test.py THIMBLE APP STANDIN MODELS
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

THIMBLE, APP, STANDIN, MODELS = (pathlib.Path(word).resolve() for word in sys.argv[1:5])
ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = (ROOT / "runtime/include/thimble.h", ROOT / "engines/ethos_u/linux_driver/include/thimble_ethos_u_linux.h")
CASES = [  # network, NPU
    ("digits_cnn", "ethos-u65-256"),
    ("dscnn_kws", "ethos-u65-512"),
    ("dscnn_kws", "ethos-u85-256"),
]


def npy(path, dtype, shape, data):
    header = (f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)}, }}").ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data)


class Linux(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def call(self, *words, standin=None):
        environment = dict(os.environ)
        if standin:
            environment.update(LD_PRELOAD=str(STANDIN), THIMBLE_STANDIN=standin)
        return subprocess.run([str(word) for word in words], capture_output=True, env=environment, check=False, timeout=120)

    def compile(self, model, target):
        """Returns the file, and its input of bytes 3 as .npy and as bytes."""
        pte = self.folder / f"{model}.pte"
        data = MODELS / model / "calibrate.npz"
        done = self.call(THIMBLE, "compile", MODELS / model / f"{model}.pt2", "--target", target, "--calibrate", data, "-o", pte,
                         "--io", "int8")
        self.assertEqual(done.returncode, 0, done.stderr)
        port = json.loads(self.call(THIMBLE, "inspect", pte, "--json").stdout)["inputs"][0]
        count = 1
        for size in port["shape"]:
            count *= size
        npy(self.folder / "x.npy", "|i1", port["shape"], b"\x03" * count)
        (self.folder / "x.bin").write_bytes(b"\x03" * count)
        return pte

    def run_on(self, pte, on, standin=None):
        return self.call(THIMBLE, "run", pte, "--input", self.folder / "x.npy", "--on", on, "--json", standin=standin)

    def test_results(self):
        for model, npu in CASES:
            with self.subTest(model=model, npu=npu):
                pte = self.compile(model, npu)
                host = self.call(THIMBLE, "run", pte, "--input", self.folder / "x.npy", "--output", self.folder / "y", "--json")
                expected = json.loads(host.stdout)["outputs"]
                output = (self.folder / "y/output_0.npy").read_bytes()
                output = output[10 + int.from_bytes(output[8:10], "little"):]
                for standin in (npu, f"{npu},sram"):
                    done = self.run_on(pte, "linux", standin)
                    self.assertEqual((done.returncode, done.stderr), (0, b""))
                    self.assertEqual(json.loads(done.stdout)["outputs"], expected)
                    app = self.call(APP, pte, self.folder / "x.bin", self.folder / "y.bin", "npu", standin=standin)
                    self.assertEqual((app.returncode, app.stderr), (0, f"/dev/accel/accel0 ({npu})\n".encode()))
                    self.assertEqual((self.folder / "y.bin").read_bytes(), output)

    def test_another_network_at_the_same_addresses(self):
        npu = "ethos-u65-256"
        pte = self.compile("digits_cnn", npu)
        old = self.folder / "old.pte"
        done = self.call(THIMBLE, "compile", MODELS / "digits_cnn/digits_cnn.pt2", "--target", npu, "--calibrate", "random", "-o", old, "--io",
                         "int8")
        self.assertEqual(done.returncode, 0, done.stderr)
        outputs = []
        for words in ((pte,), (old,), (pte, old)):
            app = self.call(APP, words[0], self.folder / "x.bin", self.folder / "y.bin", "npu", *words[1:], standin=npu)
            self.assertEqual(app.returncode, 0, app.stderr)
            outputs.append((self.folder / "y.bin").read_bytes())
        self.assertNotEqual(outputs[0], outputs[1])
        self.assertEqual(outputs[2], outputs[0])

    def test_errors(self):
        pte = self.compile("digits_cnn", "ethos-u65-256")
        for on, standin, code, text in (
                ("linux", None, 2, "--on linux: no Ethos-U: /dev/accel has no device"),
                ("linux:/dev/accel/accel7", None, 2, "--on linux: /dev/accel/accel7: No such file or directory"),
                ("linux", "ethos-u65-256,driver", 2, "/dev/accel/accel0: the driver is 'rocket', 'ethosu' was expected"),
                ("linux", "ethos-u65-256,version", 2, "version 2 of the kernel's driver, version 1 was expected"),
                ("linux", "ethos-u65-256,memory", 2, "a buffer for the NPU: Cannot allocate memory"),
                ("linux", "ethos-u65-256,refused", 2, "the job was refused: Invalid argument"),
                ("linux", "ethos-u65-256,timeout", 2, "the NPU did not finish in 10000 ms"),
                ("linux", "ethos-u65-512", 2, "another number of MACs: /dev/accel/accel0 (ethos-u65-512)"),
                ("linux", "ethos-u85-256", 2, "another NPU product: /dev/accel/accel0 (ethos-u85-256)"),
        ):
            with self.subTest(on=on, standin=standin):
                if standin is None and pathlib.Path("/dev/accel").exists():
                    self.skipTest("this machine has an accelerator")
                done = self.run_on(pte, on, standin)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(text, done.stderr.decode())
                self.assertEqual(len(done.stderr.decode().splitlines()), 1)
        # The C interface gives the status and the reason.
        app = self.call(APP, pte, self.folder / "x.bin", self.folder / "y.bin", "npu", standin="ethos-u65-256,timeout")
        self.assertEqual(app.returncode, 1)
        self.assertIn("the NPU did not finish in time\n/dev/accel/accel0 (ethos-u65-256): the NPU did not finish in 500 ms\n", app.stderr.decode())

    def test_exports(self):
        """The library exports the functions of the headers and nothing else."""
        declared = set()
        for header in HEADERS:
            declared |= set(re.findall(r"\b(thimble_\w+)\(", re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)))
        library = subprocess.run(["ldd", APP], capture_output=True, text=True, check=True).stdout
        library = re.search(r"libthimble\.so\.0 => (\S+)", library)[1]
        listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
        self.assertEqual({line.split()[-1] for line in listed.splitlines()}, declared)

    def test_core_only(self):
        pte = self.compile("digits_cnn", "cortex-m55")
        done = self.run_on(pte, "linux", "ethos-u65-256")
        self.assertEqual(done.returncode, 2)
        self.assertIn("digits_cnn.pte: --on linux: the file calls no NPU: use --on host", done.stderr.decode())
        self.call(THIMBLE, "run", pte, "--input", self.folder / "x.npy", "--output", self.folder / "y")
        self.assertEqual(self.call(APP, pte, self.folder / "x.bin", self.folder / "y.bin").returncode, 0)
        output = (self.folder / "y/output_0.npy").read_bytes()
        self.assertEqual((self.folder / "y.bin").read_bytes(), output[10 + int.from_bytes(output[8:10], "little"):])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
