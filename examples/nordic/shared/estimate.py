"""How long a call takes on an nRF54LM20B, as far as that can be told without one.

    time = cycles of the NPU / 128 MHz + 72 us for each call of a delegate + instructions of the Cortex-M33 / 128 MHz

The cycles are the compiler's estimate (docs/nordic-axon.md says from which measurements). 72 us is what a call costs the
vendor's driver under Zephyr, published with the SDK: semaphore, work queue, votes for power. An instruction is taken to
last one cycle; they are counted under QEMU, the delegate's own left out, since the 72 us are measured around all of it. So
are those of an extension inside a call (tanh of simple_rnn: eight values).
"""

from dataclasses import dataclass

MHZ = 128
CALL_US = 72


@dataclass
class Estimate:
    npu_cycles: int
    calls: int
    instructions: int

    @property
    def parts_us(self):
        return self.npu_cycles / MHZ, self.calls * CALL_US, self.instructions / MHZ

    @property
    def us(self):
        return sum(self.parts_us)

    def __str__(self):
        npu, calls, core = self.parts_us
        return (f"{self.us:.0f} us = NPU {npu:.1f} ({self.npu_cycles:,} cycles) + {self.calls} calls {calls} + M33 {core:.1f} "
                f"({self.instructions:,} instructions)")


def estimate(report: dict, counted: dict) -> Estimate:
    """From the report of `compile` and the answer of `run --on qemu --profile`, which may be of several calls."""
    delegates = [op["instructions"] for op in counted["ops"] if op["name"].startswith("(delegate")]
    core = counted["instructions"] - sum(delegates)
    return Estimate(round(report["npu_cycles"] or 0), len(delegates), round(core / counted["calls"]))
