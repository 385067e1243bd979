#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`thimble run --on serial:PORT` with examples/serial_runner under QEMU and with scripted boards.

usage: serial_test.py SOURCE_DIR BUILD_DIR THIMBLE [EmulatedBoards|ScriptedBoards]

The throughput of the load is printed. The bytes to the emulated board are paced to the baud rate.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest

from serial_peer import (BAD, BLOCK, BOOT, DONE, FAULT, HELLO, INIT, INPUT, LOAD, NO_MODEL, OK, OPS, OUTPUT, REPLY, RUN, Board, Script,
                         frame, hello)

SOURCE, BUILD, THIMBLE = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
RUNNER = SOURCE / "examples/serial_runner"
LAYOUT = int(re.search(r"kKernelLayoutVersion = (\d+)", (SOURCE / "abi/kernel_layout.h").read_text())[1])
DIGITS = SOURCE / "models/digits_cnn"
# Per board: the core whose archives of firmware/ are linked. The machines of QEMU have the names of the boards.
# Boards without an emulator here: one for each file of examples/serial_runner that sets a clock.
COMPILED_BOARDS = {"nucleo_f767zi": "cortex-m7", "nucleo_g0b1re": "cortex-m0plus", "nucleo_l476rg": "cortex-m4",
                   "nucleo_u575zi_q": "cortex-m33"}
BOARDS = {"mps2-an385": "cortex-m3", "mps2-an386": "cortex-m4", "mps2-an500": "cortex-m7", "mps2-an505": "cortex-m33",
          "mps3-an547": "cortex-m55", "netduinoplus2": "cortex-m4"}
PATIENCE = 3
# No run may take longer, whatever the board does.
HANG_SECONDS = 240


def call(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=HANG_SECONDS, **options)


