# SPDX-License-Identifier: Apache-2.0
"""Limits that documents state are those of the source or of the test that checks them.

usage: limits_test.py SOURCE_DIR

A row names a document, its words (each # is a number), and for each number a file, the words before it there, and its unit: a factor
or a function. Spaces stand for any white space.
"""

import math
import pathlib
import re
import sys

SOURCE = pathlib.Path(sys.argv[1]).resolve()
NUMBER = r"([\d'_,]*\d(?:\.\d+)?(?:e-?\d+)?)"
BILLION, MILLION, THOUSAND, PERCENT = 1e9, 1e6, 1e3, 0.01
SCHEDULE, POINTS = (f"engines/ethos_u/compiler/{name}.cpp" for name in ("schedule", "point_finder"))


def more(percent):
    """The factor of a quantity that is `percent` % more."""
    return 1 + percent / 100


def part(percent):
    """The divisor of a part of `percent` %."""
    return 100 / percent


def share_of_db(decibels):
    """The share of the power that is `decibels` below it."""
    return 10 ** (-decibels / 10)


ROWS = (
    ("README.md", "an SQNR under # dB", (("src/driver/data.h", "kLowSqnrDb = #", 1),)),
    ("benchmarks/zoo/README.md", "more than # million, not run under QEMU",
     (("benchmarks/zoo/measure.py", "BOARD_MACS = #", MILLION),)),
    ("benchmarks/zoo/README.md", "above the limit of `--board-macs`, # million by default",
     (("benchmarks/zoo/float_boards.py", "BOARD_MACS = #", MILLION),)),
    ("benchmarks/zoo/README.md", "# samples; # samples for networks with more than # million MACs",
     (("benchmarks/zoo/measure.py", "SQNR_SAMPLES_LARGE, LARGE_MACS = #,", 1),
      ("benchmarks/zoo/measure.py", "LARGE_MACS = 16, #,", 1), ("benchmarks/zoo/measure.py", "LARGE_MACS = 16, 4, #", MILLION))),
    ("docs/c-output.md", "above # kB of flash and # instructions",
     (("tests/c_output/c_layouts_test.py", "CODE_BYTES_MAX = #", THOUSAND),
      ("tests/c_output/c_layouts_test.py", "INSTRUCTIONS_MAX = #", 1))),
    ("docs/cycles.md", "differs by more than # % from these calls", (("src/engine/engine.h", "kInaccuratePercent = #", 1),)),
    ("docs/ethos-u.md", "costs at most # % more cycles than the reference schedule; a saving of less than # %",
     ((SCHEDULE, "kSlowerMax = #", more), (SCHEDULE, "kSavingDivisor = #", part))),
    ("docs/ethos-u.md", "the least SRAM within # times the cycles of the reference schedule; within # times in Dedicated_Sram",
     ((SCHEDULE, "kSlowerMaxOfSize = #", 1), (SCHEDULE, "kSlowerMaxOfScratch = #", 1))),
    ("docs/ethos-u.md", "If the program is then # times as fast, also the weights", ((POINTS, "kWeightGain = #", 1),)),
    ("docs/ethos-u.md", "If the program is then # times as fast, also these weights",
     ((POINTS, "kScratchGain = #", 1),)),
    ("docs/ethos-u.md", "up to an eighth of the feature maps, at most # bytes", ((POINTS, "kLeastScratch = #", 1),)),
    ("docs/ethos-u.md", "cascades; at least # bytes if", ((POINTS, "kLeastScratch = #", 1),)),
    ("docs/ethos-u.md", "within # % of the fewest cycles, or within # % if the cost is then less than # times as high",
     ((SCHEDULE, "kSlowerMax = #", more), (SCHEDULE, "kSlowerForTraffic = #", more), (SCHEDULE, "kTrafficGain = #", 1))),
    ("docs/ethos-u.md", "only if the cost increases by at most # %", ((SCHEDULE, "kSlowerToSaveScratch = #", more),)),
    ("docs/ethos-u.md", "among those within # % of the fewest cycles. The selections", ((SCHEDULE, "kSlowerForTraffic = #", more),)),
    ("docs/faults.md", "more than # MiB plus # times the file",
     (("tests/fuzz/bounds.h", "kBytesMax = size_t{#", 1), ("tests/fuzz/bounds.h", "kBytesMaxPerByte = #", 1))),
    ("docs/faults.md", "model have at most # MiB plus # times the archive",
     (("src/import/builder.h", "kConstantBytesBase = int64_t{#} << 20", 1), ("src/import/builder.h", "kConstantBytesPerByte = #", 1))),
    ("docs/faults.md", "the import computes at most # numbers for each byte", (("src/import/builder.h", "kComputedPerByte = #", 1),)),
    ("tests/fuzz/README.md", "those with inputs of at most # bytes", (("tests/fuzz/replay.cpp", "kLimitsBytesMax = #", 1),)),
    ("docs/runtime.md", "in series of up to # calls", (("firmware/apps/soak/soak.h", "kSeries = #", 1),)),
    ("docs/operators.md", "up to # nodes of the export", (("src/import/control_flow.h", "kExpandedNodesMax = #", 1),)),
    ("tests/fuzz/README.md", "if less than # % of the mutations pass", (("tests/fuzz/targets.h", "kPassingPercentMin = #", 1),)),
    ("tests/fuzz/README.md", "limits each allocation to # MiB, and to # MiB for targets",
     (("tests/fuzz/fuzz.py", "ALLOCATION_MIB, LARGER_MIB, LARGER = #,", 1),
      ("tests/fuzz/fuzz.py", "ALLOCATION_MIB, LARGER_MIB, LARGER = 20, #,", 1))),
    ("docs/faults.md", "starts its work after # reads of its status",
     (("engines/ethos_u/firmware/npu.cpp", "kLatePolls = #", 1),)),
    ("docs/formats/pte.md", "more than # times its size", (("src/formats/pte/read_tables.h", "left_(#", 1),)),
    ("docs/memory.md", "more than # million MACs is not compiled",
     (("src/driver/alternatives.cpp", "kOptimizeSizeMacsMax = #", MILLION),)),
    ("docs/memory.md", "# steps it returns the best solution so far",
     (("src/memory/memory_assignment.h", "kAssignmentStepsMax = #", 1),)),
    ("docs/memory.md", "a factor of at most # for the sums, and of at most # for each array",
     (("tests/c_output/c_memories_test.py", "SUM_FACTOR_MAX = 1.5, #", 1),
      ("tests/c_output/c_memories_test.py", "FACTOR_MAX, SUM_FACTOR_MAX = #,", 1))),
    ("docs/neutron.md", "about # cycles per kernel, # per product, # per result",
     (("src/engine/core_cycles.cpp", "kCall = #", 1), ("src/engine/core_cycles.cpp", "kMac = #", 1),
      ("src/engine/core_cycles.cpp", "kElement = #", 1))),
    ("docs/neutron.md", "the delegate is less than # KiB", (("tests/firmware/size_test.cpp", "kDelegateBytesMax = #", 1),)),
    ("docs/neutron.md", "takes fewer than # instructions with up to two inputs",
     (("tests/firmware/neutron_test.cpp", "kCallInstructionsMax = #", 1),)),
    ("docs/neutron.md", "fewer than # instructions of the M33 per byte for a multiple of four channels, fewer than # for others",
     (("tests/firmware/neutron_test.cpp", "kTurnInstructionsMax = #", 1),
      ("tests/firmware/neutron_test.cpp", "kTurnInstructionsMaxOdd = #", 1))),
    ("docs/nordic-axon.md", "less than # KiB at `-Os` on a Cortex-M33",
     (("tests/firmware/size_test.cpp", "kDelegateBytesMax = #", 1),)),
    ("docs/nordic-axon.md", "takes fewer than # instructions for up to 2 inputs",
     (("tests/firmware/axon_test.cpp", "kCallInstructionsMax = #", 1),)),
    ("docs/quantization.md", "with the mean of each input channel over the first # samples",
     (("src/quant/calibrate.cpp", "kMeanSamples = #", 1),)),
    ("docs/quantization.md", "It is measured on # to # calibration samples",
     (("src/quant/per_tensor.cpp", "kFewest = #, kMost = 64", 1), ("src/quant/per_tensor.cpp", "kFewest = 4, kMost = #", 1))),
    ("docs/quantization.md", "the least squared error of # scales that are tried", (("src/quant/group_weights.cpp", "kTrials = #", 1),)),
    ("docs/quantization.md", "the least squared error of # candidates", (("src/quant/weights.cpp", "kTrials = #", 1),)),
    ("docs/quantization.md", "Ten logits get up to # times the observed range",
     (("src/quant/extrapolate_range.cpp", "kFurthest = #", 1),)),
    ("docs/quantization.md", "with at most #, # and # GMAC for the rounding, and # and # GMAC for the observers",
     (("src/quant/quantize.cpp", "kRoundingWork[kEffortMax + 1] = {0, #, 1e10", BILLION),
      ("src/quant/quantize.cpp", "kRoundingWork[kEffortMax + 1] = {0, 5e8, #", BILLION),
      ("src/quant/quantize.cpp", "{0, 5e8, 1e10, #}", BILLION), ("src/quant/tune.cpp", "{0, 0, #, 2e12}", BILLION),
      ("src/quant/tune.cpp", "{0, 0, 2e10, #}", BILLION))),
    ("docs/quantization.md", "would need more than # GMAC, `--effort 2` those above #.",
     (("src/quant/quantize.cpp", "{0, #, 3e10, 1e13}", BILLION), ("src/quant/quantize.cpp", "{0, 1e9, #, 1e13}", BILLION))),
    ("docs/quantization.md", "decreases by more than # dB, an output loses more than # dB",
     (("src/quant/score.cpp", "kMeanLossMax = #", 1), ("src/quant/score.cpp", "kLossMax = #, kShareMin", 1))),
    ("docs/quantization.md", "there are at least # samples", (("src/quant/tune.cpp", "kSamplesMin = #", 1),)),
    ("docs/quantization.md", "neither half loses and the mean increases by # dB", (("src/quant/tune.h", "kObserverGainDb = #", 1),)),
    ("docs/quantization.md", "no output may lose # dB", (("src/quant/tune.h", "kMinGainDb = #", 1),)),
    ("docs/quantization.md", "on the calibration data is below # dB", (("src/driver/output_quality.h", "kWarnSqnrDb = #", 1),)),
    ("docs/quantization.md", "until one reaches # dB", (("src/driver/tried_options.h", "kGoodSqnrDb = #", 1),)),
    ("docs/quantization.md", "if it gains # dB or more", (("src/driver/tried_options.h", "kGainDb = #", 1),)),
    ("docs/quantization.md", "more than # % of the values, or values whose error by saturation is above -# dB",
     (("src/driver/data.cpp", "kShareMax = #", PERCENT), ("src/driver/data.cpp", "kClippedMax = #", share_of_db))),
    ("docs/quantization.md", "norms (rows of at most # elements)", (("src/quant/widths.cpp", "kWideRowMax = 1 << #", math.log2),)),
    ("docs/quantization.md", "after 64-bit sums at most 2^#", (("src/quant/assign.cpp", "kLargestMultiplier = 0x1p#", 1),)),
    ("docs/quantization.md", "is at most # times the fixed one", (("src/quant/assign.cpp", "kScaleRatio = #", 1),)),
    ("docs/quantization.md", "The limit is # dB with `--compat executorch`",
     (("src/driver/quantize_model.cpp", "kStockToleranceDb = #", 1),)),
    ("docs/quantization.md", "and # dB in the native dialect", (("src/driver/quantize_model.cpp", "kNativeToleranceDb = #", 1),)),
    ("docs/quantization.md", "would cost more than # multiply-accumulates",
     (("src/quant/per_tensor.cpp", "kTrialWork = #", 1),)),
    ("docs/quantization.md", "the mean by # dB or more", (("src/quant/tune.h", "kMinGainDb = #", 1),)),
    ("docs/quantization.md", "when # GMAC are used", (("src/quant/tune.cpp", "kTrialMacs = #", 1000 * MILLION),)),
    ("docs/quantization.md", "quantized values in # % of all elements", (("tests/unit/pt2e_test.cpp", "wide ? 0.999 : #", PERCENT),)),
    ("docs/report.md", "it fails above # MB", (("tests/report/browser_test.py", "BYTES_MAX = #", MILLION),)),
    ("docs/runtime.md", "in fewer than # instructions as a native file and in fewer than # as a stock file",
     (("tests/firmware/load_test.cpp", "kNativeMax = #", 1), ("tests/firmware/load_test.cpp", "kStockMax = #", 1))),
    ("docs/runtime.md", "fewer than # instructions outside of each kernel, fewer than # on a Cortex-M0+",
     (("tests/firmware/application_test.py", '"cortex-m4": #', 1),
      ("tests/firmware/application_test.py", '"cortex-m0plus": #', 1))),
    ("docs/runtime.md", "less than # KiB of flash on every core", (("tests/firmware/size_test.cpp", "kFlashBytesMax = #", 1),)),
    ("docs/zephyr.md", "at most # % from the image without", (("tests/zephyr/twister_test.py", "DIFFERENCE_MAX = #", PERCENT),)),
)


def value(text):
    return float(re.sub("[',_]", "", text))


def numbers(path, words):
    """The numbers at each # of the words, of their only place in the file."""
    pattern = re.escape(words).replace(r"\#", NUMBER).replace(r"\ ", r"\s+")
    found = re.findall(pattern, (SOURCE / path).read_text())
    if len(found) != 1:
        sys.exit(f"{path}: {words!r} is {len(found)} times in the file, expected once")
    return [value(each) for each in (found[0] if isinstance(found[0], tuple) else found)]


def main():
    failures = []
    for document, words, sources in ROWS:
        told = numbers(document, words)
        assert len(told) == len(sources), words
        for number, (path, before, unit) in zip(told, sources):
            true = numbers(path, before)[0]
            told_value = unit(number) if callable(unit) else number * unit
            if abs(told_value - true) > 1e-9 * true:
                failures.append(f"{document}: {words!r}: {number:g}; {path}: {before!r}: {true:g}")
    print(f"{sum(len(sources) for _, _, sources in ROWS)} limits")
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
