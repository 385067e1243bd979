#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every row of docs/switching.md that has a command of ExecuTorch's scripts.

    switching_test.py THIMBLE SOURCE COMPILER FOLDER

Each row has a function below, which uses the code of the row's cells as the page prints it: expressions of the column "Thimble in
ExecuTorch's flow" are evaluated, options of "Thimble's own flow" are given to `thimble compile`. A row without a function, and a
function without a row, fail. COMPILER is the stand-in for Nordic's compiler library. Exit 77 if ExecuTorch is not installed.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "executorch_runtime"))
from axon_driver_test import make_sdk  # noqa: E402
from networks import trained  # noqa: E402

warnings.filterwarnings("ignore")
ROWS = {}


def row(title):
    def add(function):
        ROWS[title] = function
        return function

    return add


def rows_of(page):
    """First cell: the other three cells, of every table row."""
    found = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) >= 3 and cells[0] != "ExecuTorch":
            assert cells[0] not in found, f"two rows {cells[0]}"
            found[cells[0]] = [*cells[1:], ""][:3]
    return found


def code(cell):
    return re.findall(r"`([^`]+)`", cell)


class Bench:
    """The network, the two flows, and the commands."""

    def __init__(self, thimble, source, compiler, folder):
        import thimble_ml.executorch as et

        self.thimble, self.source, self.compiler, self.folder = thimble, source, compiler, folder
        self.et = et
        self.names = {name: getattr(et, name) for name in et.__all__}

    def model(self, name="digits_cnn", where="models"):
        here = self.source / where / name
        return here / f"{name}.pt2", here / "calibrate.npz"

    # --- Thimble's own flow

    def run(self, *words, code=0):
        environment = {key: value for key, value in os.environ.items() if key != "SDK_EDGE_AI_PATH"}
        done = subprocess.run([self.thimble, *map(str, words)], capture_output=True, text=True,
                              env={**environment, "AXON_STANDIN": ""})
        assert done.returncode == code, f"{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def compile(self, options, name="digits_cnn", where="models", file="own.pte", values=None, code=0, extra=()):
        """Compiles with the options of a cell. `values` replaces the cell's words in capitals."""
        model, data = self.model(name, where)
        words = [str({"DATA.npz": data, "DIR": self.folder, **(values or {})}.get(word, word)) for word in shlex.split(options)]
        if "--calibrate" not in words:
            words += ["--calibrate", str(data)]
        if "--target" not in [*words, *extra]:
            words += ["--target", "cortex-m55"]
        path = self.folder / file
        path.unlink(missing_ok=True)
        text = self.run("compile", model, *words, *extra, *([] if "-o" in words else ["-o", path]), code=code)
        return path, text

    def delegates(self, path):
        facts = json.loads(self.run("inspect", path, "--json"))
        return [each["id"] for each in facts["program"]["plans"][0]["delegates"]]

    def operators(self, path):
        facts = json.loads(self.run("inspect", path, "--json"))
        return {each if isinstance(each, str) else each["name"] for each in facts["program"]["plans"][0]["operators"]}

    # --- ExecuTorch's flow

    def evaluate(self, text, **values):
        return eval(text, {**self.names, **values})

    def quantized(self, quantizer, name="digits_cnn", where="models", count=8, qat=False):
        import torch
        from torchao.quantization.pt2e import move_exported_model_to_eval
        from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e

        module, samples = trained(self.source, name, where)
        prepared = (prepare_qat_pt2e if qat else prepare_pt2e)(module, quantizer)
        for sample in samples[:count]:
            prepared(*sample)
        if qat:
            move_exported_model_to_eval(prepared)
        return torch.export.export(convert_pt2e(prepared), samples[0])

    def edge(self, exported, partitioners=()):
        import executorch.kernels.quantized  # noqa: F401
        from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

        return to_edge_transform_and_lower(exported, partitioner=list(partitioners),
                                           compile_config=EdgeCompileConfig(_check_ir_validity=False))

    def lowered(self, quantizer, partitioner, **network):
        """The edge manager, and the ids of its delegates."""
        edge = self.edge(self.quantized(quantizer, **network), [partitioner])
        return edge, delegate_ids(edge)


