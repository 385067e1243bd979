# SPDX-License-Identifier: Apache-2.0
"""The LiteRT files of all partitions of networks for the Neutron, in LiteRT's kernels.

    partitions.py THIMBLE CASES NETWORKS FOLDER [MODEL_FOLDER...]

CASES is interchange_cases, NETWORKS neutron_networks, whose random subgraphs run last. Compiles each network for
imxrt700cm and runs every partition's file on random quantized values, in LiteRT and in our evaluator. Both give the same
bytes, unless the partition has an operator that LiteRT's kernel rounds in its own way (functions.py,
docs/interchange.md). Then the same partition with tables instead of functions must give the same bytes. Each operator
also runs alone; only those operators may differ, by one step at most. Exit 1 if anything else differs, 77 if LiteRT is
not installed.
"""

import argparse
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE))

import reference  # noqa: E402

# Operators whose LiteRT kernel rounds some values differently from the graph.
OWN_ROUNDING = {"ABS", "HARD_SWISH", "LEAKY_RELU", "MUL", "PRELU", "RELU", "RELU6",
                "RESIZE_BILINEAR", "RSQRT", "SUM"}
# Allowed refusals of random subgraphs, whose multipliers do not always correspond to scales.
MAY_BE_REFUSED = "multiplier|counts only the padding of SAME|requires equal scales for all operands"
# Networks whose partitions must be equal without tables instead of functions.
MUST_BE_EQUAL = {"resnet8", "dscnn_kws", "mobilenet_v1_vww", "ad_autoencoder", "unet_small", "tcn",
                 "yolo_nano_like", "efficientnet_lite_like", "squeezenet_like", "cifarnet",
                 "shufflenet_v2_like", "mnasnet_like", "deit_tiny_like", "gru_classifier",
                 "decoder_step"}
OTHERS = {"mobilenet_v3_tiny", "se_classifier", "face_embedding", "vocoder", "conv_tasnet_like"}


def operators(path):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    interpreter = Interpreter(model_path=str(path),
                              experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    return {op["op_name"] for op in interpreter._get_ops_details()}


def compare(folder, name):
    """Returns the number of values that differ, and the largest difference."""
    got = reference.run_tflite(folder / f"{name}.tflite", reference.numbered(folder, name, "in"))
    wanted = reference.numbered(folder, name, "out")
    assert len(got) == len(wanted), name
    count, far = 0, 0
    for g, w in zip(got, wanted):
        assert g.shape == w.shape and g.dtype == w.dtype, (name, g.shape, w.shape)
        away = np.abs(g.astype(np.int64) - w.astype(np.int64))
        count += int((away != 0).sum())
        far = max(far, int(away.max(initial=0)))
    return count, far


def partitions(thimble, model, folder):
    """Returns the graphs and files that the compiler saved, as pairs of paths."""
    stages = folder / "stages"
    command = [str(thimble), "compile", str(model / f"{model.name}.pt2"), "--target", "imxrt700cm",
               "--out-dir", str(folder), "--save-stages", str(stages)]
    if (model / "calibrate.npz").exists():
        command += ["--calibrate", str(model / "calibrate.npz")]
    subprocess.run(command, check=True, capture_output=True)
    found = []
    for graph in sorted(stages.glob("*-partition-neutron-*.ir")):
        number, name = re.match(r"(\d+)-(.*)", graph.stem).groups()
        file = list(stages.glob(f"*-{name}.tflite"))
        found.append((name, graph, file[0] if file else None))
    return found


def cases(program, where, kind, graphs):
    where.mkdir(parents=True)
    subprocess.run([str(program), str(where), kind, *map(str, graphs)], check=True)
    return sorted(p.name[:-len(".tflite")] for p in where.glob("*.tflite"))


def judged(arguments, name, folder, found, strict):
    """Prints a line on all subgraphs of a network; returns true if each is as expected. `found`: name, graph, and the file
    that the compiler saved, if any."""
    graphs = []
    (folder / "graphs").mkdir(parents=True)
    for region, graph, _ in found:
        graphs.append(folder / "graphs" / f"{region}.ir")
        graphs[-1].write_text(graph.read_text())
    whole, tables, alone = folder / "whole", folder / "tables", folder / "alone"
    whole_names = cases(arguments.cases, whole, "neutron", graphs)
    table_names = cases(arguments.cases, tables, "neutron-tables", graphs)
    alone_names = cases(arguments.cases, alone, "neutron-ops", graphs)
    equal, refused, own, wrong = 0, 0, Counter(), []
    for region, _, file in found:
        if region not in whole_names or region not in table_names:
            where = whole if region not in whole_names else tables
            why = (where / f"{region}.tflite.why").read_text()
            refused += 1
            if file is not None or not re.search(MAY_BE_REFUSED, why):
                wrong.append(f"{region}: {why}")
            continue
        if file is not None:
            (whole / f"{region}.tflite").write_bytes(file.read_bytes())
        count, far = compare(whole, region)
        equal += count == 0
        theirs = operators(whole / f"{region}.tflite") & OWN_ROUNDING
        if count and (not theirs or strict):
            wrong.append(f"{region}: {count} codes differ, by up to {far}")
        count, far = compare(tables, region)
        if count and "RESIZE_BILINEAR" not in theirs:
            wrong.append(f"{region}, with tables: {count} codes differ, by up to {far}")
    for operator in alone_names:
        count, far = compare(alone, operator)
        theirs = operators(alone / f"{operator}.tflite") & OWN_ROUNDING
        if count and far <= 1 and len(theirs) == 1:
            own[theirs.pop()] += 1
        elif count:
            wrong.append(f"{operator}, alone: {count} codes differ, by up to {far}")
    kinds = ", ".join(f"{kind} {n}" for kind, n in sorted(own.items()))
    print(f"{name:24} {equal:3} of {len(found) - refused:3} partitions equal; "
          f"{len(alone_names):4} "
          f"operators alone{', by one code in some: ' + kinds if kinds else ', all equal'}",
          flush=True)
    for line in wrong:
        print(f"  {line}")
    return not wrong and bool(found)


def check(arguments, model):
    folder = arguments.folder / model.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    found = partitions(arguments.thimble, model, folder)
    missing = [name for name, _, file in found if file is None]
    for name in missing:
        print(f"  {name}: no file")
    return judged(arguments, model.name, folder, found, model.name in MUST_BE_EQUAL) and not missing


def check_random(arguments):
    """Checks random subgraphs by seed, with operators that no network has."""
    good = True
    for steps, first, count in ((1, 1, 300), (6, 1000, 150)):
        folder = arguments.folder / f"random_{steps}"
        shutil.rmtree(folder, ignore_errors=True)
        made = folder / "made"
        subprocess.run([str(arguments.networks), str(made), str(first), str(count), str(steps)],
                       check=True, stdout=subprocess.DEVNULL)
        found = [(path.stem, path, None) for path in sorted(made.glob("*.ir"))]
        good = judged(arguments, folder.name, folder, found, False) and good
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("thimble", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("networks", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", type=Path, nargs="*")
    arguments = parser.parse_args()
    try:
        import ai_edge_litert  # noqa: F401
    except ImportError as missing:
        print(f"skipped: {missing}")
        return 77
    models = arguments.models or [ROOT / "models" / name
                                  for name in sorted(MUST_BE_EQUAL | OTHERS)]
    good = [check(arguments, model) for model in models]
    good.append(check_random(arguments))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
