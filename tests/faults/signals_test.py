# SPDX-License-Identifier: Apache-2.0
"""A signal ends a command: its child process has ended, its temporary files are removed, and the exit status is that of the signal.

usage: signals_test.py THIMBLE REPO
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

THIMBLE, REPO = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
MODEL = REPO / "models/hello_sin"
COMPILE = ["compile", MODEL / "hello_sin.pt2", "--target", "cortex-m4", "--calibrate", MODEL / "calibrate.npz", "-o", "net.pte"]
SECONDS_MAX = 60
# An emulator that does not end and ignores signals.
EMULATOR = "#!/bin/sh\ntrap '' INT TERM HUP\necho $$ > {pid}\nwhile :; do sleep 1; done\n"
SECONDS_TO_END = 10  # docs/faults.md states two; a loaded machine needs more


class Signals(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        subprocess.run([THIMBLE, *COMPILE], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def wait_for(self, condition):
        end = time.monotonic() + SECONDS_MAX
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def emulator(self):
        """Returns an environment with EMULATOR, the file of its process number, and the folder of temporary files."""
        pid, temporary, programs = (self.folder / name for name in ("pid", "temporary", "programs"))
        temporary.mkdir()
        programs.mkdir()
        program = programs / "qemu-system-arm"
        program.write_text(EMULATOR.format(pid=pid))
        program.chmod(0o755)
        return {**os.environ, "TMPDIR": str(temporary), "PATH": f"{programs}:{os.environ['PATH']}"}, pid, temporary

    def start_run(self, environment, pid):
        """Starts a command, which starts the emulator."""
        ran = subprocess.Popen([THIMBLE, "run", "net.pte", "--on", "qemu", "--input", MODEL / "calibrate.npz"], cwd=self.folder,
                               env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for(lambda: (pid.exists() and pid.read_text().strip()) or ran.poll() is not None)
        self.assertIsNone(ran.poll(), "ended before the emulator was started")
        return ran

    def test_an_emulator_is_ended_and_its_folder_is_removed(self):
        environment, pid, temporary = self.emulator()
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(each.name):
                pid.unlink(missing_ok=True)
                ran = self.start_run(environment, pid)
                self.assertEqual(len(list(temporary.iterdir())), 1)
                ran.send_signal(each)
                self.assertEqual(ran.wait(SECONDS_TO_END), -each)
                self.assertEqual(list(temporary.iterdir()), [])
                with self.assertRaises(ProcessLookupError):
                    os.kill(int(pid.read_text()), 0)

    def test_an_ignored_signal_stays_ignored(self):
        ran = subprocess.Popen([THIMBLE, *COMPILE], cwd=self.folder, stdout=subprocess.DEVNULL,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        while ran.poll() is None:  # at each stage of the command
            ran.send_signal(signal.SIGINT)
            time.sleep(0.002)
        self.assertEqual(ran.returncode, 0)

    def test_a_file_that_becomes_too_large_is_an_error(self):
        old = (self.folder / "net.pte").read_bytes()
        command = subprocess.list2cmdline([str(word) for word in [THIMBLE, *COMPILE]])
        ran = subprocess.run(["sh", "-c", f"ulimit -f 1; exec {command}"], cwd=self.folder, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("net.pte: cannot be written: File too large", ran.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["net.pte"])
        self.assertEqual((self.folder / "net.pte").read_bytes(), old)

    def test_a_pipe_is_no_input(self):
        os.mkfifo(self.folder / "pipe.pte")
        os.mkfifo(self.folder / "pipe.ir")
        os.mkfifo(self.folder / "pipe.npy")
        os.mkfifo(self.folder / "pipe.toml")
        for words in (["inspect", "pipe.pte"], ["run", "pipe.pte"], ["run", "pipe.ir"], ["diff", "net.pte", "pipe.pte"], ["opt", "pipe.ir"],
                      ["run", "net.pte", "--input", "pipe.npy"], ["run", "net.pte", "--target", "pipe.toml"]):
            with self.subTest(" ".join(words)):
                ran = subprocess.run([THIMBLE, *words], cwd=self.folder, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
                self.assertEqual(ran.returncode, 2)
                self.assertIn("is a device or a pipe, expected a file", ran.stderr)

    def test_a_pipe_is_no_output(self):
        os.mkfifo(self.folder / "pipe.pte")
        ran = subprocess.run([THIMBLE, *COMPILE[:-1], "pipe.pte"], cwd=self.folder, capture_output=True, text=True, timeout=SECONDS_MAX,
                             check=False)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("pipe.pte: is a device or a pipe, expected a file", ran.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