def delegate_ids(edge):
    from executorch.exir.backend.utils import get_delegates

    module = edge.exported_program().graph_module
    return [getattr(module, node.target).backend_id for node in get_delegates(module.graph)]


def raises(function, words):
    try:
        function()
    except Exception as error:
        assert words in str(error), error
        return
    raise AssertionError(f"no error with {words}")


# --- aot_arm_compiler, run.sh


@row("`--model_name=mv2`")
def model_name(bench, flow, own):
    import torch

    module = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU()).eval()
    path = bench.folder / "MODEL.pt2"
    exported = torch.export.export(module, (torch.randn(1, 4),))
    torch.export.save(exported, str(path))
    assert code(own) == ["MODEL.pt2", "torch.export.save"] and code(flow) == ["torch.export.export"]
    bench.run("compile", path, "--target", "cortex-m55", "--calibrate", "random", "-o", bench.folder / "linear.pte")


@row("`--target=ethos-u55-128 --delegate`")
def target_ethos_u(bench, flow, own):
    partitioner = bench.evaluate(code(flow)[0])
    _, ids = bench.lowered(bench.et.EthosUQuantizer(partitioner.compile_spec), partitioner)
    assert ids and set(ids) == {"EthosUBackend"}, ids
    path, _ = bench.compile(code(own)[0])
    assert bench.delegates(path) == ["EthosUBackend"]


@row("`--target=cortex-m55+int8`")
def target_cortex_m(bench, flow, own):
    edge = bench.edge(bench.quantized(bench.et.CortexMQuantizer("cortex-m55")))
    program = bench.evaluate(code(flow)[0], edge=edge)
    names = {str(node.target) for node in program.graph.nodes if node.op == "call_function"}
    assert any("cortex_m" in name for name in names), names
    assert not any("quantized_decomposed" in name for name in names), names
    path, _ = bench.compile(code(own)[0])
    assert all(name.startswith(("cortex_m::", "dim_order_ops::", "aten::")) for name in bench.operators(path))


@row("`--quantize`")
def quantize(bench, flow, own):
    first, second, prepare = code(flow)
    assert prepare == "prepare_pt2e"
    spec = bench.et.EthosUCompileSpec("ethos-u55-128")
    for text in (first, second):
        exported = bench.quantized(bench.evaluate(text, spec=spec))
        assert any("quantize_per_tensor" in str(node.target) for node in exported.graph.nodes)
    bench.compile(code(own)[0])


@row("`--calibration_data FILE`")
def calibration_data(bench, flow, own):
    quantizer = bench.et.CortexMQuantizer("cortex-m55")
    scales = []
    for count in (1, 8):
        graph = bench.quantized(quantizer, count=count).graph
        scales.append([node.args[1] for node in graph.nodes if "quantize_per_tensor" in str(node.target)])
    assert scales[0] != scales[1], "the samples have no effect"
    data = dict(np.load(bench.model()[1]))
    np.savez(bench.folder / "one.npz", **{name: each[:1] for name, each in data.items()})
    files = [bench.compile(code(own)[0], file=f"{name}.pte", values=values)[0].read_bytes()
             for name, values in (("all", {}), ("one", {"DATA.npz": bench.folder / "one.npz"}))]
    assert files[0] != files[1]


@row("`--system_config NAME --memory_mode NAME`")
def system_config(bench, flow, own):
    assert code(flow) == ["EthosUCompileSpec"]
    spec = bench.et.EthosUCompileSpec("ethos-u65-256", "Ethos_U65_Embedded", "Sram_Only")
    _, ids = bench.lowered(bench.et.EthosUQuantizer(spec), bench.et.EthosUPartitioner(spec))
    assert "EthosUBackend" in ids
    part = bench.folder / "part.toml"
    part.write_text('summary = "a part"\ncpu = "cortex-m55"\n[[engine]]\nname = "ethos-u65-256"\n'
                    'system = "Ethos_U65_Embedded"\nmemory_mode = "Sram_Only"\n')
    path, _ = bench.compile(f"--target {part}")
    assert bench.delegates(path) == ["EthosUBackend"]


@row("`--config FILE`")
def config(bench, flow, own):
    raises(lambda: bench.et.EthosUCompileSpec("ethos-u55-128", config_ini="own.ini"), "config_ini=own.ini")


