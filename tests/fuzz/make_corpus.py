#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes to corpus/<target> the inputs of the fuzzers that no other test uses: small programs for each engine.

usage: make_corpus.py THIMBLE SOURCE_DIR

Inputs that a fuzzer found (found_*), and those written by hand (written_*), remain.
"""
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

THIMBLE, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
CORPUS = SOURCE / "tests/fuzz/corpus"
BYTES_MAX = 64 << 10  # as in replay.cpp
MODELS = SOURCE / "models"
SIN, DIGITS = MODELS / "hello_sin", MODELS / "digits_cnn"
NPUS = ("corstone-300", "corstone-320", "nrf54lm20b", "imxrt700cm")
CORES = ("cortex-m0plus", "cortex-m4", "cortex-m55")
TARGETS = (*CORES, *NPUS)
# Networks of many operators, for the engines.
OPERATORS = ("add_min_max", "conv_dilation2", "q_ethos_u_upscaled", "q_neutron_gated", "q_neutron_mixed", "q_tosa_int16_mixed", "softmax_last",
             "state_conv1d")
LITERT_OPERATORS = ("activations_more", "add_min_max", "arithmetic_more", "functions", "functions_of_two", "net_squeeze_excite", "q_neutron_mixed",
                    "reduce_extremes", "slice_step2", "upsample_nearest")

# Words of `compile` whose stages together have every operator of the text form.
GRAPH_WORDS = (("--target", "cortex-m4"), ("--target", "cortex-m4", "--activations", "int16"), ("--target", "nrf54lm20b"),
               ("--target", "imxrt700cm"), ("--target", "corstone-320"),
               ("--target", "cortex-m4", "--preprocess", "x: rgb565 16x16 -> resize 8x8 -> mean 127.5 -> std 127.5"))
GRAPH_BYTES_MAX = 7000
# Words of `compile` whose programs together have every kernel that a test network uses.
KERNEL_WORDS = ((), ("--float",), ("--activations", "int16"), ("--weights", "int4"), ("--weights", "int4:group=32"))
KERNEL_BYTES_MAX = 12000

DRIVER_HEADER_BYTES = 32  # before the command stream
# Targets that read the payload of an engine.
PAYLOADS = {"ethos": ("ethos_u_payload",), "axon": ("axon_list",), "neutron": ("neutron_payload",)}


def add(target, name, file):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    known = {other.read_bytes() for other in folder.iterdir()}
    if file.stat().st_size <= BYTES_MAX and file.read_bytes() not in known:
        shutil.copyfile(file, folder / name)


def write(target, name, content):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def block_of(payload, name):
    """A block of an Ethos-U payload: 16 bytes of name, 16 bytes with the size, content."""
    at = payload.index(name)
    size = int.from_bytes(payload[at + 16:at + 20], "little")
    return payload[at + 32:at + 32 + size]


def add_stream(name, payload):
    """The words of the command stream without the header of the driver's payload; for ethos_u_run with the constants."""
    stream = block_of(payload, b"cmd_data")[DRIVER_HEADER_BYTES:]
    write("ethos_u_stream", name, stream)
    configs = re.findall(r'^ETHOS_U_CONFIG\("([^"]+)"', (SOURCE / "engines/ethos_u/isa/configs.def").read_text(), re.MULTILINE)
    constants = block_of(payload, b"weight_data")
    config = configs.index("ethos-u55-128" if "300" in name else "ethos-u85-256")
    if 4 + len(stream) + len(constants) <= BYTES_MAX:
        write("ethos_u_run", name, struct.pack("<BBH", config, 1, len(constants)) + stream + constants)


def add_texts(name, pte):
    """The text forms of command streams and kernel lists."""
    text = subprocess.run([THIMBLE, "inspect", pte, "--commands"], capture_output=True, text=True, check=True).stdout
    lines = text.splitlines()
    for target, first in (("neutron_text", "list   weights "), ("ethos_u_text", "DMA0_")):
        starts = [i for i, line in enumerate(lines) if line.strip().startswith(first)]
        if starts:
            write(target, name, ("\n".join(line.strip() for line in lines[starts[0]:]) + "\n").encode())


def board_session(pte):
    """The requests of a host that loads the model, runs it once with a profile and reads everything (abi/serial/protocol.h)."""
    hello, load, block, init, give, run, result, output, ops = range(1, 10)
    model = pte.read_bytes()
    requests = [(hello, b""), (load, struct.pack("<2I", len(model), zlib.crc32(model)))]
    requests += [(block, struct.pack("<I", at) + model[at:at + 512]) for at in range(0, len(model), 512)]
    requests += [(init, struct.pack("<2I", 0, 1)), (give, struct.pack("<2If", 0, 0, 1.0)), (run, b""), (result, b""),
                 (output, struct.pack("<3I", 0, 0, 4)), (ops, struct.pack("<I", 0))]
    session = b""
    for number, (kind, payload) in enumerate(requests, 1):
        content = struct.pack("<2BH", kind, number, len(payload)) + payload
        session += b"\xa5\x54" + content + struct.pack("<I", zlib.crc32(content))
    return session


