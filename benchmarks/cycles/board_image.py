# SPDX-License-Identifier: Apache-2.0
"""Runs a firmware image of an STM32 board under Unicorn and records what one inference executes.

The images implement the protocol of the EEMBC runner for MLPerf Tiny: commands arrive at a UART,
and the firmware reads a timer before and after the inferences. Peripherals are not emulated: a
register returns what was written to it. Exceptions are the UART, the timer, the ready bits that
the clock setup polls, and a register that is polled more often, which returns random bits.
"""

import collections
import dataclasses
import random
import struct

import unicorn
from unicorn import arm_const

FLASH = 0x08000000
FLASH_BYTES = 0x400000
RETURN_ADDRESS = 0x1FF00000
MEMORIES = ((FLASH, FLASH_BYTES), (0, 0x200000), (0x10000000, 0x100000), (0x20000000, 0x200000),
            (0x24000000, 0x200000), (0x30000000, 0x100000), (0x38000000, 0x100000),
            (0x1FF00000, 0x100000), (0x0B000000, 0x1000000))
PERIPHERALS = ((0x40000000, 0x20000000), (0xE0000000, 0x100000))
CPUS = {"cortex-m0plus": arm_const.UC_CPU_ARM_CORTEX_M0, "cortex-m4": arm_const.UC_CPU_ARM_CORTEX_M4,
        "cortex-m7": arm_const.UC_CPU_ARM_CORTEX_M7, "cortex-m33": arm_const.UC_CPU_ARM_CORTEX_M33}
SYSTICK = 15
STEP = 20000  # instructions between two interrupts
STEPS_MAX = 20000
SECONDS_MAX = 60
# Registers of a USART of STM32F7, G0, H7, L4 and U5, and of a timer.
UART_STATUS, UART_RECEIVE, UART_TRANSMIT, TIMER_COUNT = 0x1C, 0x24, 0x28, 0x24
UART_READY = 0x006000C0  # transmitter empty, both directions enabled
UART_RECEIVED = 0x20


@dataclasses.dataclass(frozen=True)
class Board:
    """What the emulation needs to know of a board; addresses from the headers of ST's HAL."""

    part: str  # file in targets/
    cpu: str
    uart: int  # the USART at the debugger's serial port
    interrupt: int  # its number
    timers: tuple[int, ...]
    ready: dict  # address of a register: function from the value written to the value read


def shifted(bits, by):
    """Returns a function that also sets each of the bits moved up by a number of places."""
    return lambda value: value | ((value & bits) << by)


def always(bits):
    return lambda value: value | bits


def both(first, second):
    return lambda value: first(value) | second(value)


OSCILLATORS = both(shifted(0x15010001, 1), shifted(0x100, 2))  # HSE, MSI, PLLs; HSI
BOARDS = {
    "DISCO_F746NG": Board("stm32f746", "cortex-m7", 0x40011000, 37, (0x40000000,),
                          {0x40023800: OSCILLATORS, 0x40023808: shifted(3, 2)}),
    "NUCLEO_G0B1RE": Board("stm32g0b1", "cortex-m0plus", 0x40004400, 28, (0x40000000,),
                           {0x40021000: OSCILLATORS, 0x40021008: shifted(7, 3)}),
    "NUCLEO_H7A3ZI": Board("stm32h7a3", "cortex-m7", 0x40004800, 39, (0x40000C00,),
                           {0x58024400: both(OSCILLATORS, always(4)), 0x58024410: shifted(7, 3),
                            0x58024818: always(0x2000), 0x5802480C: always(0x2000)}),
    "NUCLEO_L4R5ZI": Board("stm32l4r5", "cortex-m4", 0x40008000, 70, (0x40000C00,),
                           {0x40021000: OSCILLATORS, 0x40021008: shifted(3, 2)}),
    "NUCLEO_U575ZI": Board("stm32u575", "cortex-m33", 0x40013800, 61, (0x40000C00,),
                           {0x46020C00: both(OSCILLATORS, both(shifted(0x11, 2), always(5))),
                            0x46020C1C: shifted(3, 2), 0x4602080C: always(0xC000),
                            0x4602083C: always(0x38000)}),
}


