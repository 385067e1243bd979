#!/usr/bin/env python3
"""Writes inputs of the fuzzers that no other test has to corpus/<target>: small programs for each engine.

usage: make_corpus.py THIMBLE SOURCE_DIR

Inputs that a fuzzer found have other names (found_*) and remain.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

THIMBLE, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
CORPUS = SOURCE / "tests/fuzz/corpus"
BYTES_MAX = 32 << 10  # as in replay.cpp
SIN = SOURCE / "models/hello_sin"
DIGITS = SOURCE / "models/digits_cnn"
TARGETS = ("cortex-m0plus", "cortex-m4", "cortex-m55", "corstone-300", "corstone-320", "nrf54lm20b", "imxrt700cm")


DRIVER_HEADER_BYTES = 32  # before the command stream
# Targets that read the payload of an engine.
PAYLOADS = {"ethos": ("ethos_u_payload",), "axon": ("axon_list",), "neutron": ("neutron_payload",)}


def add(target, name, file):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    known = {other.read_bytes() for other in folder.iterdir()}
    if file.stat().st_size <= BYTES_MAX and file.read_bytes() not in known:
        shutil.copyfile(file, folder / name)


def add_stream(name, payload):
    """The words of the command stream: the block cmd_data without the header of the driver's payload (docs/formats)."""
    block = payload.index(b"cmd_data")
    size = int.from_bytes(payload[block + 16:block + 20], "little")
    folder = CORPUS / "ethos_u_stream"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(payload[block + 32 + DRIVER_HEADER_BYTES:block + 32 + size])


def main():
    for old in CORPUS.glob("*/*"):
        if not old.name.startswith("found_"):
            old.unlink()
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        for model, folder in (("hello_sin", SIN), ("digits_cnn", DIGITS)):
            for target in TARGETS:
                stages = work / f"{model}_{target}"
                pte = work / f"{model}_{target}.pte"
                subprocess.run([THIMBLE, "compile", folder / f"{model}.pt2", "--target", target, "--calibrate",
                                folder / "calibrate.npz", "-o", pte, "--save-stages", stages, "--npu-small", "--emit", "pte"],
                               check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                payloads = list(stages.glob("*partition-*.bin"))
                if payloads:
                    add("pte_run_npu", pte.name, pte)
                elif model == "hello_sin":
                    add("pte", pte.name, pte)
                for payload in payloads:
                    if "ethos" in payload.name:
                        add_stream(f"{model}_{target}.words", payload.read_bytes())
                    for kind in PAYLOADS[payload.stem.split("partition-")[1].split("-")[0]]:
                        add(kind, f"{model}_{target}.bin", payload)
                if target == "cortex-m4":
                    for file in sorted(stages.glob("*.ir")):
                        add("ir", f"{model}_{file.name}", file)
        stages = work / "x"
        subprocess.run([THIMBLE, "compile", SIN / "hello_sin.pt2", "--target", "cortex-m4", "--calibrate",
                        SIN / "calibrate.npz", "--emit", "tflite", "--out-dir", stages], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for file in stages.glob("*.tflite"):
            add("tflite", file.name, file)


if __name__ == "__main__":
    main()