def checked(*command, **options):
    done = call(*command, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


class Fixture(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.images = {}
        cls.small = cls.compile_model("digits_cnn", "cortex-m4")

    @classmethod
    def compile_model(cls, name, core, *options):
        out = cls.folder / f"{name}-{core}.pte"
        if not out.exists():
            model = SOURCE / "models" / name
            checked(THIMBLE, "compile", model / f"{name}.pt2", "--target", core, "--calibrate", model / "calibrate.npz", "-o", out,
                    *options)
        return out

    def image(self, board, *options):
        """Builds the runner for a board from a copy outside of the source tree."""
        key = (board, *options)
        if key not in self.images:
            copy = self.folder / "serial_runner"
            if not copy.exists():
                shutil.copytree(RUNNER, copy)
            build = self.folder / f"build{len(self.images)}"
            archives = [BUILD / "firmware" / (BOARDS | COMPILED_BOARDS)[board] / name for name in ("libruntime.a", "libkernels.a")]
            library = "-Wl,--start-group;" + ";".join(map(str, archives)) + ";-Wl,--end-group"
            checked("cmake", "-S", copy, "-B", build, "-G", "Ninja", f"-DBOARD={board}",
                    f"-DCMAKE_TOOLCHAIN_FILE={copy}/arm-none-eabi.cmake", f"-DTHIMBLE_DEVICE_DIR={SOURCE}",
                    f"-DTHIMBLE_DEVICE_LIBRARY={library}", *options)
            checked("cmake", "--build", build)
            self.images[key] = build / "serial_runner"
        return self.images[key]

    def run_on(self, peer, pte, *options, baud=115200, patience=PATIENCE):
        return call(THIMBLE, "run", pte, "--on", f"serial:{peer.line.path}:{baud}", "--patience", patience, "--profile", "--json",
                    *options)

    def refused(self, peer, pte, message, *options, code=2, **arguments):
        """The run fails with one sentence that contains the message, and the exit code."""
        start = time.monotonic()
        done = self.run_on(peer, pte, *options, **arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        text = json.loads(done.stdout)["error"] if done.stdout.strip() else done.stderr
        self.assertRegex(text, message)
        self.assertNotIn("\n", text.strip())
        print(f"{time.monotonic() - start:5.1f} s  {text.strip()}", flush=True)

    def check_equal(self, peer, pte, **arguments):
        """The board computes the host's outputs. Returns the facts."""
        done = self.run_on(peer, pte, **arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        board = json.loads(done.stdout)
        x = json.loads(checked(THIMBLE, "run", pte, "--on", "qemu", "--profile", "--json"))  # with zeros, as above
        self.assertEqual([each["sha256"] for each in board["outputs"]], [each["sha256"] for each in x["outputs"]])
        self.assertEqual(board["arena_bytes_used"], x["arena_bytes_used"])
        self.assertEqual([op["name"] for op in board["ops"]], [op["name"] for op in x["ops"]])
        self.assertGreater(board["cycles"], 0)
        self.assertLessEqual(sum(op["cycles"] for op in board["ops"]), board["cycles"])
        self.assertGreater(board["stack_bytes"], 300)
        return board


class EmulatedBoards(Fixture):
    def test_boards(self):
        for board, core in BOARDS.items():
            with self.subTest(board), Board(board, self.image(board)) as peer:
                facts = self.check_equal(peer, self.compile_model("digits_cnn", core), patience=30)
                self.assertEqual((facts["board"], facts["core"], facts["model_in"]), (board, core, "RAM"))
                # A second run finds the model in RAM.
                self.assertEqual(self.check_equal(peer, self.compile_model("digits_cnn", core), patience=30)["sent_bytes"], 0)

    def test_boards_that_are_compiled_only(self):
        """The image starts with the stack pointer, and the handler of the UART is in its vector table."""
        for board in COMPILED_BOARDS:
            with self.subTest(board):
                image = self.image(board, "-DBAUD=921600")
                symbols = dict(reversed(line.split(" ")[::2]) for line in checked("arm-none-eabi-nm", image).splitlines())
                vectors = image.with_suffix(".bin").read_bytes()[:64 * 4]
                self.assertEqual(int(symbols["stack_top"], 16), struct.unpack_from("<I", vectors)[0])
                handler = struct.unpack_from("<I", vectors, 4 * (16 + 38))[0]
                self.assertEqual(handler, int(symbols["uart_handler"], 16) | 1)

    def test_a_rate_that_the_clock_does_not_reach(self):
        with self.assertRaisesRegex(AssertionError, "BAUD does not fit the clock of the UART"):
            self.image("nucleo_g0b1re", "-DBAUD=2000000")

    def test_compare(self):
        with Board("mps2-an386", self.image("mps2-an386")) as peer:
            words = ("compare", DIGITS / "digits_cnn.pt2", self.small, "--data", DIGITS / "calibrate.npz", "--json")
            board = json.loads(checked(THIMBLE, *words, "--on", f"serial:{peer.line.path}:921600"))
        host = json.loads(checked(THIMBLE, *words))
        self.assertEqual(board["sqnr_db"], host["sqnr_db"])
        self.assertEqual(board["calls"], host["calls"])

    def test_text(self):
        with Board("mps2-an386", self.image("mps2-an386")) as peer:
            text = checked(THIMBLE, "run", self.small, "--on", f"serial:{peer.line.path}", "--profile")
        self.assertRegex(text, r"cortex-m4 at 25 MHz; cycles measured with SysTick")
        self.assertRegex(text, r"B sent in [0-9.]+ s, [0-9,]+ B/s")
        self.assertRegex(text, r"arena used [0-9,]+ B; state \d+ B; stack high-water [0-9,]+ B, measured")
        print(text)

    def test_model_in_flash(self):
        with Board("mps2-an386", self.image("mps2-an386", f"-DMODEL={self.small}")) as peer:
            facts = self.check_equal(peer, self.small, patience=30)
        self.assertEqual((facts["model_in"], facts["sent_bytes"]), ("flash", 0))

    def test_large_load(self):
        """A load of 300 KB, longer than any buffer, at two rates. The file ends with bytes that no table of it names, because
        the largest network of models/ for this board has 287 KB."""
        network = self.compile_model("ad_autoencoder", "cortex-m4").read_bytes()
        pte = self.folder / "large.pte"
        pte.write_bytes(network + bytes(300 * 1024 - len(network)))
        image = self.image("mps2-an386")

        def load(baud):
            with Board("mps2-an386", image) as peer:
                return self.check_equal(peer, pte, baud=baud, patience=30)

        rates = (115200, 921600)
        with concurrent.futures.ThreadPoolExecutor() as threads:
            for baud, facts in zip(rates, threads.map(load, rates)):
                self.assertEqual(facts["sent_bytes"], 300 * 1024)
                # The line itself needs 10 bits per byte.
                self.assertGreater(facts["sent_seconds"], 0.9 * facts["sent_bytes"] * 10 / baud)
                print(f"{baud} baud: {facts['sent_bytes']} B in {facts['sent_seconds']:.1f} s, "
                      f"{facts['sent_bytes'] / facts['sent_seconds']:.0f} B/s", flush=True)

    def test_damaged_bytes_are_repeated(self):
        """Flipped, lost and added bytes in both directions do not change the result."""
        def flip(_, data):
            return bytes([data[0] ^ 0x10]) + data[1:]

        def lose(_, data):
            return data[1:]

        def add(peer, data):
            peer.line.write(b"\xa5\x54\x00noise")
            return b"\xa5" + data
        events = [(400, flip), (3000, lose), (6000, add), (9000, flip)]
        with Board("mps2-an386", self.image("mps2-an386"), events) as peer:
            self.check_equal(peer, self.small, patience=6)
            self.assertEqual(peer.events, [])

    def test_cut_line(self):
        def cut(peer, _):
            peer.line.close()
            return b""
        for at in (20, 6000):
            with Board("mps2-an386", self.image("mps2-an386"), [(at, cut)]) as peer:
                self.refused(peer, self.small, "the line was closed")

    def test_reset_in_the_middle(self):
        def reset(peer, _):
            peer.reset()
            return b""
        with Board("mps2-an386", self.image("mps2-an386"), [(6000, reset)]) as peer:
            self.refused(peer, self.small, "was reset")

    def test_silence_in_the_middle(self):
        def stop(peer, _):
            peer.process.send_signal(19)  # SIGSTOP
            return b""
        with Board("mps2-an386", self.image("mps2-an386"), [(6000, stop)]) as peer:
            self.refused(peer, self.small, rf"no frame for {PATIENCE} s after request {BLOCK}")

    def test_too_large(self):
        pte = self.compile_model("mobilenet_v1_vww", "cortex-m4")
        with Board("netduinoplus2", self.image("netduinoplus2")) as peer:
            self.refused(peer, pte, r"load on .*: needs \d+ bytes of RAM, netduinoplus2 has \d+ bytes left")

    def test_other_core(self):
        """A file for another core runs with portable kernels, and a note says so."""
        with Board("mps2-an385", self.image("mps2-an385")) as peer:
            facts = self.check_equal(peer, self.small, patience=30)
        self.assertIn("compiled for cortex-m4", facts["note"])


class ScriptedBoards(Fixture):
    def script(self, **changes):
        """A board that accepts everything and has 1 input, 1 output and no instruction, with changes by name of the request."""
        def accept(kind, words=b""):
            return lambda peer, sequence, payload: peer.send(frame(kind | REPLY, sequence, struct.pack("<I", OK) + words))

        def say_hello(peer, sequence, payload):
            peer.send(frame(HELLO | REPLY, sequence, hello(layout=LAYOUT)))
        answers = {HELLO: say_hello, LOAD: accept(LOAD), BLOCK: accept(BLOCK), INPUT: accept(INPUT), RUN: accept(RUN)}
        interface = json.loads(checked(THIMBLE, "run", self.small, "--on", "qemu", "--profile", "--json"))
        answers[INIT] = accept(INIT, struct.pack("<5I", 1000, 100, 1, 1, len(interface["ops"])))
        names = {"hello": HELLO, "load": LOAD, "block": BLOCK, "init": INIT, "run": RUN}
        answers.update({names[name]: change for name, change in changes.items()})
        return Script(answers)

    def test_no_port(self):
        done = call(THIMBLE, "run", self.small, "--profile", "--on", "serial:/dev/no_such_port")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/dev/no_such_port: cannot be opened", done.stderr)
        for text, message in {"serial:": "found no port", "serial:/dev/null": "is not a serial port",
                              "serial:/dev/null:123": "found baud rate 123, expected one of 9600",
                              "serial:/dev/null:99999999999": "is too large", "serail:/dev/x": "expected one of host"}.items():
            done = call(THIMBLE, "run", self.small, "--profile", "--on", text)
            self.assertEqual(done.returncode, 2, text)
            self.assertIn(message, done.stderr)

    def test_silence(self):
        with Script({}) as peer:
            self.refused(peer, self.small, rf"no answer for {PATIENCE} s: check the port, the baud rate")

    def test_garbage(self):
        def garbage(peer, sequence, payload):
            peer.send(os.urandom(500).replace(b"\xa5", b"\x5a"))
        with self.script(hello=garbage) as peer:
            self.refused(peer, self.small, r"\d+ bytes received, but no frame of examples/serial_runner")

    def test_endless_garbage(self):
        class Noise(Script):
            def serve(self):
                super().serve()
                self.line.write(os.urandom(256))
        with Noise({}) as peer:
            self.refused(peer, self.small, "no frame of examples/serial_runner|no answer")

    def test_endless_frames(self):
        """Frames without end that answer nothing."""
        class Chatter(Script):
            def serve(self):
                super().serve()
                self.line.write(frame(BLOCK | REPLY, 77, b"\0\0\0\0"))
        with Chatter({}) as peer:
            self.refused(peer, self.small, "no answer")

    def test_wrong_build(self):
        for words, message in (({"protocol": 9}, "protocol version 9, expected 1: build and flash examples/serial_runner"),
                               ({"layout": LAYOUT + 1}, f"layout version {LAYOUT + 1}, expected {LAYOUT}"),
                               ({"block": 8}, "blocks of 8 bytes")):
            def answer(peer, sequence, payload, words=words):
                peer.send(frame(HELLO | REPLY, sequence, hello(**{"layout": LAYOUT, **words})))
            with self.script(hello=answer) as peer:
                self.refused(peer, self.small, message)
        with self.script(hello=lambda peer, sequence, _: peer.send(frame(HELLO | REPLY, sequence, hello(layout=LAYOUT)[:-4]))) as peer:
            self.refused(peer, self.small, "a first answer of 80 bytes, expected 84")

    def test_other_model(self):
        def init(peer, sequence, payload):
            peer.send(frame(INIT | REPLY, sequence, struct.pack("<6I", OK, 1000, 100, 3, 1, 5)))
        with self.script(init=init) as peer:
            self.refused(peer, self.small, "the board's model has 3 inputs, 1 outputs and 5 instructions")

    def test_refusals_of_the_board(self):
        for words, message in (((5, 3), "load on .*: .*"), ((3,), "has received other bytes"), ((99,), "with status 99"),
                               ((NO_MODEL,), "was reset"), ((), "an answer of 0 bytes")):
            def init(peer, sequence, payload, words=words):
                peer.send(frame(INIT | REPLY, sequence, struct.pack(f"<{len(words)}I", *words)))
            with self.script(init=init) as peer:
                self.refused(peer, self.small, message)

    def test_kernel_that_the_firmware_lacks(self):
        def init(peer, sequence, payload):
            peer.send(frame(INIT | REPLY, sequence, struct.pack("<2I", 5, 7)))
        with self.script(init=init) as peer:
            self.refused(peer, self.small, "a kernel that the model calls is not linked$", code=1)

    def test_always_damaged(self):
        def damaged(peer, sequence, payload):
            good = frame(BLOCK | REPLY, sequence, struct.pack("<I", OK))
            peer.send(good[:-1] + bytes([good[-1] ^ 1]))
        with self.script(block=damaged) as peer:
            self.refused(peer, self.small, "damaged frames for one request")
        with self.script(block=lambda peer, sequence, _: peer.send(frame(BAD))) as peer:
            self.refused(peer, self.small, "damaged frames for one request")

    def test_reset_and_fault_while_running(self):
        def accept_and(*more):
            def run(peer, sequence, payload):
                peer.send(frame(RUN | REPLY, sequence, struct.pack("<I", OK)) + b"".join(more))
            return run
        with self.script(run=accept_and(frame(BOOT))) as peer:
            self.refused(peer, self.small, "was reset during the run")
        with self.script(run=accept_and(frame(FAULT, 0, struct.pack("<2I", 0x1234, 0x8200)))) as peer:
            self.refused(peer, self.small, "faulted at pc 0x00001234, cfsr 0x00008200")
        with self.script(run=accept_and()) as peer:
            self.refused(peer, self.small, "the run has not ended after 2 s", "--time-limit", 2)
        with self.script(run=accept_and(frame(DONE, 0, struct.pack("<2I", 5, 15)))) as peer:
            self.refused(peer, self.small, "run on .*: an input")

    def test_a_line_that_takes_bytes_slowly(self):
        """A line that takes a byte now and then is an error too: the requests that wait on it never end."""
        class Slow(Script):
            def serve(self):
                self.line.read(bytes_max=1)
                time.sleep(0.1)
        with Slow({}) as peer:
            start = time.monotonic()
            # On a busy machine fewer requests are sent, so that the line's buffer has room for all of them.
            self.refused(peer, self.small, r"the line has taken \d+ of \d+ B in 6 s|no answer for 6 s", patience=6)
            self.assertLess(time.monotonic() - start, 20)

    def test_two_programs(self):
        with Script({}) as peer:
            first = subprocess.Popen([str(THIMBLE), "run", str(self.small), "--profile", "--on", f"serial:{peer.line.path}",
                                      "--patience", "5"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(1)
            self.refused(peer, self.small, "another program uses the port")
            first.wait()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
