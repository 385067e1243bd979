# SPDX-License-Identifier: Apache-2.0
"""The command line: options, JSON, exit codes, and the files that remain on disk.

usage: cli_test.py THIMBLE SOURCE_DIR [unittest options]
"""

import json
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from npy import write_npy

THIMBLE = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()
DIGITS = SOURCE / "models/digits_cnn"
MODEL = DIGITS / "digits_cnn.pt2"
DATA = ["--calibrate", DIGITS / "calibrate.npz"]
M55 = ["--target", "cortex-m55"]


class Cli(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        values = [(7 * i) % 17 / 8 - 1 for i in range(64)]
        self.x = self.path / "x.npy"
        write_npy(self.x, "<f4", (1, 1, 8, 8), struct.pack("<64f", *values))
        self.x_double = self.path / "x_double.npy"
        write_npy(self.x_double, "<f8", (1, 1, 8, 8), struct.pack("<64d", *values))

    def thimble(self, *arguments, code=0):
        """Runs thimble in the test's folder; returns standard output and error."""
        done = subprocess.run([str(THIMBLE), *map(str, arguments)], capture_output=True, text=True,
                              cwd=self.path, timeout=120)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}{done.stderr}")
        if code == 0:
            self.assertEqual(done.stderr, "", "progress is for terminals only")
        else:
            self.assertTrue(done.stderr.strip(), "a failure says why")
        return done.stdout, done.stderr

    def files(self):
        """Returns the files that commands have written, without the inputs."""
        here = self.path
        return {str(p.relative_to(here)) for p in here.rglob("*") if p.is_file()
                and not p.name.startswith("x")}

    def compile(self, *more, output="digits.pte"):
        self.thimble("compile", MODEL, *M55, *DATA, "-o", output, *more)
        return self.path / output

    def fails(self, code, *arguments, saying):
        before = self.files()
        out, err = self.thimble(*arguments, code=code)
        self.assertIn(saying, err)
        self.assertEqual(out, "")
        self.assertEqual(self.files(), before, "nothing may be left behind")


class Usage(Cli):
    def test_help_is_no_failure(self):
        self.assertIn("compile", self.thimble("--help")[0])
        self.assertIn("--calibrate", self.thimble("compile", "--help")[0])

    def test_wrong_usage(self):
        self.fails(2, saying="no verb given")
        self.fails(2, "compil", saying="similar names: compile")
        self.fails(2, "compile", MODEL, saying="--target")
        self.fails(2, "compile", MODEL, *M55, "--colour", "red", saying="--colour")
        self.fails(2, "compile", MODEL, *M55, "--io", "int4", saying="--io")
        self.fails(2, "compile", MODEL, *M55, *DATA, "--pareto", "--compat", "executorch",
                   saying="has more than one schedule")


    @unittest.skipUnless(pathlib.Path("/dev/full").exists(), "no /dev/full")
    def test_full_output(self):
        self.compile()
        for arguments in (["targets"], ["--help"], ["inspect", "digits.pte"],
                          ["compile", MODEL, *M55, *DATA, "-o", "again.pte", "--json"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([str(THIMBLE), *map(str, arguments)], stdout=full, stderr=subprocess.PIPE,
                                      text=True, cwd=self.path, timeout=120)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), f"{arguments}: {done.stderr}")
            self.assertIn("standard output", done.stderr)

    def test_closed_pipe(self):
        for restore in (True, False):  # False: SIGPIPE is ignored, as Python does
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run([str(THIMBLE), "targets"], stdout=writer, stderr=subprocess.PIPE, text=True,
                                  restore_signals=restore, timeout=120)
            os.close(writer)
            self.assertEqual(done.stderr, "")

    def test_version(self):
        version = self.thimble("--version")[0]
        self.assertRegex(version, r"^thimble \d+\.\d+\.\d+ \(commit ([0-9a-f]{12}|unknown), kernel layout \d+\)\n$")
        git = subprocess.run(["git", "-C", SOURCE, "rev-parse", "HEAD"], capture_output=True, text=True)
        if git.returncode == 0 and (SOURCE / ".git").exists():
            self.assertIn(f"(commit {git.stdout[:12]},", version)


