# SPDX-License-Identifier: Apache-2.0
"""Weights of 4 bits: one result on host, evaluator and emulated boards; sizes, accuracy and cycles.

usage: int4_test.py THIMBLE REPO table|auto|boards|groups|scalar [--bless]

Compares the numbers of docs/quantization.md with the measured ones; --bless writes them. `auto`: --weights auto, and
weights that PyTorch quantized to 4 bits. `boards`: cycles of one inference under QEMU, modelled from counted instructions.
`groups`: a factor for each 32 inputs, `scalar`: cores without DSP extension; both also under QEMU.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from network_test import thimble

NETWORKS = ("dscnn_kws", "mobilenet_v1_vww", "lstm_classifier", "gru_classifier", "deit_tiny_like")
CORES = ("cortex-m4", "cortex-m33", "cortex-m55")
BYTES_MAX = {"gru_classifier": 0.62}  # its rows have 10 and 24 weights, and each a scale
BYTES_MAX_OTHERS = 0.55
ACCURACY_LOSS_MAX = 0.01
ESTIMATE_DIFFERENCE_MAX = 0.02
GROUP_NETWORKS = {"dscnn_kws": (), "deit_tiny_like": (), "lstm_classifier": (), "decoder_step": ("--steps",)}
GROUP_CORES = ("cortex-m4", "cortex-m55")
# Limits of ratios to int8 weights: 3 to 7 % above the largest in the tables of docs/quantization.md.
GROUP_BYTES_MAX = 0.60
GROUP_CYCLES_MAX = {"cortex-m4": 1.75, "cortex-m55": 2.3}
TORCHAO_GAIN_MIN = 5  # dB
SCALAR_CORES = ("cortex-m0plus", "cortex-m3")
SCALAR_CYCLES_MAX = {"dscnn_kws": 1.25, "mobilenet_v1_vww": 1.25, "lstm_classifier": 1.2}
CYCLES_MAX = {"cortex-m4": 1.15, "cortex-m33": 1.15, "cortex-m55": 1.25}


def fail(text):
    sys.exit(f"int4_test: {text}")


def build(program, model, target, out, *options):
    return thimble(program, "compile", model / f"{model.name}.pt2", "--target", target, "--calibrate",
                   model / "calibrate.npz", "--memory", "sram=8M", "--memory", "flash=8M", "-o", out, *options)


def measure(program, models, scratch, name):
    """Returns the row of a network; checks the limits of the documentation."""
    model = models / name
    results, estimates = {}, {}
    for weights in ("int8", "int4"):
        out = scratch / f"{name}-{weights}.pte"
        report = build(program, model, "cortex-m4", out, "--weights", weights)
        compared = thimble(program, "compare", model / f"{name}.pt2", out, "--data", model / "test.npz")
        results[weights] = (report, compared, out.stat().st_size)
        estimates[weights] = report["cycles"]
    int4 = results["int4"][0]["int4_weights"]
    # The quantization may give linear layers with int8 weights one scale, which changes few cycles.
    if not int4["as_int8_cycles"] or abs(int4["as_int8_cycles"] / estimates["int8"] - 1) > ESTIMATE_DIFFERENCE_MAX:
        fail(f"{name}: {int4['as_int8_cycles']} cycles with int8 weights, {estimates['int8']} of the compiled file")
    if int4["ops"] == 0 or int4["bytes"] > BYTES_MAX.get(name, BYTES_MAX_OTHERS) * int4["as_int8_bytes"]:
        fail(f"{name}: {int4}")
    if results["int4"][1]["accuracy"] < results["int8"][1]["accuracy"] - ACCURACY_LOSS_MAX:
        fail(f"{name}: accuracy {results['int4'][1]['accuracy']}, {results['int8'][1]['accuracy']} with int8")
    if name == "dscnn_kws":
        reasons = int4["kept_int8"]
        if len(reasons) != 4 or any("depthwise" not in reason["reason"] for reason in reasons):
            fail(f"depthwise convolutions: {reasons}")
    if "int4_weights" in results["int8"][0]:
        fail(f"{name}: int4 weights without a request")
    return "| {} | {:.2f} | {:.2f} | {:.1f} | {:.1f} | {:.1f} % | {:.1f} % |".format(
        name, int4["bytes"] / int4["as_int8_bytes"], results["int4"][2] / results["int8"][2],
        results["int8"][1]["sqnr_db"][0], results["int4"][1]["sqnr_db"][0],
        100 * results["int8"][1]["accuracy"], 100 * results["int4"][1]["accuracy"])


def run_everywhere(program, out, sample, *options):
    """Returns the cycles on the emulated board; host, evaluator and board must agree."""
    board = thimble(program, "run", out, "--input", sample, "--on", "qemu", "--profile", *options)
    for place in ("host", "eval"):
        ran = thimble(program, "run", out, "--input", sample, "--on", place, *options)
        if ran["outputs"][0]["sha256"] != board["outputs"][0]["sha256"]:
            fail(f"{out.name}: {place} and board differ")
    return board["cycles"]


def groups_row(program, models, scratch, name):
    """Returns the row of a network with factors; checks gain, size and cycles."""
    model = models / name
    sqnr, cycles = {}, {}
    sample = first_sample(model, scratch)
    for weights in ("int8", "int4", "int4:group=32"):
        for core in GROUP_CORES:
            out = scratch / f"{name}-{core}-{weights.split(':')[-1]}.pte"
            report = build(program, model, core, out, "--weights", weights)
            cycles[weights, core] = run_everywhere(program, out, sample, *GROUP_NETWORKS[name])
        compared = thimble(program, "compare", model / f"{name}.pt2", out, "--data", model / "test.npz")
        sqnr[weights] = compared["sqnr_db"][0]
    if any("stored in 8 bits" in note for note in report["notes"]):
        fail(f"{name}: {report['notes']}")
    int4 = report["int4_weights"]
    if int4["grouped_ops"] == 0 or int4["bytes"] > GROUP_BYTES_MAX * int4["as_int8_bytes"]:
        fail(f"{name}: {int4}")
    if sqnr["int4:group=32"] <= sqnr["int4"]:
        fail(f"{name}: {sqnr}")
    for core in GROUP_CORES:
        if cycles["int4:group=32", core] > GROUP_CYCLES_MAX[core] * cycles["int8", core]:
            fail(f"{name} on {core}: {cycles}")
    return "| {} | {:.1f} | {:.1f} | {} of {} | {:.2f} | {} |".format(
        name, sqnr["int4"], sqnr["int4:group=32"], int4["grouped_ops"], int4["ops"], int4["bytes"] / int4["as_int8_bytes"],
        " | ".join(f"{cycles['int4:group=32', core] / cycles['int8', core]:.2f}" for core in GROUP_CORES))


def check_groups(program, repo, scratch):
    """Targets that refuse, texts that are refused, and weights that torchao rounded in groups."""
    model = repo / "models/dscnn_kws"
    out = scratch / "refused.pte"
    refused(program, model, 2, "--weights: found int4:group=64, expected one of int8, int4, int4:group=32, auto:flash=SIZE", out,
            "--weights", "int4:group=64")
    refused(program, model, 1, "--weights int4:group=32 with --compat executorch: ExecuTorch has no kernels", out,
            "--weights", "int4:group=32", "--compat", "executorch")
    refused(program, model, 1, "--weights int4:group=32: ethos-u55-128 has no weights of 4 bits", out,
            "--weights", "int4:group=32", target="corstone-300")
    data = repo / "tests/data/pt2"
    with zipfile.ZipFile(data / "torchao_int4_groups.npz") as archive:
        archive.extract("in0.npy", scratch)
    with zipfile.ZipFile(scratch / "x.npz", "w") as archive:
        archive.write(scratch / "in0.npy", "x.npy")
    sqnr = {}
    for weights in ("int4", "int4:group=32"):
        report = thimble(program, "compile", data / "torchao_int4_groups.pt2", "--target", "cortex-m4", "--calibrate",
                         scratch / "x.npz", "--weights", weights, "-o", scratch / "torchao.pte")
        compared = thimble(program, "compare", data / "torchao_int4_groups.pt2", scratch / "torchao.pte", "--data",
                           scratch / "x.npz")
        sqnr[weights] = compared["sqnr_db"][0]
    if report["int4_weights"]["grouped_ops"] != 1 or sqnr["int4:group=32"] < sqnr["int4"] + TORCHAO_GAIN_MIN:
        fail(f"torchao_int4_groups: {sqnr}, {report['int4_weights']}")


def scalar_row(program, models, scratch, name):
    """Returns the cycles of int4 relative to int8 on cores without DSP extension."""
    model = models / name
    sample = first_sample(model, scratch)
    ratios = []
    for core in SCALAR_CORES:
        cycles = {}
        for weights in ("int8", "int4"):
            out = scratch / f"{name}-{core}-{weights}.pte"
            build(program, model, core, out, "--weights", weights)
            cycles[weights] = run_everywhere(program, out, sample)
        ratios.append(cycles["int4"] / cycles["int8"])
        if ratios[-1] > SCALAR_CYCLES_MAX[name]:
            fail(f"{name} on {core}: {ratios[-1]:.3f} times the cycles of int8 weights")
    return "| {} | {} |".format(name, " | ".join(f"{ratio:.2f}" for ratio in ratios))


def first_sample(model, scratch):
    with zipfile.ZipFile(model / "golden.npz") as archive:
        name = next(name for name in archive.namelist() if name.startswith(("x", "in", "arg", "tokens")))
        archive.extract(name, scratch)
    return scratch / name


def cycles_on_boards(program, models, scratch, name):
    """Returns the cycles of int4 relative to int8 by core. Host, evaluator and board must agree."""
    model = models / name
    ratios = []
    for core in CORES:
        cycles = {}
        for weights in ("int8", "int4"):
            out = scratch / f"{name}-{core}-{weights}.pte"
            build(program, model, core, out, "--weights", weights)
            sample = first_sample(model, scratch)
            cycles[weights] = run_everywhere(program, out, sample)
        ratios.append(cycles["int4"] / cycles["int8"])
        if ratios[-1] > CYCLES_MAX[core]:
            fail(f"{name} on {core}: {ratios[-1]:.3f} times the cycles of int8 weights")
    return "| {} | {} |".format(name, " | ".join(f"{ratio:.2f}" for ratio in ratios))


def refused(program, model, code, words, out, *options, target="cortex-m4"):
    command = [program, "compile", model / f"{model.name}.pt2", "--target", target, "--calibrate",
               model / "calibrate.npz", "-o", out, *options]
    ran = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if ran.returncode != code or words not in ran.stderr or out.exists():
        fail(f"{options}: exit {ran.returncode}, {ran.stderr}")


def check_auto(program, models, scratch):
    """--weights auto: within the limit, with fewer operators than int4 if that is sufficient, or a refusal."""
    model = models / "dscnn_kws"

    def compiled(weights):
        out = scratch / "auto.pte"
        command = ["compile", model / f"{model.name}.pt2", "--target", "cortex-m4", "--calibrate", model / "calibrate.npz",
                   "-o", out, "--weights", weights]
        return thimble(program, *command), out.read_bytes()

    def flash_of(report):
        return next(memory["bytes_used"] for memory in report["memories"] if memory["name"] == "flash")

    int8, int4 = compiled("int8")[0], compiled("int4")[0]
    above, below = flash_of(int8), flash_of(int4)
    report, data = compiled(f"auto:flash={above}")
    if report["int4_choice"]["ops"] or data != compiled("int8")[1]:
        fail(f"auto within the flash of int8: {report['int4_choice']}")
    middle = (3 * above + below) // 4
    report, data = compiled(f"auto:flash={middle}")
    choice = report["int4_choice"]
    if not below <= flash_of(report) <= middle or choice["flash"] != flash_of(report) or choice["flash_int8"] != above:
        fail(f"auto, limit {middle}: {choice}, flash {flash_of(report)}")
    if not 0 < len(choice["ops"]) < int4["int4_weights"]["ops"] or len(choice["ops"]) != report["int4_weights"]["ops"]:
        fail(f"auto, limit {middle}: {choice}, {report['int4_weights']}")
    if report["sqnr_db"][0] <= int4["sqnr_db"][0]:
        fail(f"auto, limit {middle}: {report['sqnr_db']} dB, with int4 everywhere {int4['sqnr_db']}")
    if compiled(f"auto:flash={middle}")[1] != data:
        fail("auto: two runs differ")
    tightest = compiled(f"auto:flash={below}")[0]
    if flash_of(tightest) > below:
        fail(f"auto, limit {below}: {tightest['int4_choice']}")
    out = scratch / "refused.pte"
    refused(program, model, 1, f"{below:,} B of flash are needed at least", out, "--weights", f"auto:flash={below - 1}")
    refused(program, model, 2, "--weights: found auto:flash=many, expected a size as in auto:flash=200K", out, "--weights", "auto:flash=many")
    refused(program, model, 1, "ExecuTorch has no kernels", out, "--weights", "auto:flash=40K", "--compat", "executorch")
    # An operator with a requested precision is no candidate.
    kept = compiled_with(program, model, scratch, "--weights", f"auto:flash={middle}", "--quant", "linear=int8")
    if any(op["name"].startswith("linear") for op in kept["int4_choice"]["ops"]):
        fail(f"--quant linear=int8: {kept['int4_choice']}")


def compiled_with(program, model, scratch, *options):
    return thimble(program, "compile", model / f"{model.name}.pt2", "--target", "cortex-m4", "--calibrate",
                   model / "calibrate.npz", "-o", scratch / "other.pte", *options)


def check_quantized_by_pytorch(program, data, scratch):
    """Graphs of PT2E with weights in [-8, 7]: stored in 4 bits, and the result is that of the same weights in 8 bits."""
    for name in ("q_xnnpack_int4_image", "q_xnnpack_int4_qat_image"):
        with zipfile.ZipFile(data / f"{name}.npz") as archive:
            sample = next(each for each in archive.namelist() if each.startswith(("x", "in", "arg")))
            archive.extract(sample, scratch)
        for core in ("cortex-m0plus", "cortex-m4", "cortex-m55"):
            digests, sizes = {}, {}
            for weights in ("int8", "int4"):
                out = scratch / f"{name}-{weights}.pte"
                report = thimble(program, "compile", data / f"{name}.pt2", "--target", core, "-o", out, "--weights", weights)
                for place in ("host", "eval"):
                    ran = thimble(program, "run", out, "--input", scratch / sample, "--on", place)
                    digests[weights, place] = ran["outputs"][0]["sha256"]
                sizes[weights] = out.stat().st_size
            if len(set(digests.values())) != 1 or sizes["int4"] >= sizes["int8"]:
                fail(f"{name} on {core}: {digests}, {sizes}")
            if report["int4_weights"]["ops"] != 2 or len(report["int4_weights"]["kept_int8"]) != 1:
                fail(f"{name} on {core}: {report['int4_weights']}")


def check_refusals(program, models, scratch):
    """Targets without kernels refuse; operators without a form keep int8 and give a reason."""
    model = models / "dscnn_kws"
    for target, options, words in (("corstone-300", ("--weights", "int4"), "no weights of 4 bits"),
                                   ("cortex-m4", ("--weights", "int4", "--compat", "executorch"), "no kernels for it"),
                                   ("corstone-300", ("--quant", "*=int4"), "has no int4 kernel"),
                                   ("cortex-m4", ("--quant", "*pool*=int4"), "has no weights, so int4")):
        command = [program, "compile", model / "dscnn_kws.pt2", "--target", target, "--calibrate",
                   model / "calibrate.npz", "-o", scratch / "refused.pte", *options]
        ran = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        if ran.returncode != 1 or words not in ran.stderr or (scratch / "refused.pte").exists():
            fail(f"{target} {options}: exit {ran.returncode}, {ran.stderr}")
    out = scratch / "one.pte"
    report = build(program, model, "cortex-m0plus", out, "--quant", "linear=int4")
    if report["int4_weights"]["ops"] != 1:
        fail(f"--quant linear=int4: {report['int4_weights']}")


def compare_text(document, marker, new, bless):
    """Compares the text between two marks of the document, or writes it."""
    begin, end = f"<!-- {marker} -->\n", f"<!-- end of {marker} -->\n"
    before, rest = document.read_text().split(begin)
    old, after = rest.split(end)
    if bless:
        document.write_text(before + begin + new + end + after)
    elif new != old:
        fail(f"{document} has other numbers: run with --bless\n{new}")


def main():
    program, repo, part = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    document, models, bless = repo / "docs/quantization.md", repo / "models", "--bless" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        if part == "boards":
            rows = [cycles_on_boards(program, models, scratch, name) for name in NETWORKS]
            compare_text(document, "int4 cycles", "\n".join((
                "| network | " + " | ".join(CORES) + " |", "|---|" + "--:|" * len(CORES), *rows)) + "\n", bless)
            return
        if part == "groups":
            check_groups(program, repo, scratch)
            rows = [groups_row(program, models, scratch, name) for name in GROUP_NETWORKS]
            compare_text(document, "int4 groups", "\n".join((
                "| network | int4 | groups | operators | weights | " + " | ".join(GROUP_CORES) + " |",
                "|---" + "|--:" * (4 + len(GROUP_CORES)) + "|", *rows)) + "\n", bless)
            return
        if part == "scalar":
            rows = [scalar_row(program, models, scratch, name) for name in SCALAR_CYCLES_MAX]
            compare_text(document, "int4 without DSP", "\n".join((
                "| network | " + " | ".join(SCALAR_CORES) + " |", "|---" + "|--:" * len(SCALAR_CORES) + "|", *rows)) + "\n",
                bless)
            return
        if part == "auto":
            check_auto(program, models, scratch)
            check_quantized_by_pytorch(program, repo / "tests/data/pt2", scratch)
            return
        check_refusals(program, models, scratch)
        rows = [measure(program, models, scratch, name) for name in NETWORKS]
        compare_text(document, "int4 table", "\n".join((
            "| network | weights | file | SQNR int8 | SQNR int4 | accuracy int8 | accuracy int4 |",
            "|---|--:|--:|--:|--:|--:|--:|", *rows)) + "\n", bless)


main()