@row("`--intermediates=DIR`")
def intermediates(bench, flow, own):
    spec = bench.et.EthosUCompileSpec("ethos-u55-128")
    stages, own_stages = bench.folder / "stages", bench.folder / "own_stages"
    bench.evaluate(code(flow)[0], spec=spec, DIR=stages)
    bench.lowered(bench.et.EthosUQuantizer(spec), bench.et.EthosUPartitioner(spec))
    bench.compile(code(own)[0], values={"DIR": own_stages})
    for folder in (stages, own_stages):
        assert any(path.suffix == ".ir" for path in folder.rglob("*")), [*folder.rglob("*")]


@row("`--output=FILE`")
def output(bench, flow, own):
    edge = bench.edge(bench.quantized(bench.et.CortexMQuantizer("cortex-m55")))
    FILE = bench.folder / "saved.pte"
    bench.evaluate(code(flow)[0], program=edge.to_executorch(), FILE=str(FILE))
    assert FILE.stat().st_size > 1000
    named = bench.folder / "named.pte"
    bench.compile(code(own)[0], values={"FILE": named})
    assert named.exists()


@row("`--direct_drive`")
def direct_drive(bench, flow, own):
    assert flow == own == "not supported"
    raises(lambda: bench.et.EthosUCompileSpec("ethos-u55-128", direct_drive=True), "direct_drive")
    bench.compile("--direct-drive", code=2)


@row("delegation report in the log")
def delegation_report(bench, flow, own):
    spec = bench.et.EthosUCompileSpec("ethos-u55-128")
    partitioners = [bench.et.EthosUPartitioner(spec, [Refuses("max_pool2d")])]
    edge = bench.edge(bench.quantized(bench.et.EthosUQuantizer(spec)), partitioners)
    text = str(bench.evaluate(code(flow)[0], edge=edge, partitioners=partitioners))
    assert "max_pool2d" in text.split("reason")[-1] and "occurrences_in_delegated_graphs" in text, text
    page = bench.folder / "x.html"
    bench.compile(code(own)[0], values={"x.html": page}, extra=["--engine-off", "max_pool2d"])
    assert "<html" in page.read_text()


class Refuses:
    """A check of EthosUPartitioner that keeps nodes with a name on the core."""

    def __init__(self, name):
        self.name = name

    def is_node_supported(self, submodules, node):
        return self.name not in node.name


@row("size of the `.pte`")
def size(bench, flow, own):
    assert code(flow) == ["ls -l"]
    path, text = bench.compile("", file="small.pte")
    assert f"{path.stat().st_size:,} B" in text and "flash" in text
    larger, _ = bench.compile("", name="resnet8", file="large.pte")
    condition = shlex.split(code(bench.cells[2])[-1])
    assert condition[:2] == ["thimble", "diff"]
    bench.run("diff", path, path, *condition[2:])
    bench.run("diff", path, larger, *condition[2:], code=1)


@row("`skip_passes` of `CortexMPassManager`")
def skip_passes(bench, flow, own):
    edge = bench.edge(bench.quantized(bench.et.CortexMQuantizer("cortex-m55")))
    text = code(flow)[0].replace("...", "edge.exported_program()")
    manager = bench.evaluate(text, edge=edge)
    assert manager.skip_passes == ["hoist_clamp"]
    manager.transform()
    bench.compile(code(own)[0])
    bench.compile("--skip-passes no_such_pass", code=2)


@row("`run.sh`: build, run on the FVP")
def run_sh(bench, flow, own):
    path, _ = bench.compile("--target cortex-m55 --compat executorch")
    data = dict(np.load(bench.model()[1]))
    sample = bench.folder / "X.npy"
    np.save(sample, next(iter(data.values()))[:1])
    words = [{"FILE.pte": path, "X.npy": sample}.get(word, word) for word in shlex.split(code(flow)[0])]
    assert words[0] == "thimble"
    folder = bench.folder / "qemu"
    bench.run(*words[1:], "--output", folder)
    bench.run("run", path, "--input", sample, "--output", bench.folder / "host")
    found, expected = (np.load(each / "output_0.npy") for each in (folder, bench.folder / "host"))
    assert np.array_equal(found, expected)
    assert code(own) == ["--on fvp"]
    text = bench.run("run", path, "--input", sample, "--target", "cortex-m55", *shlex.split(code(own)[0]), code=2)
    assert "fvp" in text.lower(), text