class Compile(Cli):
    def test_report(self):
        out, _ = self.thimble("compile", MODEL, *M55, *DATA, "--json")
        self.assertEqual(self.files(), {"digits_cnn.pte"})
        report = json.loads(out)
        for key in ("target", "compile_seconds", "calibrate_seconds", "pte_bytes", "weights_bytes",
                    "arena_bytes", "arena_lower_bound_bytes", "state_bytes", "memories", "ops",
                    "engines", "float_ops", "fallbacks"):
            self.assertIn(key, report)
        self.assertEqual(report["target"], "cortex-m55")
        self.assertEqual(report["pte_bytes"], (self.path / "digits_cnn.pte").stat().st_size)
        self.assertEqual(sum(report["engines"].values()), len(report["ops"]))
        self.assertEqual(report["float_ops"], 0)
        for key in ("name", "op", "engine", "source", "macs", "bytes_out", "reason"):
            self.assertIn(key, report["ops"][0])
        for memory in report["memories"]:
            self.assertEqual(set(memory), {"name", "bytes_used", "bytes_size"})

    def test_everything_it_can_write(self):
        self.thimble("compile", MODEL, *M55, *DATA, "--out-dir", "out", "--emit",
                     "pte,ir,tflite,tosa", "--save-stages", "stages", "--kernels", "out/kernels.cpp",
                     "--report", "out/report.html")
        self.assertLessEqual({"out/digits_cnn.pte", "out/digits_cnn.ir", "out/kernels.cpp",
                              "out/digits_cnn.tflite", "out/digits_cnn.tosa",
                              "out/report.html"}, self.files())
        self.assertGreater(len(list((self.path / "stages").iterdir())), 3)
        kernels = (self.path / "out/kernels.cpp").read_text()
        self.assertIn("thimble_conv2d", kernels)
        self.assertNotIn("softmax", kernels)
        self.assertIn("<!doctype html", (self.path / "out/report.html").read_text())

    def test_formats_of_other_tools(self):
        self.thimble("compile", MODEL, *M55, *DATA, "--out-dir", "a", "--emit", "tflite,tosa")
        self.assertEqual(self.files(), {"a/digits_cnn.tflite", "a/digits_cnn.tosa"})
        self.assertEqual((self.path / "a/digits_cnn.tflite").read_bytes()[4:8], b"TFL3")
        self.assertEqual((self.path / "a/digits_cnn.tosa").read_bytes()[4:8], b"TOSA")
        lstm = SOURCE / "models/lstm_classifier"
        self.fails(1, "compile", lstm / "lstm_classifier.pt2", *M55, "--calibrate",
                   lstm / "calibrate.npz", "--emit", "pte,tflite,tosa", "-o", "lstm.pte",
                   saying="qlstm cannot be represented in LiteRT")

    def test_equal_input_gives_equal_bytes(self):
        first = self.compile(output="a.pte").read_bytes()
        self.assertEqual(first, self.compile(output="b.pte").read_bytes())

    def test_options_change_the_file(self):
        files = {self.compile(*options).read_bytes() for options in (
            [], ["--io", "int8"], ["--compat", "executorch"], ["--io-layout", "nhwc"],
            ["--observer", "percentile"], ["--observer", "min-max"], ["--equalize"])}
        self.assertEqual(len(files), 7)

    def test_tuning_is_reported(self):
        text = self.thimble("compile", MODEL, *M55, *DATA, "--tune", "--json", "--report", "r.html",
                            "-o", "tuned.pte")[0]
        trials = json.loads(text)["trials"]
        self.assertEqual(trials[0]["tool"], "equalize")
        self.assertGreater(len(trials), 3)
        for trial in trials:
            gain = trial["after_db"] - trial["before_db"]
            self.assertTrue(not trial["kept"] or gain >= 0.1, trial)
        self.assertIn("samples held back", (self.path / "r.html").read_text())

    def test_bad_input(self):
        compile_ = ["compile", MODEL, "-o", "y.pte"]
        self.fails(2, *compile_, *DATA, "--target", "cortex-m99", saying="similar names: cortex-m")
        self.fails(2, *compile_, *M55, saying="--calibrate")
        self.fails(2, *compile_, *M55, "--calibrate", "none.npz", saying="none.npz")
        self.fails(2, *compile_, *M55, "--calibrate", MODEL, saying="digits_cnn.pt2")
        self.fails(2, "compile", "none.pt2", *M55, *DATA, saying="none.pt2")
        self.fails(2, *compile_, *M55, *DATA, "--memory", "sram", saying="NAME=")
        self.fails(2, *compile_, *M55, *DATA, "--fail-if", " ", saying="found an empty value, expected a condition")
        self.fails(2, *compile_, *M55, *DATA, "--memory", "sram=12Q", saying="12Q")
        self.fails(2, *compile_, *M55, *DATA, "--memory", "attic=64K", saying="attic")
        self.fails(2, *compile_, *M55, *DATA, "--shape", "s0=-1", saying="s0=-1")
        self.fails(2, *compile_, *M55, *DATA, "--report", "report.txt", saying=".html")
        self.fails(2, "compile", MODEL, *M55, *DATA, "-o", "no/such/y.pte", saying="y.pte")
        self.fails(2, "compile", MODEL, *M55, *DATA, "-o", ".", saying=".")

    def test_options_that_would_do_nothing(self):
        compile_ = ["compile", MODEL, "--target", "nrf54lm20b", *DATA, "-o", "y.pte"]
        self.fails(2, *compile_, "--axon-sdk", ".", saying="--axon program or --axon header")
        self.fails(2, *compile_, "--axon-dir", ".", saying="--axon header")
        self.fails(2, *compile_, "--axon", "program", "--axon-dir", ".", saying="not program")

    def test_kernels_dir(self):
        self.compile("--kernels", "table.cpp", "--kernels-dir", "build/used")
        folder = self.path / "build/used"
        self.assertEqual({p.name for p in folder.iterdir()}, {"kernels_used.cpp", "kernels_used.cmake"})
        self.assertEqual((folder / "kernels_used.cpp").read_text(), (self.path / "table.cpp").read_text())
        cmake = (folder / "kernels_used.cmake").read_text()
        for word in ("thimble::conv2d.mve", "mve_thimble_conv2d_mve", "${CMAKE_CURRENT_LIST_DIR}/kernels_used.cpp"):
            self.assertIn(word, cmake)

    def test_steering(self):
        compile_ = ["compile", MODEL, *M55, *DATA, "-o", "y.pte"]
        for option in ("--quant", "--engine-off"):
            ask = "=int16" if option == "--quant" else ""
            self.fails(2, *compile_, option, "conv2x" + ask, saying="conv2d")
            self.fails(2, *compile_, option, "zzzzzzzz" + ask, saying="for example")
        self.fails(2, *compile_, "--quant", "conv2d", saying="int8, int16, float")
        self.fails(2, *compile_, "--quant", "conv2d=int3", saying="int4, int8, int16, float expected")
        no_fpu = ["compile", MODEL, "--target", "cortex-m3", *DATA]
        self.fails(1, *no_fpu, "--quant", "conv2d=float", saying="no float kernel on cortex-m3")
        stock = ("--compat", "executorch")
        self.fails(1, *compile_, *stock, "--quant", "conv*=int16", saying="no int16 kernel on cortex-m55")
        self.fails(1, *compile_, *stock, "--activations", "int16", saying="no kernels for 16-bit")
        self.fails(1, *compile_, *stock, "--accuracy", "sqnr>=60", saying="no kernels for 16-bit")
        plain = self.compile().read_bytes()
        self.assertEqual(plain, self.compile("--quant", "conv2d=int8", "--engine-off", "linear",
                                             "--engine-off", "conv*").read_bytes())

    def test_sixteen_bits(self):
        compile_ = ["compile", MODEL, *M55, *DATA, "-o", "y.pte", "--effort", "0"]
        some = json.loads(self.thimble(*compile_, "--quant", "conv1*=int16", "--json")[0])
        every = json.loads(self.thimble(*compile_, "--activations", "int16", "--json")[0])
        both = [row["op"] for row in some["ops"]]
        self.assertIn("thimble::conv2d.i16", both)
        self.assertIn("thimble::conv2d.mve", both)
        self.assertNotIn("thimble::conv2d.mve", [row["op"] for row in every["ops"]])
        self.assertGreater(every["sqnr_db"][0], some["sqnr_db"][0])
        self.fails(2, *compile_, "--accuracy", "sqnr>=40", "--activations", "int16", saying="selects the values with 16 bits")
        for bad in ("sqnr", "sqnr>=", "sqnr>=x", "f1>=0.5", "top1>0.5"):
            self.fails(2, *compile_, "--accuracy", bad, saying="expected")
        self.fails(1, *compile_, "--accuracy", "sqnr>=150", saying="int16 for every operator")
        asked = (some["sqnr_db"][0] + every["sqnr_db"][0]) / 2
        mixed = json.loads(self.thimble(*compile_, "--accuracy", f"sqnr>={asked}", "--json")[0])["accuracy"]
        self.assertLess(mixed["before"], asked)
        self.assertGreaterEqual(mixed["reached"], asked)
        self.assertTrue(mixed["promoted"])

    def test_accuracy_goal_holds_for_the_written_file(self):
        """The goal is tested after the weights were rounded, and a goal that int8 reaches needs no int16."""
        tcn = SOURCE / "models/tcn"
        compile_ = ["compile", tcn / "tcn.pt2", "--target", "cortex-m4", "--calibrate", tcn / "calibrate.npz", "-o", "t.pte"]
        default = json.loads(self.thimble(*compile_, "--json")[0])
        for asked in (default["sqnr_db"][0] - 0.5, default["sqnr_db"][0] + 0.3):
            made = json.loads(self.thimble(*compile_, "--accuracy", f"sqnr>={asked}", "--json")[0])
            self.assertGreaterEqual(made["accuracy"]["reached"], asked)
            out, _ = self.thimble("compare", tcn / "tcn.pt2", "t.pte", "--data", tcn / "calibrate.npz", "--json")
            self.assertGreaterEqual(json.loads(out)["sqnr_db"][0], asked - 1e-6)
        compile_ += ["--accuracy", f"sqnr>={default['sqnr_db'][0] - 0.5}"]
        self.assertEqual(json.loads(self.thimble(*compile_, "--json")[0])["accuracy"]["promoted"], [])

    def test_accuracy_that_rounding_reaches(self):
        """The report has the value that was reached, also if no operator has 16 bits."""
        compile_ = ["compile", MODEL, *M55, *DATA, "-o", "r.pte"]
        default = json.loads(self.thimble(*compile_, "--json")[0])
        compile_ += ["--accuracy", f"sqnr>={default['sqnr_db'][0] - 1}"]
        made = json.loads(self.thimble(*compile_, "--json")[0])["accuracy"]
        self.assertEqual(made["promoted"], [])
        self.assertIn(f", {made['reached']:.4g} with rounded weights, ", self.thimble(*compile_)[0])

    def test_input_with_a_wide_range(self):
        values = [10 ** (-6 + 8 * (i * 37 % 1024) / 1024) for i in range(16 * 64)]
        write_npy(self.path / "wide.npy", "<f4", (16, 1, 8, 8), struct.pack("<1024f", *values))
        out, _ = self.thimble("compile", MODEL, *M55, "--calibrate", "wide.npy", "-o", "w.pte")
        self.assertRegex(out, r"warning: x: \d+ % of the values other than 0 are smaller than half a step of int8")
        self.assertIn("log(x + e)", out)
        out, _ = self.thimble("compile", MODEL, *M55, *DATA, "-o", "w.pte")
        self.assertNotIn("log(x + e)", out)

    def test_truncated_model(self):
        whole = MODEL.read_bytes()
        for kept in (0, 100, len(whole) // 2, len(whole) - 30):
            (self.path / "x_cut.pt2").write_bytes(whole[:kept])
            self.fails(2, "compile", "x_cut.pt2", *M55, *DATA, saying="x_cut.pt2")

    def test_emit_for_other_tools(self):
        self.thimble("compile", MODEL, *M55, *DATA, "--emit", "pte,ir,tflite,tosa", "-o", "all.pte")
        self.assertEqual((self.path / "all.tflite").read_bytes()[4:8], b"TFL3")
        self.assertEqual((self.path / "all.tosa").read_bytes()[4:8], b"TOSA")
        self.assertTrue((self.path / "all.ir").read_text().startswith("graph"))

    def test_float_needs_no_data_and_an_fpu(self):
        self.fails(2, "compile", MODEL, *M55, *DATA, "--float", saying="cannot be used with --calibrate")
        compile_ = ["compile", MODEL, "--float", "-o", "float.pte"]
        self.fails(2, *compile_, *M55, "--io", "int8", saying="--float with --io int8")
        self.fails(2, *compile_, *M55, "--emit", "tflite", saying="--float with --emit tflite")
        self.fails(2, *compile_, *M55, "--quant", "conv2d=int8", saying="cannot be used with --quant")
        self.fails(2, *compile_, *M55, "--observer", "min-max", saying="cannot be used with --observer")
        self.fails(2, *compile_, *M55, "--effort", "1", saying="cannot be used with --effort")
        self.fails(2, *compile_, *M55, "--compat", "executorch", saying="--float with --compat executorch")
        self.fails(1, *compile_, "--target", "cortex-m0plus", saying="cortex-m0plus has no FPU")
        out, _ = self.thimble(*compile_, "--target", "cortex-m0plus", "--soft-float")
        self.assertIn("not quantized", out)

    def test_too_large_for_the_part(self):
        limit = ["--memory", "sram=512", "--kernels", "y.cpp"]
        self.fails(1, "compile", MODEL, *M55, *DATA, *limit, saying="does not fit")
        for name in ("refusal.html", "refusal.json"):
            _, err = self.thimble("compile", MODEL, *M55, *DATA, *limit, "--report", name, code=1)
            self.assertEqual(err.splitlines()[-1], f"nothing was written but {name}")
            self.assertFalse((self.path / "y.cpp").exists() or (self.path / "digits_cnn.pte").exists())
            refusal = "sram needs " + re.search(r"sram needs ([\d,]+ B)", err)[1]
            self.assertIn(refusal, (self.path / name).read_text())
        page = (self.path / "refusal.html").read_text()
        for part in ('id="refusal"', 'id="arena"', 'id="ops"'):
            self.assertIn(part, page)
        self.assertGreater(len(json.loads((self.path / "refusal.json").read_text())["ops"]), 3)
        self.compile("--memory", "sram=4K", "--memory", "flash=1M")

    def test_sqnr_is_that_of_compare(self):
        report = json.loads(self.thimble("compile", MODEL, *M55, *DATA, "-o", "digits.pte", "--json")[0])
        self.assertEqual(report["sqnr_samples"], 64)
        compared = json.loads(self.thimble("compare", MODEL, "digits.pte", "--data", DATA[1], "--json")[0])
        self.assertEqual(compared["calls"], 64)
        self.assertAlmostEqual(report["sqnr_db"][0], compared["sqnr_db"][0], places=4)

    def test_no_sqnr_without_signal(self):
        # All values of the sample are equal, so that some operators compute a constant.
        for value in (0.0, 0.3):
            write_npy(self.path / "x_flat.npy", "<f4", (1, 1, 8, 8), struct.pack("<64f", *[value] * 64))
            out, _ = self.thimble("compile", MODEL, *M55, "--calibrate", "x_flat.npy", "-o", "flat.pte", "--report", "f.html")
            self.assertNotIn("199", out.split("engine")[0])
            self.assertNotIn("199.0 dB", (self.path / "f.html").read_text())

    def test_operator_without_kernel(self):
        case = SOURCE / "tests/data/pt2/aten_random.pt2"
        before = self.files()
        _, err = self.thimble("compile", case, *M55, *DATA, code=1)
        self.assertIn("aten.randn.default is not supported: random numbers", err)
        self.assertIn("core_aten_cases.py:", err)
        self.assertIn("nothing was written", err)
        self.assertEqual(self.files(), before)

    def test_kernel_that_the_runtime_lacks(self):
        """A file of a later ExecuTorch: the host and an emulated board give the same message."""
        stock = next(SOURCE.glob("tests/data/golden/*/sine_stock.pte"))
        (self.path / "later.pte").write_bytes(stock.read_bytes().replace(b"cortex_m::quantized_linear", b"cortex_m::quantized_linexx"))
        for on in ("host", "qemu"):
            _, err = self.thimble("run", "later.pte", "--input", stock.parent / "hello_sin_4.npy", "--on", on, code=1)
            self.assertEqual(err, "later.pte: a kernel that the model calls is not linked: cortex_m::quantized_linexx.out\n", on)

    def test_failure_as_json(self):
        out, _ = self.thimble("compile", "none.pt2", *M55, *DATA, "--json", code=2)
        self.assertIn("none.pt2", json.loads(out)["error"])


class Terminal(Cli):
    def on_terminal(self, *arguments, receive=lambda shown: None, env=None):
        """Runs thimble with a terminal as standard error; returns the exit code and what the terminal received.
        Calls receive() with the text so far after each part of it."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([str(THIMBLE), *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=theirs, cwd=self.path,
                                   env=env)
        os.close(theirs)
        received = b""
        try:
            while chunk := os.read(ours, 4096):
                received += chunk
                receive(received.decode())
        except OSError:  # Linux reports EIO when the other end is closed
            pass
        os.close(ours)
        return process.wait(timeout=120), received.decode()

    def test_progress(self):
        # An emulator that starts when the line was drawn three times.
        pte, start, programs = self.path / "digits.pte", self.path / "start", self.path / "programs"
        self.thimble("compile", MODEL, *M55, "--calibrate", DIGITS / "calibrate.npz", "-o", pte)
        programs.mkdir()
        emulator = programs / "qemu-system-arm"
        emulator.write_text(f"#!/bin/sh\nuntil [ -e {start} ]; do sleep 0.01; done\nexec {shutil.which('qemu-system-arm')} \"$@\"\n")
        emulator.chmod(0o755)

        def receive(shown):
            if shown.count("running") >= 3:
                start.touch()

        code, shown = self.on_terminal("run", pte, "--on", "qemu", "--input", DIGITS / "golden.npz", receive=receive,
                                       env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"})
        self.assertEqual(code, 0, shown)
        lines = shown.split("\r\x1b[K")
        for line in lines[1:4]:
            self.assertRegex(line, r"^running digits\.pte on cortex-m55 \(QEMU [\w-]+\), \d+ s$")
        self.assertEqual((lines[0], lines[-1]), ("", ""), "the line is erased at the end")

    def test_no_progress_for_short_work(self):
        self.assertEqual(self.on_terminal("compile", SOURCE / "models/hello_sin/hello_sin.pt2", *M55, "--calibrate",
                                          SOURCE / "models/hello_sin/calibrate.npz", "-o", "sin.pte"), (0, ""))


class Run(Cli):
    def outputs(self, *arguments):
        out, _ = self.thimble("run", *arguments, "--json")
        return json.loads(out)

    def test_sixteen_bits_give_one_answer(self):
        pte = self.compile("--quant", "conv1*=int16")
        answers = {self.outputs(pte, "--on", on, "--input", self.x)["outputs"][0]["sha256"]
                   for on in ("host", "eval", "qemu")}
        self.assertEqual(len(answers), 1)

    def test_one_answer_everywhere(self):
        pte = self.compile("--emit", "pte,ir")
        host = self.outputs(pte, "--input", self.x)
        output, = host["outputs"]
        self.assertEqual((output["name"], output["dtype"], output["shape"], output["dim_order"]),
                         ("output_0", "float32", [1, 10], [0, 1]))
        self.assertGreater(host["arena_bytes_used"], 0)
        for arguments in ([pte, "--on", "eval"], [pte, "--on", "qemu"],
                          [pte, "--on", "qemu", "--target", "cortex-m3"],
                          [pte.with_suffix(".ir")]):
            other = self.outputs(*arguments, "--input", self.x)["outputs"][0]
            self.assertEqual(other["sha256"], output["sha256"], arguments)
        double = self.outputs(pte, "--input", self.x_double)["outputs"][0]
        self.assertEqual(double["sha256"], output["sha256"])

    def test_quantized_by_pytorch(self):
        cases = SOURCE / "tests/data/pt2"
        rows = self.path / "x_rows.npy"
        write_npy(rows, "<f4", (24, 20), struct.pack("<480f", *((5 * i % 23) / 8 - 1 for i in range(480))))
        for name in ("q_xnnpack_rows", "q_cortex_m_rows", "q_tosa_uint8_rows", "q_tosa_int16_rows"):
            model, pte = cases / f"{name}.pt2", self.path / f"{name}.pte"
            out, _ = self.thimble("compile", model, *M55, "-o", pte)
            self.assertIn("as in the .pt2", out)
            self.assertEqual("operators in int16" in out, "int16" in name)
            answers = {self.outputs(pte, "--on", on, "--input", rows)["outputs"][0]["sha256"]
                       for on in ("host", "eval", "qemu")}
            self.assertEqual(len(answers), 1, name)
        self.fails(2, "compile", cases / "q_xnnpack_softmax.pt2", *M55, saying="aten.softmax.int")

    def test_layout_of_inputs_does_not_change_the_answer(self):
        first = self.outputs(self.compile(), "--input", self.x)["outputs"]
        last = self.outputs(self.compile("--io-layout", "nhwc"), "--input", self.x)["outputs"]
        self.assertEqual(first, last)

    def test_file_of_another_kernel_layout(self):
        bytes_ = bytearray(self.compile().read_bytes())
        at = bytes_.index(b"THMB") + 6  # docs/formats/records.md
        now = int.from_bytes(bytes_[at : at + 2], "little")
        bytes_[at : at + 2] = (now - 1).to_bytes(2, "little")
        (self.path / "x_old.pte").write_bytes(bytes_)
        for on in ("host", "eval", "qemu"):
            self.fails(1, "run", "x_old.pte", "--input", self.x, "--on", on,
                       saying=f"x_old.pte: its operators have kernel layout version {now - 1}, this release runs version {now}")

    def test_output_files(self):
        self.thimble("run", self.compile(), "--input", self.x, "--output", "out")
        array = (self.path / "out/output_0.npy").read_bytes()
        self.assertTrue(array.startswith(b"\x93NUMPY"))
        self.assertEqual(len(array) % 64, 40)  # 10 floats after an aligned header

    def test_steps(self):
        pte = self.compile()
        series = self.path / "x_series.npy"
        one = self.x.read_bytes()[-256:]
        write_npy(series, "<f4", (3, 1, 8, 8), 3 * one)
        for on in ("host", "eval", "qemu"):
            answer = self.outputs(pte, "--input", series, "--steps", "--on", on)
            self.assertEqual(answer["calls"], 3)
            self.assertEqual(answer["outputs"][0]["shape"], [3, 1, 10])
        write_npy(series, "<f4", (3, 1, 1, 8, 8), 3 * one)
        self.assertEqual(self.outputs(pte, "--input", series, "--steps")["calls"], 3)

    def test_profile(self):
        answer = self.outputs(self.compile(), "--input", self.x, "--on", "qemu", "--profile")
        counts = [op["instructions"] for op in answer["ops"]]
        self.assertGreater(min(counts), 0)
        self.assertLess(sum(counts), answer["instructions"])
        self.assertGreater(1.05 * sum(counts), answer["instructions"])
        again = self.outputs("digits.pte", "--input", self.x, "--on", "qemu")
        self.assertEqual(again["instructions"], answer["instructions"])
        self.assertFalse(again["inputs_are_zeros"])

    def test_cycles_outside_of_kernels_are_those_of_the_compiler(self):
        model = SOURCE / "models/hello_sin"
        outside = []
        for form in ([], ["--activations", "int16"], ["--compat", "executorch"]):
            pte = self.path / "hello.pte"
            report = json.loads(self.thimble("compile", model / "hello_sin.pt2", "--target", "cortex-m4", "--calibrate",
                                             model / "calibrate.npz", "-o", pte, "--json", *form)[0])
            answer = self.outputs(pte, "--on", "qemu", "--profile")
            outside.append(answer["cycles"] - sum(op["cycles"] for op in answer["ops"]))
            self.assertLess(abs(report["runtime_cycles"] / outside[-1] - 1), 0.1, (form, report["runtime_cycles"], outside))
        # Decoding records costs more than addresses, and the tables of the file more than records.
        self.assertLess(3 * outside[0], outside[1])
        self.assertLess(2 * outside[1], outside[2])

    def test_simulated_npus(self):
        """On a board a simulator replaces the NPU: no sum contains its instructions."""
        for target, npu in (("corstone-300", "ethos-u55-128"), ("nrf54lm20b", "axon"), ("imxrt700", "Neutron")):
            pte = self.path / f"{target}.pte"
            report = json.loads(self.thimble("compile", MODEL, "--target", target, *DATA, "-o", pte, "--json")[0])
            answer = self.outputs(pte, "--input", self.x, "--on", "qemu", "--profile")
            delegate, = (op for op in answer["ops"] if op["name"].startswith("(delegate"))
            self.assertEqual(delegate["npu"], npu)
            self.assertEqual(delegate["cycles"], answer["npu_cycles"])
            self.assertLess(abs(delegate["cycles"] / report["npu_cycles"] - 1), 0.05)
            self.assertGreater(answer["simulator_instructions"], 1_000_000)
            self.assertLess(answer["instructions"], 10_000)
            self.assertFalse(answer["instructions_include_npu"])
            self.assertGreater(answer["instructions"], sum(op.get("instructions", 0) for op in answer["ops"]))
            self.assertGreater(answer["cycles"], answer["instructions"] / 2)
            self.assertLess(answer["cycles"], 3 * answer["instructions"])
            self.assertTrue(self.outputs(pte, "--input", self.x, "--on", "qemu")["instructions_include_npu"])

    def test_a_profile_needs_no_input(self):
        pte = self.compile()
        zeros = self.path / "x_zeros.npy"
        write_npy(zeros, "<f4", (1, 1, 8, 8), bytes(256))
        with_zeros = self.outputs(pte, "--input", zeros, "--on", "qemu", "--profile")
        without = self.outputs(pte, "--on", "qemu", "--profile")
        self.assertTrue(without.pop("inputs_are_zeros"))
        self.assertFalse(with_zeros.pop("inputs_are_zeros"))
        self.assertEqual(without, with_zeros)
        self.assertIn("no --input: all inputs are zeros",
                      self.thimble("run", pte, "--on", "qemu", "--profile")[0])

    def test_names_of_the_export(self):
        for io in ("float", "int8"):
            pte = self.compile("--names", "--io", io, output=f"{io}.pte")
            answer = self.thimble("run", pte, code=2)[1]
            self.assertIn("expected 1: x ", answer)
            if io == "float":
                ran = self.outputs(pte, "--input", self.x)
                self.assertEqual([output["name"] for output in ran["outputs"]], ["linear"])
        plain = self.thimble("run", self.compile(), code=2)[1]
        self.assertIn("expected 1: input_0 ", plain)

    def test_float_graph(self):
        output, = self.outputs(MODEL, "--input", self.x)["outputs"]
        self.assertEqual(output["shape"], [1, 10])

    def test_bad_input(self):
        pte = self.compile()
        self.fails(2, "run", pte, saying="input_0 float32[1,1,8,8]")
        self.fails(2, "run", pte, "--input", self.x, "--input", self.x, saying="2 --input")
        self.fails(2, "run", pte, "--input", "none.npy", saying="none.npy")
        self.fails(2, "run", "none.pte", "--input", self.x, saying="none.pte")
        self.fails(2, "run", pte, "--input", self.x, "--target", "z80", saying="z80")
        self.fails(2, "run", pte, "--input", self.x, "--profile", saying="--on qemu")
        self.fails(2, "run", pte, "--steps", "--profile", "--on", "qemu", saying="0 --input")

    def test_file_larger_than_the_ram_of_the_board(self):
        large = self.path / "large.pte"
        self.thimble("compile", MODEL, "--target", "cortex-m4", *DATA, "-o", large)
        with open(large, "ab") as file:
            file.truncate(17 << 20)
        self.fails(2, "run", large, "--input", self.x, "--on", "qemu",
                   saying="the RAM of the board is too small: 17825792 B needed, 16777216 of 16777216 B available")

    def test_profile_of_an_npu(self):
        npu = self.path / "npu.pte"
        self.thimble("compile", MODEL, "--target", "ethos-u55-128", *DATA, "-o", npu)
        profile = self.outputs(npu, "--input", self.x, "--profile")["npu"]
        self.assertEqual([row["npu"] for row in profile], ["ethos-u55-128"])
        self.assertTrue(any(op["name"].startswith("CONV") for op in profile[0]["ops"]))
        self.assertGreater(sum(op["macs"] for op in profile[0]["ops"]), 0)
        self.assertIn("\nCONV", self.thimble("inspect", npu, "--commands")[0])

    def test_budget_of_an_npu(self):
        words = ["compile", MODEL, "--target", "ethos-u55-128", *DATA, "-o", "npu.pte", "--memory"]
        _, refusal = self.thimble(*words, "sram=100", code=1)
        least = int(re.search(r"sram needs at least ([\d,]+) B", refusal).group(1).replace(",", ""))
        cycles = []
        for more in (0, 400, 1500, 1100000):
            report = json.loads(self.thimble(*words, f"sram={least + more}", "--json")[0])
            used = report["arena_bytes"] + report["state_bytes"] + report["static_bytes"] + report["stack_bytes"]
            self.assertLessEqual(used, least + more)
            cycles.append(report["npu_cycles"])
        self.assertEqual(cycles, sorted(cycles, reverse=True), "more memory is never slower")
        self.fails(1, *words, f"sram={least - 1}", saying=f"at least {least:,} B")

    def test_npu_weights_as_named_data(self):
        answers = []
        for place in ("payload", "named"):
            pte = self.path / f"{place}.pte"
            self.thimble("compile", MODEL, "--target", "ethos-u55-128", *DATA, "-o", pte, "--npu-weights", place)
            answers.append([row["sha256"] for row in self.outputs(pte, "--input", self.x)["outputs"]])
        self.assertEqual(answers[0], answers[1])
        self.fails(2, "run", MODEL, "--input", self.x, "--on", "host", saying="eval")
        wrong = self.path / "x_wrong.npy"
        write_npy(wrong, "<f4", (1, 8, 8), bytes(256))
        self.fails(2, "run", pte, "--input", wrong, saying="x_wrong.npy: shape [1,8,8]")
        write_npy(wrong, "|i1", (1, 1, 8, 8), bytes(64))
        self.fails(2, "run", pte, "--input", wrong, saying="x_wrong.npy: int8[1,1,8,8]")
        self.fails(2, "run", pte, "--input", wrong, "--on", "qemu", saying="x_wrong.npy")

    def test_broken_program(self):
        whole = self.compile().read_bytes()
        broken = self.path / "x_broken.pte"
        for kept in (0, 7, 64, len(whole) // 2):
            broken.write_bytes(whole[:kept])
            for on in ("host", "eval", "qemu"):
                self.fails(2, "run", broken, "--input", self.x, "--on", on, saying="x_broken.pte")


class Compare(Cli):
    def test_report(self):
        pte = self.compile()
        out, _ = self.thimble("compare", MODEL, pte, "--data", DIGITS / "test.npz", "--json")
        report = json.loads(out)
        self.assertGreater(report["sqnr_db"][0], 25)
        self.assertGreater(report["top1_agreement"], 0.98)
        self.assertGreater(report["accuracy_float"], 0.98)
        self.assertGreater(report["accuracy"], 0.97)

    def test_the_board_agrees_with_the_host(self):
        data = ["--data", DIGITS / "golden.npz", "--json"]
        pte = self.compile()
        host, board = (json.loads(self.thimble("compare", MODEL, pte, *data, "--on", on)[0])
                       for on in ("host", "qemu"))
        self.assertEqual(host["sqnr_db"], board["sqnr_db"])
        self.assertNotIn("accuracy", host)

    def test_per_layer(self):
        pte = self.compile("--names")
        arguments = ["compare", MODEL, pte, "--data", DIGITS / "test.npz", "--per-layer"]
        report = json.loads(self.thimble(*arguments, "--json")[0])
        layers = report["layers"]
        self.assertEqual([layer["op"] for layer in layers],
                         ["thimble::conv2d.mve", "thimble::conv2d.mve", "thimble::max_pool2d.packed",
                          "thimble::conv2d.mve", "thimble::max_pool2d.packed",
                          "thimble::linear.mve"])
        for layer in layers:
            self.assertGreater(layer["sqnr_db"], 20)
            self.assertIn("export.py:", layer["source"])
            self.assertIn(layer["cause"], ["range", "rounding", "clipping"])
        # The first operator has no error before it, the last one has that of all others.
        self.assertAlmostEqual(layers[0]["local_db"], layers[0]["sqnr_db"], delta=0.5)
        self.assertGreater(layers[-1]["local_db"], layers[-1]["sqnr_db"] + 1)
        self.assertEqual(report["option"]["option"], "--activations int16")
        self.assertGreater(report["option"]["sqnr_db"], report["option"]["before_db"] + 3)
        text, _ = self.thimble(*arguments)
        self.assertIn("`compile --activations int16` has", text)
        marked = [line for line in text.splitlines() if line.startswith(">")]
        worst = min(layers, key=lambda layer: layer["sqnr_db"])
        self.assertEqual(len(marked), 1)
        self.assertIn(worst["name"], marked[0])
        self.assertEqual((self.path / "digits.pte").read_bytes().count(b"thimble_layers"), 1)
        self.assertNotIn(b"thimble_layers", self.compile().read_bytes())
        self.fails(2, *arguments, saying="compile with --names")

    def test_bad_input(self):
        pte = self.compile()
        self.fails(2, "compare", MODEL, pte, saying="--data")
        self.fails(2, "compare", MODEL, pte, "--data", "none.npz", saying="none.npz")
        other = SOURCE / "models/hello_sin"
        self.fails(2, "compare", other / "hello_sin.pt2", pte, "--data", other / "test.npz",
                   saying="digits.pte")


class Times(Cli):
    def program(self, model, target, *more, output="y.pte"):
        """Compiles with random data; returns the report."""
        return json.loads(self.thimble("compile", model, "--target", target, "--calibrate", "random", "-o", output, "--json",
                                       *more)[0])

    def profile(self, pte, *more):
        return json.loads(self.thimble("run", pte, "--on", "qemu", "--profile", "--json", *more)[0])

    KEYWORDS = SOURCE / "models/dscnn_kws/dscnn_kws.pt2"

    def test_a_time_without_wait_states_has_no_band(self):
        for target, without in (("stm32l4r5", []), ("nrf52840", ["flash"]), ("stm32h743", ["sram"])):
            report = self.program(self.KEYWORDS, target)
            self.assertEqual(report["memories_without_waits"], without, target)
            self.assertEqual(report["time_error_percent"], None if without else 20, target)
            notes = [note for note in report["notes"] if note.startswith("the time has no wait states of ")]
            self.assertEqual(len(notes), len(without), target)

    def test_a_time_without_wait_states_decides_no_condition(self):
        self.program(self.KEYWORDS, "cortex-m4")
        for condition in ("time>1s", "time>+1%"):
            self.fails(2, "diff", "y.pte", "y.pte", "--target", "nrf52840", "--fail-if", condition,
                       saying="it lacks wait states of flash, which the file of nrf52840 does not state")
            self.thimble("diff", "y.pte", "y.pte", "--target", "stm32l4r5", "--fail-if", condition)
        self.thimble("diff", "y.pte", "y.pte", "--target", "nrf52840", "--fail-if", "cycles>+1%")

    def test_a_profile_has_the_wait_states_and_the_band_of_the_part(self):
        self.program(self.KEYWORDS, "cortex-m4")
        # The second part has another core with the same instructions.
        for part, core in (("stm32l4r5", "cortex-m4"), ("stm32u575", "cortex-m33")):
            answer = self.profile("y.pte", "--target", part)
            self.assertEqual((answer["time_error_percent"], answer["memories_without_waits"]), (20, []), part)
            self.assertGreater(answer["cycles"], self.profile("y.pte", "--target", core)["cycles"], part)
        answer = self.profile("y.pte", "--target", "stm32h743")
        self.assertEqual((answer["time_error_percent"], answer["memories_without_waits"]), (None, ["sram"]))
        self.assertGreater(answer["cycles"], self.profile("y.pte", "--target", "cortex-m7")["cycles"])
        text = self.thimble("run", "y.pte", "--on", "qemu", "--profile", "--target", "stm32n657")[0]
        self.assertIn("note: the time has no wait states: y.pte: --target stm32n657: its core is cortex-m55, the file is "
                      "compiled for cortex-m4", text)

    def test_a_part_with_another_npu_does_not_run_the_file(self):
        self.program(MODEL, "corstone-300", output="u55.pte")
        for part, npu in (("corstone-300-u55-256", "ethos-u55-256"), ("corstone-320", "ethos-u85-256"), ("nrf54lm20b", "axon"),
                          ("imxrt700", "neutron-n3-64"), ("stm32n657", "none")):
            self.fails(2, "run", "u55.pte", "--input", self.x, "--target", part,
                       saying=f"u55.pte: --target {part}: its NPU: {npu}; the file is compiled for ethos-u55-128")
        self.program(MODEL, "nrf54lm20b", output="axon.pte")
        self.fails(2, "run", "axon.pte", "--input", self.x, "--target", "imxrt700", saying="its NPU: neutron-n3-64; the file")
        self.program(MODEL, "imxrt700", output="neutron.pte")
        self.fails(2, "run", "neutron.pte", "--input", self.x, "--target", "corstone-300", saying="its NPU: ethos-u55-128; the")
        # A core alone can have any NPU.
        for pte, part in (("u55.pte", "cortex-m55"), ("u55.pte", "corstone-300"), ("u55.pte", "alif-e7-he")):
            self.thimble("run", pte, "--input", self.x, "--target", part)

    def test_a_size_above_the_measured_ones_is_marked(self):
        model = SOURCE / "tests/data/pt2/dynamic_batch_no_max.pt2"
        basis = []
        for batch in (2, 20000):
            report = self.program(model, "stm32l4r5", "--shape", f"batch={batch}", "--io", "int8")
            basis.append(next(op["cycle_basis"] for op in report["ops"] if "linear" in op["op"]))
        self.assertEqual(basis, ["measured", "inaccurate"])
        self.assertIsNone(report["time_error_percent"])
        self.assertTrue(any("larger than all that were measured" in note for note in report["notes"]), report["notes"])


class Diff(Cli):
    def test_estimates_are_those_of_the_compiler(self):
        """diff computes the estimates from the file alone."""
        for name in ("digits_cnn", "decoder_step", "lstm_classifier", "shufflenet_v2_like"):
            model = SOURCE / f"models/{name}"
            for target in ("cortex-m4", "cortex-m55", "cortex-m0plus", "corstone-300", "nrf54lm20b"):
                pte = self.path / "y.pte"
                compiled = json.loads(self.thimble("compile", model / f"{name}.pt2", "--target", target, "--calibrate",
                                                   model / "calibrate.npz", "-o", pte, "--json")[0])
                wanted = [(op["cycles"], op["cycles_measured"]) for op in compiled["ops"]
                          if op["engine"].startswith("cortex")]  # none of the targets has wait states
                answer = json.loads(self.thimble("diff", pte, pte, "--json")[0])
                calls = [op["after"] for op in answer["ops"]]
                self.assertEqual([(call["cycles"], call["cycles_measured"]) for call in calls
                                  if not call["kernel"].startswith("(")], wanted, (name, target))
                totals = {total["name"]: total["after"] for total in answer["totals"]}
                self.assertEqual((totals["file"], totals["arena"]), (compiled["pte_bytes"], compiled["arena_bytes"]))
                runtime = answer["after"]["runtime_cycles"]
                self.assertEqual(runtime, compiled["runtime_cycles"], (name, target))
                of_core = [call["cycles"] for call in calls if not call["kernel"].startswith("(")]
                self.assertEqual(totals["cycles"], sum(of_core) + (runtime or 0), (name, target))
                self.assertFalse(any(op["changed"] for op in answer["ops"]))
                npu = [call["cycles"] for call in calls if call["kernel"].startswith("(")]
                if npu:
                    self.assertEqual(totals["npu_cycles"], sum(npu))
                    profile = json.loads(self.thimble("run", pte, "--profile", "--json")[0])["npu"]
                    self.assertEqual(npu, [round(row["cycles"]) for row in profile], (name, target))

    def test_a_larger_budget_is_met_too(self):
        """With variables and stack, which tests/unit/budget_test.cpp does not have."""
        model = SOURCE / "models/resnet8"
        for budget in (32768, 34000):
            report = json.loads(self.thimble("compile", model / "resnet8.pt2", "--target", "cortex-m4", "--calibrate", "random",
                                             "--memory", f"sram={budget}", "-o", "y.pte", "--json")[0])
            used = {memory["name"]: memory["bytes_used"] for memory in report["memories"]}["sram"]
            self.assertLessEqual(used, budget)

    def test_the_runtime_is_that_of_the_compiler_in_each_form(self):
        """Of the file, and on a part with wait states of code, whose sums compile, fit and diff share."""
        model = SOURCE / "models/hello_sin"
        seen = set()
        for target in ("cortex-m4", "stm32g0b1", "stm32l4r5"):
            for form in ([], ["--activations", "int16"], ["--compat", "executorch"]):
                pte = self.path / "y.pte"
                compiled = json.loads(self.thimble("compile", model / "hello_sin.pt2", "--target", target, "--calibrate",
                                                   model / "calibrate.npz", "-o", pte, "--json", *form)[0])
                answer = json.loads(self.thimble("diff", pte, pte, "--target", target, "--json")[0])
                self.assertEqual(answer["after"]["runtime_cycles"], compiled["runtime_cycles"], (target, form))
                totals = {total["name"]: total["after"] for total in answer["totals"]}
                self.assertEqual(totals["cycles"], compiled["cycles"], (target, form))
                seen.add(compiled["runtime_cycles"])
                if form:
                    continue  # fit has only the native form
                fit = json.loads(self.thimble("fit", model / "hello_sin.pt2", "--calibrate", model / "calibrate.npz",
                                              "--part", target, "--json")[0])["models"][0]["parts"][0]
                self.assertEqual(fit["time_us"], compiled.get("time_us"), target)
        self.assertEqual(len(seen), 9)

    def test_conditions(self):
        small, large = self.compile(), self.compile("--names", output="names.pte")
        bytes_more = large.stat().st_size - small.stat().st_size
        for condition, code in ((f"file>+{bytes_more}B", 0), (f"file>=+{bytes_more}B", 1), ("file<+0B", 0), ("file<=-1B", 0),
                                (f"file>{small.stat().st_size}", 1), ("file>1M", 0), ("file>+0.1%,arena>+0%", 1)):
            done = subprocess.run([str(THIMBLE), "diff", str(small), str(large), "--fail-if", condition, "--json"],
                                  capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, code, (condition, done.stderr))
            self.assertEqual(len(json.loads(done.stdout)["violations"]), code, condition)
            self.assertEqual(bool(done.stderr), bool(code))


class InspectAndTargets(Cli):
    def test_inspect(self):
        pte = self.compile("--emit", "pte,ir")
        self.thimble("inspect", pte)
        self.assertEqual(json.loads(self.thimble("inspect", pte, "--json")[0])["target"],
                         "cortex-m55")
        for file in (MODEL, DIGITS / "test.npz", pte.with_suffix(".ir")):
            self.thimble("inspect", file)
            self.assertEqual(json.loads(self.thimble("inspect", file, "--json")[0])["file"],
                             file.name)
        self.fails(2, "inspect", self.x, saying=".npz")
        self.fails(2, "inspect", "none.pte", saying="none.pte")

    def test_opt(self):
        self.compile("--save-stages", "stages")
        imported = self.path / "stages/01-imported.ir"
        (passed,) = (self.path / "stages").glob("*-float.ir")
        self.assertEqual(self.thimble("opt", imported)[0], passed.read_text(),
                         "the pipeline is what compile runs")
        passes = self.thimble("opt", "--list")[0].split()
        self.assertIn("fold_batch_norm", passes)
        one_by_one = [word for name in passes
                      for word in ("--pass", name)]
        self.assertEqual(self.thimble("opt", imported, *one_by_one)[0], passed.read_text())
        without = self.thimble("opt", imported, "--skip", "fold_batch_norm")[0]
        self.assertIn("= batch_norm(", without)
        self.assertNotIn("= batch_norm(", passed.read_text())
        self.thimble("opt", imported, "-o", "out.ir")
        self.assertEqual((self.path / "out.ir").read_text(), passed.read_text())
        self.fails(2, "opt", imported, "--pass", "nothing", saying="opt --list")
        self.fails(2, "opt", "none.ir", saying="none.ir")

    def test_stages_do_not_overwrite_files(self):
        folder = self.path / "kept"
        folder.mkdir()
        kept = folder / "01-imported.ir"
        for model, data, file in ((kept, DATA[1], MODEL), (MODEL, kept, DATA[1])):
            kept.write_bytes(file.read_bytes())
            self.fails(2, "compile", model, *M55, "--calibrate", data, "-o", "y.pte", "--save-stages", folder,
                       saying="01-imported.ir: is an input and would be overwritten")
            self.assertEqual(kept.read_bytes(), file.read_bytes())
        kept.unlink()
        error = self.thimble("compile", MODEL, *M55, *DATA, "-o", folder / "05-lowered.ir", "--save-stages", folder, code=2)[1]
        self.assertIn("05-lowered.ir: is given for two outputs", error)
        self.assertIn("graph", (folder / "05-lowered.ir").read_text())

    def test_an_old_file_gives_its_permissions(self):
        old = self.path / "private.pte"
        old.write_bytes(b"old")
        old.chmod(0o600)
        self.thimble("compile", MODEL, *M55, *DATA, "-o", old)
        self.assertNotEqual(old.read_bytes(), b"old")
        self.assertEqual(old.stat().st_mode & 0o777, 0o600)

    def test_channels_without_effect(self):
        # Random samples give ranges in which several channels of the network are constant.
        command = ("compile", SOURCE / "models/hello_sin/hello_sin.pt2", *M55, "--calibrate", "random", "--json")
        sizes = {}
        for name, skip in (("fewer", ()), ("all", ("--skip-passes", "remove_channels"))):
            report = json.loads(self.thimble(*command, "-o", f"{name}.pte", *skip)[0])
            self.assertEqual(any("have no effect" in note for note in report["notes"]), name == "fewer")
            sizes[name] = report["pte_bytes"]
            write_npy(self.path / "x.npy", "<f4", (1, 1), struct.pack("<f", 0.5))
            self.thimble("run", f"{name}.pte", "--input", "x.npy", "--output", name)
        self.assertLess(sizes["fewer"], sizes["all"])
        self.assertEqual((self.path / "fewer/output_0.npy").read_bytes(), (self.path / "all/output_0.npy").read_bytes())
        self.fails(2, *command[:-1], "-o", "x.pte", "--skip-passes", "remove_chanels", saying="no such pass")

    def test_what_engines_take(self):
        known = {name.split(".")[1] for name in self.thimble("targets", "--ops")[0].split()}
        for target, engine, op, limit in (("corstone-300", "ethos-u55-128", "qsoftmax", "row_elements 1 to 4095"),
                                          ("nrf54lm20b", "axon", "qlinear", "inputs 1 to 2048"),
                                          ("imxrt700", "neutron-n3-64", "qsoftmax", "channels 1 to 2040")):
            one = json.loads(self.thimble("targets", target, "--json")[0])
            npu, = one["npus"]
            self.assertEqual(npu["name"], engine)
            rows = {row["op"]: row for row in npu["supported"]}
            self.assertIn(limit, rows[op]["limits"])
            self.assertIn("conv1d", rows["qconv2d"]["pytorch"])
            self.assertGreater(len(rows), 15)
            for row in npu["supported"]:
                self.assertLessEqual(set(row["pytorch"]), known, row)
            text = self.thimble("targets", target)[0]
            self.assertIn(f"{engine} supports these operators", text)
            self.assertIn(limit.split()[0], text)
            for memory in one["memories"]:
                self.assertIn(f"{memory['bytes']} B", text)

    def test_targets(self):
        listed = json.loads(self.thimble("targets", "--json")[0])["targets"]
        names = [row["name"] for row in listed]
        self.assertEqual(names, sorted(names))
        self.assertIn("cortex-m55", names)
        one = json.loads(self.thimble("targets", "cortex-m4", "--json")[0])
        self.assertEqual(one["qemu_board"], "mps2-an386")
        self.fails(2, "targets", "z80", saying="`thimble targets` lists")
        self.fails(2, "targets", "corstone300", saying="similar names: corstone-300")
        lines = self.thimble("targets")[0].splitlines()
        board = next(line for line in lines if line.startswith("corstone-300 "))
        for word in ("cortex-m55", "ethos-u55-128", "2048 KiB", "mps3-an547"):
            self.assertIn(word, board)
        end = lines.index("")
        self.assertEqual([row["name"] for row in listed], [line.split()[0] for line in lines[1:end]])
        below = " ".join("\n".join(lines[end:]).split())
        self.assertIn("axon supports these operators of the integer graph: amax, concat, copy,", below)
        self.assertIn("neutron-n3-64 supports these operators of the integer graph: ", below)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
