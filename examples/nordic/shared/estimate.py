# SPDX-License-Identifier: Apache-2.0
"""Estimates the duration of a call on an nRF54LM20B without hardware.

    time = cycles of the NPU / 128 MHz + 72 us for each call of a delegate + cycles of the Cortex-M33 / 128 MHz

The cycles of the NPU are the compiler's estimate (docs/nordic-axon.md lists the measurements behind it). 72 us is the overhead of a
call of the vendor's driver under Zephyr, published with the SDK: semaphore, work queue, power requests. Cycles of the
core are modelled from the instructions that it executes under QEMU (docs/cycles.md). Those of the delegate are left out, because
the 72 us include the whole call. This also applies to those of an extension inside a call (tanh of simple_rnn: eight values).
"""

from dataclasses import dataclass

MHZ = 128
CALL_US = 72


@dataclass
class Estimate:
    npu_cycles: int
    calls: int
    core_cycles: int

    @property
    def parts_us(self):
        return self.npu_cycles / MHZ, self.calls * CALL_US, self.core_cycles / MHZ

    @property
    def us(self):
        return sum(self.parts_us)

    def __str__(self):
        npu, calls, core = self.parts_us
        return (f"{self.us:.0f} us = NPU {npu:.1f} ({self.npu_cycles:,} cycles) + {self.calls} calls {calls} + M33 {core:.1f} "
                f"({self.core_cycles:,} cycles)")


def estimate(report: dict, counted: dict) -> Estimate:
    """`report` is from `compile`; `counted` is from `run --on qemu --profile`, for one or several calls."""
    delegates = [op for op in counted["ops"] if op["name"].startswith("(delegate")]
    return Estimate(round(report["npu_cycles"] or 0), len(delegates), round(counted["cycles"] / counted["calls"]))