# --- aot_neutron_compile


@row("`--target imxrt700 --delegate`")
def target_neutron(bench, flow, own):
    partitioner = bench.evaluate(code(flow)[0])
    _, ids = bench.lowered(bench.et.NeutronQuantizer("imxrt700"), partitioner)
    assert set(ids) == {"ThimbleNeutronModel"}, ids
    path, _ = bench.compile(code(own)[0])
    assert set(bench.delegates(path)) == {"ThimbleNeutronModel"}


@row("`--quantize` (Neutron)")
def quantize_neutron(bench, flow, own):
    exported = bench.quantized(bench.evaluate(code(flow)[0]))
    assert any("quantize_per_tensor" in str(node.target) for node in exported.graph.nodes)
    bench.compile(code(own)[0], extra=["--target", "imxrt700"])


@row("`--use_qat`")
def use_qat(bench, flow, own):
    import torch

    text, prepare = code(flow)
    assert prepare == "prepare_qat_pt2e" and code(own) == ["convert_pt2e"]
    exported = bench.quantized(bench.evaluate(text), qat=True)
    path = bench.folder / "qat.pt2"
    torch.export.save(exported, str(path))
    bench.run("compile", path, "--target", "imxrt700", "-o", bench.folder / "qat.pte")


@row("`operators_not_to_delegate`")
def not_to_delegate(bench, flow, own):
    def counts(options):
        spec = bench.et.generate_neutron_compile_spec("imxrt700", operators_not_to_delegate=options)
        partitioner = bench.et.NeutronPartitioner(spec)
        bench.lowered(bench.et.NeutronQuantizer(spec), partitioner)
        return [reason.node for reason in partitioner.reasons]

    assert any("max_pool2d" in node for node in counts(["max_pool2d"])) and not any("max_pool2d" in node for node in counts(None))
    text = bench.compile(code(own)[0], values={"NAME": "max_pool2d"}, extra=["--target", "imxrt700"])[1]
    assert "max_pool2d" in text


@row("`--fetch_constants_to_sram`")
def fetch_constants(bench, flow, own):
    spec = bench.evaluate(f'NeutronCompileSpec("imxrt700", {code(flow)[0]})')
    _, ids = bench.lowered(bench.et.NeutronQuantizer(spec), bench.et.NeutronPartitioner(spec))
    assert ids
    bench.compile(code(own)[0], extra=["--target", "imxrt700"])


@row("`--dump_kernel_selection_code`")
def dump_kernels(bench, flow, own):
    raises(lambda: bench.et.NeutronCompileSpec("imxrt700", dump_kernel_selection_code=True), "sdk")
    spec = bench.et.NeutronCompileSpec("imxrt700", dump_kernel_selection_code=True, sdk="/nowhere")
    assert spec.options["neutron_kernels"] is True
    # Without the SDK, which only the user has, both are refused.
    text = bench.compile(code(own)[0], extra=["--target", "imxrt700"], code=2)[1]
    assert "sdk" in text.lower(), text


@row("imxrt700cm: `NeutronPartitioner`, then the Cortex-M passes")
def imxrt700cm(bench, flow, own):
    first, second = code(flow)
    spec = bench.et.generate_neutron_compile_spec("imxrt700cm", operators_not_to_delegate=["max_pool2d"])
    partitioner = bench.evaluate(first.replace("...", "spec"), spec=spec)
    edge, ids = bench.lowered(bench.et.IMXRT700CMQuantizer(), partitioner)
    manager = bench.evaluate(second.replace("...", "edge.exported_program()"), edge=edge)
    names = [str(node.target) for node in manager.transform().graph.nodes]
    assert ids and any("quantized_max_pool2d" in name for name in names), names
    path, _ = bench.compile(code(own)[0], extra=["--engine-off", "max_pool2d"])
    assert set(bench.delegates(path)) == {"ThimbleNeutronModel"}


# --- the AXON examples


