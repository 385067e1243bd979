# SPDX-License-Identifier: Apache-2.0
"""`thimble fit`: its figures are those of compile and compare, its rows are sorted, its messages say
what to do, and docs/fit.md shows its output.

usage: fit_test.py THIMBLE SOURCE_DIR [unittest options]      fit_test.py THIMBLE SOURCE_DIR --bless
"""

import csv
import io
import json
import os
import pathlib
import pty
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

from npy import write_npy

THIMBLE = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()
FOUR = ["resnet8", "dscnn_kws", "mobilenet_v1_vww", "ad_autoencoder"]
DOCUMENT = SOURCE / "docs" / "fit.md"


def model(name):
    return SOURCE / "models" / name / f"{name}.pt2"


def data(name):
    return SOURCE / "models" / name / "calibrate.npz"


def documented():
    """Commands and outputs of the document: (arguments, text after the command)."""
    blocks = re.findall(r"```\n\$ thimble (fit .*)\n((?:.*\n)*?)```", DOCUMENT.read_text())
    return [(command, output) for command, output in blocks]


def without_time(text):
    """The time that a command took is no part of its result."""
    return re.sub(r"\d+\.\d s$", "0.0 s", text, flags=re.M)


def run_documented(command):
    """Runs a command of the document in models/."""
    done = subprocess.run(f"{THIMBLE} {command}", shell=True, capture_output=True, text=True,
                          cwd=SOURCE / "models", timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def bless():
    text = DOCUMENT.read_text()
    for command, output in documented():
        text = text.replace(f"$ thimble {command}\n{output}",
                            f"$ thimble {command}\n{run_documented(command)}")
    DOCUMENT.write_text(text)


class Fit(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def thimble(self, *arguments, code=0):
        done = subprocess.run([str(THIMBLE), *map(str, arguments)], capture_output=True, text=True,
                              cwd=self.path, timeout=300)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}{done.stderr}")
        return done.stdout if code == 0 else done.stderr

    def fit(self, *arguments):
        return json.loads(self.thimble("fit", *arguments, "--json"))

    def rows(self, *arguments):
        return {row["part"]: row for row in self.fit(*arguments)["models"][0]["parts"]}

    def compile_it(self, name, part, calibrate):
        return json.loads(self.thimble("compile", model(name), "--target", part, "--calibrate",
                                       calibrate, "--json", "-o", "out.pte"))

    # Cores, engines and a part with several memories; samd21 and ra4m1 need row tiling.
    PARTS = ["stm32l4r5", "nrf52840", "samd21", "ra4m1", "arduino-uno-r4", "alif-e7", "nrf54lm20b",
             "imxrt700", "imxrt1060", "ra8d1", "rp2350"]

    def test_sizes_and_time_are_those_of_compile(self):
        rows = self.rows(model("resnet8"), "--calibrate", data("resnet8"), "--part", *self.PARTS)
        self.assertEqual(set(rows), set(self.PARTS))
        for part, row in rows.items():
            with self.subTest(part=part):
                report = self.compile_it("resnet8", part, data("resnet8"))
                self.assertEqual(row["memories"], report["memories"])
                used = {m["name"]: m["bytes_used"] for m in report["memories"]}
                flash, ram = used.pop("flash"), sum(used.values())
                if "placement" in report:  # `compile` also copies weights and code into free RAM
                    flash = report["flash_bytes"]
                    ram = sum(report[name] for name in ("arena_bytes", "state_bytes", "static_bytes", "stack_bytes"))
                self.assertEqual(row["flash_bytes"], flash)
                self.assertEqual(row["sram_bytes"], ram)
                self.assertEqual(row["time_us"], report.get("time_us"))
                self.assertTrue(row["fits"])

    def test_accuracy_is_that_of_compare(self):
        rows = self.rows(model("resnet8"), "--calibrate", data("resnet8"), "--part", "cortex-m4",
                         "nrf54lm20b", "imxrt700")
        for part, row in rows.items():
            with self.subTest(part=part):
                self.compile_it("resnet8", part, data("resnet8"))
                compared = json.loads(self.thimble("compare", model("resnet8"), "out.pte", "--data",
                                                   data("resnet8"), "--json"))
                self.assertAlmostEqual(row["accuracy"], compared["accuracy"], places=12)
                self.assertAlmostEqual(row["sqnr_db"], min(compared["sqnr_db"]), places=9)

    def test_an_output_of_integers_is_the_class(self):
        export = SOURCE / "tests/data/pt2/argmax.pt2"  # float32[1,6] -> the index of 5 values
        samples, seed = 40, 1
        numbers = random.Random(seed)
        values = [numbers.gauss(0, 1) for _ in range(6 * samples)]
        write_npy(self.path / "x.npy", "<f4", [samples, 6], struct.pack(f"<{len(values)}f", *values))
        write_npy(self.path / "labels.npy", "<i8", [samples], bytes(8 * samples))
        with zipfile.ZipFile(self.path / "data.npz", "w") as archive:
            for name in ("x.npy", "labels.npy"):
                archive.write(self.path / name, name)
        row = self.rows(export, "--calibrate", "data.npz", "--part", "cortex-m4")["cortex-m4"]
        self.thimble("compile", export, "--target", "cortex-m4", "--calibrate", "data.npz", "-o", "out.pte")
        compared = json.loads(self.thimble("compare", export, "out.pte", "--data", "data.npz", "--json"))
        self.assertEqual(row["accuracy"], compared["accuracy"])
        self.assertLess(row["accuracy"], 1)

    def test_sram_is_that_of_the_memories_on_the_chip(self):
        # corstone-320: the arena is in DRAM, the SRAM is the NPU's. imxrt1060: copies of weights are in fast RAM.
        parts = ["corstone-320", "imxrt1060", "stm32h743"]
        rows = self.rows(model("dscnn_kws"), "--calibrate", data("dscnn_kws"), "--require", "sram<64K", "--part", *parts)
        self.assertEqual({part: row["fits"] for part, row in rows.items()}, {part: True for part in parts})
        for part in ("imxrt1060", "stm32h743"):
            self.assertGreater(rows[part]["sram_bytes"], 8000)
        used = {memory["name"]: memory["bytes_used"] for memory in rows["corstone-320"]["memories"]}
        self.assertGreater(used["dram"], 8000)
        self.assertEqual(rows["corstone-320"]["sram_bytes"], used["sram"])
        small = self.rows(model("dscnn_kws"), "--calibrate", data("dscnn_kws"), "--require", "sram<1K", "--part", *parts)
        # With a budget of 1 KB, the NPU of corstone-320 has its tensors in DRAM.
        self.assertEqual({part: row["reason"] for part, row in small.items()},
                         {"corstone-320": "", "imxrt1060": "sram<1K", "stm32h743": "sram<1K"})
        self.assertLess(small["corstone-320"]["sram_bytes"], 1024)
        text = self.thimble("fit", model("dscnn_kws"), "--part", "imxrt1060")
        self.assertIn("sram: what the program needs of the RAM on the chip", text)
        self.assertNotIn("sram: what", self.thimble("fit", model("dscnn_kws"), "--part", "nrf52840"))

    def test_an_arena_in_external_memory_is_not_in_the_sram(self):
        # The RAM on the chip is too small for the arena of 16 KB: it is in the SDRAM.
        (self.path / "small.toml").write_text('base = "imxrt1060"\nsummary = "small"\n' + "".join(
            f'[[memory]]\nname = "{name}"\nbytes = "8K"\n' for name in ("dtcm", "ocram")))
        rows = self.rows(model("dscnn_kws"), "--part", "small.toml", "imxrt1060")
        small, whole = rows["small"], rows["imxrt1060"]
        sdram = {memory["name"]: memory["bytes_used"] for memory in small["memories"]}["sdram"]
        self.assertGreater(sdram, 8192)
        self.assertLess(small["sram_bytes"], 8192)
        self.assertGreater(whole["sram_bytes"], 8192)

    def test_a_low_sqnr_is_a_warning(self):
        # The samples differ by less than a step of int8.
        values = [100 + ((7 * i) % 17) / 1000 for i in range(8 * 64)]
        write_npy(self.path / "flat.npy", "<f4", (8, 1, 8, 8), struct.pack(f"<{len(values)}f", *values))
        result = self.fit(model("digits_cnn"), "--calibrate", "flat.npy", "--part", "cortex-m4", "--require", "sram<64K")
        self.assertEqual(len(result["models"][0]["parts"]), 1)
        compiled = json.loads(self.thimble("compile", model("digits_cnn"), "--target", "cortex-m4", "--calibrate",
                                           "flat.npy", "--json", "-o", "out.pte"))
        low = result["models"][0]["parts"][0]["sqnr_db"]
        self.assertAlmostEqual(low, compiled["sqnr_db"][0], places=6)
        self.assertEqual(low < 5, any("SQNR" in warning for warning in result["models"][0]["warnings"]))
        self.assertLess(low, 5)

    def test_random_data_give_sizes_but_no_accuracy(self):
        for more in ([], ["--calibrate", "random"]):
            result = self.fit(model("digits_cnn"), "--part", "stm32l4r5", *more)["models"][0]
            self.assertTrue(result["random_data"])
            row = result["parts"][0]
            self.assertIsNone(row["accuracy"])
            self.assertIsNone(row["sqnr_db"])
            report = self.compile_it("digits_cnn", "stm32l4r5", "random")
            self.assertIn("calibrated with random data: sizes and time are valid, results of the "
                          "model are not", report["notes"])
            self.assertEqual(row["flash_bytes"], report["memories"][1]["bytes_used"])
        text = self.thimble("fit", model("digits_cnn"), "--part", "stm32l4r5")
        lines = text.splitlines()
        self.assertEqual(lines[0], "digits_cnn.pt2  calibrated with random data: no accuracy; "
                                   "--calibrate DATA.npz gives it")
        self.assertEqual(lines[1].split(), "part fits flash sram time engines first reason if "
                                           "not".split())
        self.assertRegex(lines[-1], r"^1 parts, 1 fits   quantized once, \d+\.\d s$")

    def test_requirements(self):
        (self.path / "known.toml").write_text('base = "imxrt700"\n' + "".join(
            f'[[memory]]\nname = "{name}"\nbytes = "7M"\nwait_states = 0\n' for name in ("sram", "flash")))
        rows = self.rows(model("resnet8"), "--calibrate", data("resnet8"), "--part", "known.toml",
                         "stm32l432", "imxrt700", "corstone-320", "nrf52840", "siwx917", "--require",
                         "latency<5ms,sram<=120K,accuracy>50%")
        # Wait states that the part's file does not state make the time longer.
        self.assertEqual({part: row["memories_without_waits"] for part, row in rows.items()},
                         {"known": [], "imxrt700": ["flash", "sram"], "stm32l432": [], "corstone-320": [],
                          "nrf52840": ["flash"], "siwx917": []})
        self.assertEqual(rows["known"]["time_us"], rows["imxrt700"]["time_us"])
        self.assertEqual({part: (row["fits"], row["reason"]) for part, row in rows.items()},
                         {"known": (True, ""),
                          "imxrt700": (None, "latency<5ms: the time lacks wait states of flash and sram"),
                          "stm32l432": (False, "latency<5ms"),
                          "corstone-320": (None, "latency<5ms: not known"),
                          "nrf52840": (False, "latency<5ms"),
                          "siwx917": (None, "sram: the part's file states no size")})
        # The requirement on the SRAM is a budget: the schedule of the NPU, and row tiling.
        for part in ("alif-e7", "stm32l4r5"):
            free = self.rows(model("resnet8"), "--part", part)[part]["sram_bytes"]
            budget = free * 7 // 8
            row = self.rows(model("resnet8"), "--part", part, "--require",
                            f"sram<{budget}")[part]
            self.assertEqual((row["fits"], row["sram_bytes"] < budget), (True, True), row)
        row = self.rows(model("resnet8"), "--part", "stm32l4r5", "--require", "sram<4K")["stm32l4r5"]
        self.assertEqual((row["fits"], row["reason"]), (False, "sram<4K"))

    def test_inputs_of_the_application(self):
        """They are in no memory; a part that is too small for both is named."""
        board = self.path / "small.toml"
        sram = self.rows(model("digits_cnn"), "--part", "stm32l4r5")["stm32l4r5"]["sram_bytes"]
        for extra, too_large in ((256, False), (255, True)):
            board.write_text(f'base = "stm32l4r5"\n[[memory]]\nname = "sram"\nbytes = {sram + extra}\n')
            row = self.rows(model("digits_cnn"), "--part", board)["small"]
            self.assertEqual((row["fits"], row["sram_bytes"], row["input_bytes"], row["inputs_too_large"]),
                             (True, sram, 256, too_large))
            text = " ".join(self.thimble("fit", model("digits_cnn"), "--part", board).split())
            self.assertIn("inputs of 256 B are in memory of the application", text)
            self.assertEqual("the SRAM of small is too small for both: with `compile --inputs arena` they share memory"
                             in text, too_large)
            self.thimble("compile", model("digits_cnn"), "--target", board, "--calibrate", "random", "-o", "out.pte")
            for options, named in (([], too_large), (["--inputs", "arena"], False)):
                report = json.loads(self.thimble("compile", model("digits_cnn"), "--target", board, "--calibrate", "random",
                                                 "-o", "out.pte", "--json", *options))
                self.assertEqual(any(note.startswith("the inputs (256 B) are in memory of the application")
                                     for note in report["notes"]), named)

    def test_a_memory_that_is_too_small_is_the_reason(self):
        board = self.path / "small.toml"
        board.write_text('base = "stm32l4r5"\n[[memory]]\nname = "flash"\nbytes = "16K"\n')
        row = self.rows(model("digits_cnn"), "--part", board)["small"]
        self.assertEqual((row["fits"], row["reason"]),
                         (False, f"flash needs {row['flash_bytes']:,} B, 16,384 B allowed"))

    def test_a_model_is_quantized_once_for_equal_arithmetic(self):
        # The other preferences are those of the AXON and of the Ethos-U.
        for parts, count in ((["stm32l4r5", "rp2040", "ra8d1"], 1),
                             (["stm32l4r5", "nrf54lm20b", "nrf52840"], 2)):
            result = self.fit(model("digits_cnn"), "--part", *parts)["models"][0]
            self.assertEqual(result["quantizations"], count)

    def test_chips_and_boards_are_the_default(self):
        rows = self.rows(model("digits_cnn"))
        self.assertGreaterEqual(len(rows), 60)
        self.assertNotIn("cortex-m4", rows)
        self.assertIn("stm32h743", rows)
        self.assertEqual(set(self.rows(model("digits_cnn"), "--part", "nrf5*")),
                         {name for name in rows if name.startswith("nrf5")})

    def test_rows_are_sorted(self):
        parts = ["stm32l4r5", "imxrt700", "nrf54lm20b", "rp2040"]
        order = [row["part"] for row in
                 self.fit(model("dscnn_kws"), "--part", *parts)["models"][0]["parts"]]
        self.assertEqual(order[:1], ["imxrt700"])  # the shortest time; unknown times are last
        for key, field in (("flash", "flash_bytes"), ("sram", "sram_bytes"), ("part", "part")):
            rows = self.fit(model("dscnn_kws"), "--part", *parts, "--sort", key)
            values = [row[field] for row in rows["models"][0]["parts"]]
            self.assertEqual(values, sorted(values), key)

    def test_several_models_as_csv(self):
        text = self.thimble("fit", model("digits_cnn"), model("hello_sin"), "--part", "stm32l4r5",
                            "samd21", "--csv", "--require", "latency<1s,sram<1M", "--sort", "part")
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([(row["model"], row["part"]) for row in rows],
                         [("digits_cnn.pt2", "samd21"), ("digits_cnn.pt2", "stm32l4r5"),
                          ("hello_sin.pt2", "samd21"), ("hello_sin.pt2", "stm32l4r5")])
        for row in rows:
            self.assertGreater(int(row["flash_bytes"]), 0)
            self.assertEqual(row["accuracy"], "")
            self.assertEqual((row["fits"], row["reason"]), ("yes", ""))

    def test_messages(self):
        small = model("digits_cnn")
        for arguments, message in (
                (["--require", "lateny<20ms"],
                 "--require lateny<20ms: lateny: not known; similar names: latency; one of "
                 "accuracy, flash, latency, sqnr, sram expected\n"),
                (["--calibrate", "a.npz", "b.npz"],
                 "--calibrate: 2 files for 1 models; expected one for each, in order\n"),
                (["--part", "stm32h734"],
                 "target stm32h734: not known; similar names: stm32h743, stm32h747, stm32h750; "
                 "`thimble targets` lists the targets, a .toml file describes another\n")):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.thimble("fit", small, *arguments, code=2), message)
        self.assertIn("only parts with an Arm Cortex-M are supported",
                      self.thimble("fit", small, "--part", "esp32", code=1))

    def test_progress_is_shown_on_a_terminal_only(self):
        # It appears after a second.
        arguments = [str(THIMBLE), "fit", str(model("resnet8")), "--calibrate", str(data("resnet8"))]
        master, slave = pty.openpty()
        done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=slave, timeout=300,
                              check=True)
        os.close(slave)
        shown = os.read(master, 1 << 16).decode()
        os.close(master)
        self.assertRegex(shown, r"fitting.* \d+ %")
        self.assertNotIn(b"fitting", done.stdout)
        quiet = subprocess.run(arguments, capture_output=True, timeout=300, check=True)
        self.assertEqual(quiet.stderr, b"")

    def test_four_networks_on_all_parts_are_quantized_three_times_at_most(self):
        result = self.fit(*map(model, FOUR), "--calibrate", *map(data, FOUR))
        self.assertEqual([each["model"] for each in result["models"]],
                         [f"{name}.pt2" for name in FOUR])
        for each in result["models"]:
            self.assertLessEqual(each["quantizations"], 3)
            self.assertGreater(each["fitting"], 50)

    def test_the_document_shows_the_output(self):
        blocks = documented()
        self.assertGreaterEqual(len(blocks), 1)
        for command, output in blocks:
            with self.subTest(command=command):
                self.assertEqual(without_time(output), without_time(run_documented(command)))


if __name__ == "__main__":
    if sys.argv[3:] == ["--bless"]:
        bless()
    else:
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
