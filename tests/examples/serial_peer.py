# SPDX-License-Identifier: Apache-2.0
"""Peers of `thimble run --on serial:PORT` for tests: a pseudo-terminal with an emulated board or with a scripted runner.

The frames are those of abi/serial/protocol.h, written here a second time from docs/boards.md.
"""
import os
import pty
import select
import struct
import subprocess
import termios
import threading
import time
import tty
import zlib

HELLO, LOAD, BLOCK, INIT, INPUT, RUN, RESULT, OUTPUT, OPS = range(1, 10)
REPLY, BOOT, DONE, FAULT, BAD = 0x80, 0x40, 0x41, 0x42, 0x43
OK, NO_MODEL = 0, 1


def frame(kind, sequence=0, payload=b""):
    body = struct.pack("<BBH", kind, sequence, len(payload)) + payload
    return b"\xa5\x54" + body + struct.pack("<I", zlib.crc32(body))


class Line:
    """A pseudo-terminal. The name of its other end is `path`."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        self.path = os.ttyname(self.slave)
        self.closed = False

    def baud(self):
        names = {getattr(termios, name): int(name[1:]) for name in dir(termios) if name[1:].isdigit() and name[0] == "B"}
        return names[termios.tcgetattr(self.slave)[5]]

    def read(self, seconds=0.1, bytes_max=4096):
        """Returns the bytes that have come from the program."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        return os.read(self.master, bytes_max) if ready else b""

    def write(self, data):
        while data and not self.closed:
            _, ready, _ = select.select([], [self.master], [], 1)
            if ready:
                data = data[os.write(self.master, data):]

    def close(self):
        if not self.closed:
            self.closed = True
            os.close(self.slave)
            os.close(self.master)


class Peer(threading.Thread):
    """Serves a line until stop(). Subclasses define serve()."""

    def __init__(self):
        super().__init__(daemon=True)
        self.line = Line()
        self.ended = threading.Event()
        self.failure = None

    def run(self):
        try:
            while not self.ended.is_set() and not self.line.closed:
                self.serve()
        except OSError as error:
            if not self.line.closed:
                self.failure = error

    def stop(self):
        self.ended.set()
        self.join(10)
        self.line.close()
        assert self.failure is None, self.failure

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *unused):
        self.stop()


class Board(Peer):
    """An image under QEMU. Bytes to it are paced to the baud rate of the port; `events` is a list of (bytes to the
    board, function): the function is called once when so many bytes have passed."""

    def __init__(self, machine, image, events=(), paced=True):
        super().__init__()
        self.machine, self.image, self.events, self.paced = machine, image, list(events), paced
        self.to_board = 0
        self.boot()

    def boot(self):
        self.process = subprocess.Popen(["qemu-system-arm", "-M", self.machine, "-display", "none", "-monitor", "none", "-serial",
                                         "stdio", "-kernel", str(self.image)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        os.set_blocking(self.process.stdin.fileno(), True)

    def reset(self):
        """Ends the emulator and starts it again: the board loses its RAM and its half of any frame."""
        self.end()
        self.boot()

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass

    def serve(self):
        chunk = 64
        ready, _, _ = select.select([self.line.master, self.process.stdout], [], [], 0.1)
        if self.process.stdout in ready:
            self.line.write(os.read(self.process.stdout.fileno(), 4096))
        if self.line.master in ready:
            data = os.read(self.line.master, chunk)
            if self.paced:
                time.sleep(len(data) * 10 / self.line.baud())
            while self.events and self.to_board + len(data) >= self.events[0][0]:
                data = self.events.pop(0)[1](self, data)
            self.to_board += len(data)
            if not self.line.closed:
                os.write(self.process.stdin.fileno(), data)

    def stop(self):
        super().stop()
        self.end()


class Script(Peer):
    """Answers requests by the functions in `answers`, by type. A function receives this object, the sequence and the payload."""

    def __init__(self, answers):
        super().__init__()
        self.answers, self.buffer, self.seen = answers, b"", []

    def send(self, data):
        self.line.write(data)

    def serve(self):
        self.buffer += self.line.read()
        at = self.buffer.find(b"\xa5\x54")
        if at < 0 or len(self.buffer) < at + 6:
            return
        kind, sequence, length = struct.unpack_from("<BBH", self.buffer, at + 2)
        if len(self.buffer) < at + 10 + length:
            return
        payload = self.buffer[at + 6:at + 6 + length]
        self.buffer = self.buffer[at + 10 + length:]
        self.seen.append(kind)
        if kind in self.answers:
            self.answers[kind](self, sequence, payload)


def hello(protocol=1, layout=None, block=1040, ram=1 << 20, clock=25_000_000, core=b"cortex-m4", board=b"script"):
    """Returns the payload of an answer to HELLO."""
    words = struct.pack("<10I", protocol, layout, block, ram, clock, 1, 0, 0, 0, 0)
    return struct.pack("<I", OK) + words + core.ljust(16, b"\0") + board.ljust(24, b"\0")