@row("`AxonCompileSpec(sdk_edge_ai_path=...)`")
def axon_spec(bench, flow, own):
    sdk = bench.folder / "sdk"
    make_sdk(bench.compiler, sdk)
    spec = bench.evaluate(code(flow)[0].replace("...", "sdk"), sdk=sdk)
    os.environ["AXON_STANDIN"] = ""
    os.chdir(bench.folder)  # the headers are written to the current folder
    _, ids = bench.lowered(bench.et.AxonQuantizer(spec), bench.et.AxonPartitioner(spec), name="hello_axon", where="examples/nordic")
    path, _ = bench.compile(code(own)[0], "hello_axon", "examples/nordic", values={"DIR": sdk},
                            extra=["--target", "nrf54lm20b", "--npu-small"])
    assert ids == bench.delegates(path) == ["AxonBackend"], (ids, bench.delegates(path))
    assert [*bench.folder.glob("axon_subgraph_*.h")]
    program = bench.et.AxonCompileSpec(sdk_edge_ai_path=sdk, form="program")
    _, ids = bench.lowered(bench.et.AxonQuantizer(program), bench.et.AxonPartitioner(program), name="hello_axon",
                           where="examples/nordic")
    assert ids == ["ThimbleAxonProgram"]


def axon_example(bench, name, spec, options):
    _, ids = bench.lowered(bench.et.AxonQuantizer(spec), bench.et.AxonPartitioner(spec), name=name, where="examples/nordic")
    path, _ = bench.compile(options, name, "examples/nordic", extra=["--target", "nrf54lm20b", "--npu-small"])
    return ids, bench.delegates(path)


@row("`AxonQuantizer`, `AxonPartitioner`")
def axon_names(bench, flow, own):
    assert flow == "the same names"
    ids, own_ids = axon_example(bench, "hello_axon", bench.et.AxonCompileSpec(), code(own)[0])
    assert ids == own_ids == ["ThimbleAxonModel"]


@row("hello_axon: 1 delegate")
def hello_axon(bench, flow, own):
    ids, own_ids = axon_example(bench, Path(code(own)[0]).name, bench.et.AxonCompileSpec(), "")
    assert flow == "1 delegate" and len(ids) == len(own_ids) == 1


@row("multi_layer: 1 delegate")
def multi_layer(bench, flow, own):
    hello_axon(bench, flow, own)


@row("simple_rnn: 2 delegates, tanh on the CPU")
def simple_rnn(bench, flow, own):
    from flow_peer import delegates_of, quantized, step_network

    assert code(own) == ["--engine-off tanh"] and flow.endswith(": 2 delegates")
    for text, count in ((code(flow)[0], 2), ("AxonCompileSpec()", 1)):
        spec = bench.evaluate(text)
        module, samples = step_network(bench.source)
        edge = bench.edge(quantized(module, samples, bench.et.AxonQuantizer(spec)), [bench.et.AxonPartitioner(spec)])
        assert delegates_of(edge) == count, (text, delegates_of(edge))
    for options, count in ((code(own)[0], 2), ("", 1)):
        path, _ = bench.compile(options, "simple_rnn", "examples/nordic", extra=["--target", "nrf54lm20b", "--npu-small"])
        assert len(bench.delegates(path)) == count, (options, bench.delegates(path))


def main():
    thimble, source, compiler, folder, *names = sys.argv[1:]
    source, folder = Path(source), Path(folder)
    try:
        import executorch.exir  # noqa: F401
        import thimble_ml.executorch  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 77
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
    page = rows_of((source / "docs/switching.md").read_text().partition("\n## TensorFlow Lite Micro")[0])
    failed = [f"{title}: no function" for title in page if title not in ROWS]
    failed += [f"{title}: no row" for title in ROWS if title not in page]
    for title, cells in page.items():
        function = ROWS.get(title)
        if function is None or (names and function.__name__ not in names):
            continue
        (folder / function.__name__).mkdir(parents=True)
        bench = Bench(thimble, source, compiler, folder / function.__name__)
        bench.cells = cells
        try:
            function(bench, cells[0], cells[1])
            print(f"{function.__name__}: ok", flush=True)
        except Exception:  # the other rows run too
            print(f"{function.__name__}: {title}\n{traceback.format_exc()}", flush=True)
            failed.append(title)
    print(f"{len(page)} rows", *failed, sep="\n", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