def add_serial(pte):
    """The answers of a board that runs the model once (serial_targets.cpp describes an entry)."""
    reply, hello = 4 | 8, 4 | 8 | 16
    ok = struct.pack("<I", 0)
    text = subprocess.run([THIMBLE, "inspect", pte], capture_output=True, text=True, check=True).stdout
    instructions = int(re.search(r"(\d+) instructions", text)[1])
    board = struct.pack("<12I16s24s", 0, 1, 1, 1040, 1 << 20, 25_000_000, 1, 0, 0, 0, 0, 0, b"cortex-m4", b"mps2-an386")[:84]
    entries = [(hello, 0, board)] + [(reply, 0, ok)] * (1 + -(-pte.stat().st_size // 1036))
    entries.append((reply, 0, ok + struct.pack("<5I", 64, 16, 1, 1, instructions)))
    entries += [(reply, 0, ok)] * 2
    entries.append((0, 0x41, ok + struct.pack("<3I", 1000, 0, 512)))
    entries.append((reply, 0, ok + struct.pack("<I", 100) * instructions))
    entries.append((reply, 0, ok + b"\0\0\0\0"))
    write("serial", "session.bin", b"".join(struct.pack("<4B", flags, kind, 0, len(data)) + data for flags, kind, data in entries))
    write("serial_board", "session.bin", board_session(pte))
    write("serial_frames", "session.bin", b"\xa5\x54\x01\x01\x00\x00" + struct.pack("<I", zlib.crc32(b"\1\1\0\0")))


def add_calls():
    """Calls of the C API (capi_targets.cpp): open, and runs with right and wrong arrays."""
    opened = bytes([0, 1, 1, 1, 1, 1, 1])
    run = bytes([1, 1, 0, 6, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0])
    write("c_api", "runs.bin", opened + 3 * run + bytes([5, 1]) + run)
    write("c_api", "wrong.bin", opened + bytes([1, 1, 0, 6, 0, 1, 1, 1, 1, 1, 1, 0]) * 3 + run + bytes([7, 0, 1, 1, 1, 1, 8, 1, 3, 1]))
    write("c_api", "compile.bin", bytes([11, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 12, 3, 6, 1, 0, 1, 12, 12]))


def add_choices():
    """Seeds of the differential fuzzer: each generator on each part."""
    for generator in range(8):
        for part in range(9):
            write("differential", f"generator_{generator}_part_{part}.bin", bytes([generator, part, generator + part, generator, part]))
    write("differential", "c_output.bin", bytes([5, 1, 4, 1, 0]))


def add_json():
    with zipfile.ZipFile(SIN / "hello_sin.pt2") as archive:
        for name in archive.namelist():
            if name.endswith(".json"):
                write("json", name.split("/")[-1], archive.read(name))


def add_types(work):
    """Files with other types of weights and activations, for each kind of kernels."""
    for name, options in (("int4", ["--weights", "int4"]), ("int16", ["--activations", "int16"]), ("float", ["--float"])):
        for target in ("cortex-m0plus", "cortex-m4", "cortex-m55"):
            if name == "float" and target == "cortex-m0plus":
                continue  # no FPU
            model = SIN if name == "float" else DIGITS
            calibrate = [] if name == "float" else ["--calibrate", model / "calibrate.npz"]
            add_pte("pte", work / f"{model.name}_{name}_{target}.pte", model / f"{model.name}.pt2", "--target", target, *calibrate, *options)


def add_pte(target, pte, *words):
    subprocess.run([THIMBLE, "compile", *words, "-o", pte], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    add(target, pte.name, pte)


def add_methods(work):
    """Files with two methods and with names of inputs and outputs; both have states."""
    model = MODELS / "streaming_conv_buffer"
    file, samples = model / f"{model.name}.pt2", model / "calibrate.npz"
    both = [word for name in ("forward", "second") for word in ("--method", f"{name}={file}", "--calibrate", f"{name}={samples}")]
    add_pte("pte", work / "methods_cortex-m4.pte", *both, "--target", "cortex-m4")
    add_pte("pte", work / "names_cortex-m4.pte", file, "--calibrate", samples, "--names", "--target", "cortex-m4")


def add_delegates(work):
    """Calls of the core that overlap a call of the NPU, weights as named data, and fast memory of the NPU in the arena."""
    overlap = SOURCE / "tests/data/overlap/two_inputs"
    small = ("--npu-small", "--target")
    add_pte("pte_run_npu", work / "overlap_corstone-300.pte", f"{overlap}.pt2", "--calibrate", f"{overlap}.npz", "--engine-off", "side",
            "--engine-off", "mean", *small, "corstone-300")
    add_pte("pte_run_npu", work / "named_corstone-300.pte", SIN / "hello_sin.pt2", "--calibrate", "random", "--npu-weights", "named", *small,
            "corstone-300")
    add_pte("pte_run_npu", work / "fast_corstone-310.pte", SOURCE / "tests/data/pt2/q_ethos_u_image.pt2", "--calibrate", "random", *small,
            "corstone-310")


def add_network(work, name, file, samples, target):
    """The .pte, the payloads of its NPU and their texts; for hello_sin also the graphs."""
    stages, pte = work / f"{name}_{target}", work / f"{name}_{target}.pte"
    subprocess.run([THIMBLE, "compile", file, "--target", target, "--calibrate", samples, "-o", pte, "--save-stages", stages, "--npu-small",
                    "--emit", "pte"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    payloads = sorted(stages.glob("*partition-*.bin"))
    if payloads:
        add("pte_run_npu", pte.name, pte)
        add_texts(f"{name}_{target}.txt", pte)
    elif file.parent == SIN:
        add("pte", pte.name, pte)
        if target == "cortex-m4":
            add_serial(pte)
    for number, payload in enumerate(payloads):
        one = f"{name}_{target}" + (f"_{number}" if number else "")
        if "ethos" in payload.name:
            add_stream(f"{one}.words", payload.read_bytes())
        for kind in PAYLOADS[payload.stem.split("partition-")[1].split("-")[0]]:
            add(kind, f"{one}.bin", payload)
    if target == "cortex-m4":
        for graph in sorted(stages.glob("*.ir")):
            add("ir", f"{name}_{graph.name}", graph)


def operators_of(text):
    """Names of the operators of a graph, and each name with its kind of rounding."""
    found = set()
    for name, attributes in re.findall(r"= (\w+)\([^)]*\)(?: \{(.*)\})?", text):
        rounding = re.search(r"rounding=\d", attributes)
        found |= {name, f"{name} {rounding[0]}"} if rounding else {name}
    return found


def add_graphs(work):
    """A small set of graphs with every operator that a stage of the compilation of a test network has."""
    graphs = {}  # by path: size and operators
    for number, words in enumerate(GRAPH_WORDS):
        for file in sorted((SOURCE / "tests/data/pt2").glob("*.pt2")):
            stages = work / f"graphs_{number}" / file.stem
            # Networks that a target does not support, or without an input `x`, have no more stages.
            subprocess.run([THIMBLE, "compile", file, "--calibrate", "random", "-o", work / "unused.pte", "--save-stages", stages, *words],
                           check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for graph in stages.glob("*.ir"):
                if graph.stat().st_size <= GRAPH_BYTES_MAX:
                    graphs[graph] = graph.stat().st_size, operators_of(graph.read_text())
    for graph in covering(graphs):
        number = graph.parent.parent.name.rpartition("_")[2]
        add("ir", f"{graph.parent.name}_{number}_{graph.name}", graph)


def covering(files):
    """Yields some of the files that together have all names. `files` has the size and the names of each file by path."""
    if not files:
        sys.exit("no network was compiled")
    left = set().union(*(names for _, names in files.values()))
    while left:
        best = max(sorted(files), key=lambda path: len(files[path][1] & left) / (files[path][0] + 300))
        left -= files[best][1]
        yield best


def add_kernels(work):
    """A small set of programs with every kernel that a test network uses on a core of CORES."""
    files = {}
    for target in CORES:
        for number, words in enumerate(KERNEL_WORDS):
            if "--float" in words and target == "cortex-m0plus":
                continue  # no FPU
            calibrate = () if "--float" in words else ("--calibrate", "random")
            for file in sorted((SOURCE / "tests/data/pt2").glob("*.pt2")):
                pte = work / f"{file.stem}_{number}_{target}.pte"
                subprocess.run([THIMBLE, "compile", file, "--target", target, *calibrate, *words, "-o", pte],
                               check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                if pte.exists() and pte.stat().st_size <= KERNEL_BYTES_MAX:
                    shown = subprocess.run([THIMBLE, "inspect", pte, "--json"], capture_output=True, check=True).stdout
                    files[pte] = pte.stat().st_size, set(json.loads(shown)["ops"])
    for pte in covering(files):
        add("pte_run", pte.name, pte)


def main():
    for old in CORPUS.glob("*/*"):
        if not old.name.startswith(("found_", "written_")):
            old.unlink()
    add_calls()
    add_choices()
    add_json()
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        add_graphs(work)
        add_kernels(work)
        add_types(work)
        add_methods(work)
        add_delegates(work)
        for target in TARGETS:
            for folder in (SIN, DIGITS):
                add_network(work, folder.name, folder / f"{folder.name}.pt2", folder / "calibrate.npz", target)
        for target in NPUS:
            for name in OPERATORS:
                add_network(work, name, SOURCE / f"tests/data/pt2/{name}.pt2", "random", target)
        networks = [(SIN / "hello_sin.pt2", SIN / "calibrate.npz")]
        networks += [(SOURCE / f"tests/data/pt2/{name}.pt2", "random") for name in LITERT_OPERATORS]
        for file, samples in networks:
            subprocess.run([THIMBLE, "compile", file, "--target", "cortex-m4", "--calibrate", samples, "--emit", "tflite", "--out-dir", work],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for file in work.glob("*.tflite"):
            add("tflite", file.name, file)


if __name__ == "__main__":
    main()