class Cache:
    """Lines in use, least recently used first; without a size only the line of the last access. `jumps_only`:
    a prefetch reads the next line in time, and the cache keeps only lines that branches read."""

    def __init__(self, line_bytes, bytes_, jumps_only=False):
        self.line_bytes, self.lines = line_bytes, max(1, bytes_ // line_bytes)
        self.used, self.misses, self.jumps_only = collections.OrderedDict(), 0, jumps_only

    def misses_line(self, line):
        """Reads a line. Returns 1 if the cache does not hold it, else 0."""
        before = self.misses
        self.read(line * self.line_bytes, 1)
        return self.misses - before

    def read(self, address, size):
        for line in range(address // self.line_bytes, (address + size - 1) // self.line_bytes + 1):
            if line in self.used:
                self.used.move_to_end(line)
                continue
            self.misses += 1
            self.used[line] = True
            if len(self.used) > self.lines:
                self.used.popitem(last=False)


@dataclasses.dataclass
class Fetches:
    """Reads of instructions that the cache does not hold: after a taken branch, and of the next line."""

    jumps: int = 0
    lines: int = 0
    bytes_: int = 0  # executed


class Image:
    """A firmware image that runs. `cache` counts reads of data in flash, `code_cache` those of instructions."""

    def __init__(self, image, board, cache, code_cache):
        self.board, self.cache, self.loads = board, cache, 0
        self.code_cache, self.fetches, self.block_end, self.line = code_cache, Fetches(), None, -2
        self.output, self.received = "", collections.deque()
        self.registers, self.polled, self.polls, self.ticks = {}, None, 0, 0
        self.random = random.Random(1)
        self.edges, self.sizes, self.previous, self.executed = None, {}, 0, None
        uc = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
        uc.ctl_set_cpu_model(CPUS[board.cpu])
        for address, size in MEMORIES:
            uc.mem_map(address, size)
        for address in (FLASH, 0):
            uc.mem_write(address, image)
        for address, size in PERIPHERALS:
            uc.mmio_map(address, size, lambda _, at, n, base: self.load(base + at, n), address,
                        lambda _, at, n, value, base: self.store(base + at, n, value), address)
        stack, self.pc = struct.unpack("<II", image[:8])
        uc.reg_write(arm_const.UC_ARM_REG_SP, stack)
        self.uc = uc

    def load(self, address, size):
        word = address & ~3
        if word == self.board.uart + UART_STATUS:
            return UART_READY | (UART_RECEIVED if self.received else 0)
        if word == self.board.uart + UART_RECEIVE:
            return self.received.popleft() if self.received else 0
        if word - TIMER_COUNT in self.board.timers:
            return self.timestamp()
        here = (word, self.uc.reg_read(arm_const.UC_ARM_REG_PC))
        self.polls = self.polls + 1 if here == self.polled else 0
        self.polled = here
        value = self.registers.get(word, 0)
        if self.polls > 3:
            value = self.random.getrandbits(32)
        elif word in self.board.ready:
            value = self.board.ready[word](value)
        return (value >> (8 * (address & 3))) & ((1 << (8 * size)) - 1)

    def store(self, address, size, value):
        word, shift = address & ~3, 8 * (address & 3)
        if word == self.board.uart + UART_TRANSMIT:
            self.output += chr(value & 255)
            return
        mask = ((1 << (8 * size)) - 1) << shift
        self.registers[word] = (self.registers.get(word, 0) & ~mask) | ((value << shift) & mask)

    def timestamp(self):
        """The timer is read before and after the inferences."""
        if self.counting:
            if self.edges is None:
                self.edges, self.previous = collections.Counter(), 0
            else:
                self.executed, self.edges, self.counting = self.edges, None, False
                self.uc.emu_stop()
        self.ticks += 1000
        return self.ticks

    counting = False

    def enter_block(self, _, address, size, __):
        if self.edges is not None:
            self.edges[self.previous, address] += 1
            self.previous, self.sizes[address] = address, size
            if self.code_cache is not None:
                self.fetch(address, size)

    def fetch(self, address, size):
        """Reads the lines of a block, as firmware/qemu_plugin/fetch_count.c."""
        cache, fetches = self.code_cache, self.fetches
        line = address // cache.line_bytes
        jump = address != self.block_end
        if line != self.line and jump:
            # The prefetch has read the next line.
            if not cache.jumps_only or line != self.line + 1:
                fetches.jumps += cache.misses_line(line)
        elif line != self.line:
            fetches.lines += 0 if cache.jumps_only else cache.misses_line(line)
        self.line = (address + size - 1) // cache.line_bytes
        if not cache.jumps_only:
            for each in range(line + 1, self.line + 1):
                fetches.lines += cache.misses_line(each)
        fetches.bytes_ += size
        self.block_end = address + size

    def load_flash(self, _, __, address, size, ___, ____):
        if self.edges is not None:
            self.loads += 1
            self.cache.read(address, size)

    def run(self, **limit):
        self.uc.emu_start(self.pc | 1, 0xFFFFFFFF, **limit)
        self.pc = self.uc.reg_read(arm_const.UC_ARM_REG_PC)

    def interrupt(self, number):
        """Runs the handler of an exception; it returns to an address of its own."""
        context = self.uc.context_save()
        vector = struct.unpack("<I", self.uc.mem_read(FLASH + 4 * number, 4))[0]
        stack = self.uc.reg_read(arm_const.UC_ARM_REG_SP)
        self.uc.reg_write(arm_const.UC_ARM_REG_SP, (stack - 64) & ~7)
        self.uc.reg_write(arm_const.UC_ARM_REG_LR, RETURN_ADDRESS | 1)
        self.uc.emu_start(vector | 1, RETURN_ADDRESS)
        self.uc.context_restore(context)

    def send(self, text):
        for character in text:
            self.received.append(ord(character))
            self.interrupt(16 + self.board.interrupt)
            self.run(count=STEP)

    def command(self, text, answer):
        """Sends a command and waits for the answer. Stops are counted in instructions: a stop by
        time could repeat an access to a peripheral."""
        self.output = ""
        self.send(text)
        for _ in range(STEPS_MAX):
            if answer in self.output:
                return
            self.run(count=STEP)
            self.interrupt(SYSTICK)
        raise RuntimeError(f"no {answer} after {text!r}: {self.output!r}")

    def infer(self, times):
        """Runs inferences; fills `executed`, `loads` and `cache`."""
        self.command("", "m-ready")
        self.command("profile%", "m-ready")
        self.send(f"infer {times} 0")
        self.uc.hook_add(unicorn.UC_HOOK_BLOCK, self.enter_block)
        self.uc.hook_add(unicorn.UC_HOOK_MEM_READ, self.load_flash, None, FLASH,
                         FLASH + FLASH_BYTES - 1)
        self.counting = True
        self.received.append(ord("%"))
        self.interrupt(16 + self.board.interrupt)  # some images run the command in the handler
        if self.executed is None:
            self.run(timeout=int(SECONDS_MAX * 1e6))
        if self.executed is None:
            raise RuntimeError(f"no inference: {self.output!r}")


@dataclasses.dataclass
class Inference:
    """What one inference executes: times of each pair of blocks, and reads of flash."""

    edges: collections.Counter
    code: dict  # by address
    loads: int
    cache_misses: int
    fetches: Fetches

    def write_counts(self, stream):
        """Writes the format of firmware/qemu_plugin/insn_count.c."""
        numbers = {}
        for address in (a for edge in self.edges for a in edge if a):
            numbers.setdefault(address, len(numbers) + 1)
        for address, number in numbers.items():
            stream.write(f"block {number} {address:x} {self.code[address].hex()}\n")
        for (before, block), count in self.edges.items():
            stream.write(f"edge op 0 {numbers.get(before, 0)} {numbers[block]} {count}\n")


def one_inference(image, board, line_bytes, cache_bytes, code_cache):
    """The difference of two inferences and one: without the output around them. `code_cache`: makes the cache
    of instructions; None if their reads do not matter."""
    one, two = (Image(image, board, Cache(line_bytes, cache_bytes), code_cache and code_cache()) for _ in range(2))
    one.infer(1)
    two.infer(2)
    code = {address: bytes(two.uc.mem_read(address, size)) for address, size in two.sizes.items()}
    fetches = Fetches(*(getattr(two.fetches, field.name) - getattr(one.fetches, field.name)
                        for field in dataclasses.fields(Fetches)))
    return Inference(two.executed - one.executed, code, two.loads - one.loads,
                     two.cache.misses - one.cache.misses, fetches)
