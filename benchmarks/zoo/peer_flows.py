# SPDX-License-Identifier: Apache-2.0
"""The flows of ExecuTorch and Vela whose compile time compile_time.py measures, each in a process of its own.

The parent imports torch, ExecuTorch and Vela once, with one thread; a flow is measured in a process that is forked from it, so
that its processor time has no import. Both flows of ExecuTorch begin with the float graph and the samples in memory, and end
with the bytes of the `.pte`.
"""

import json
import os
import select
import signal
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/peers/ethos_u"))
SECONDS_MAX = 600
NPU = "ethos-u55-128"
U55_SYSTEM, U55_MEMORY = "Ethos_U55_High_End_Embedded", "Shared_Sram"


def load(folder: Path, samples_max: int):
    """Returns the float module and its samples, in the order of the inputs."""
    import torch
    exported = torch.export.load(str(folder / f"{folder.name}.pt2"))
    arrays = np.load(folder / "calibrate.npz")
    names = [name for name in arrays.files if name != "labels"]
    shapes = [tuple(node.meta["val"].shape) for node in exported.graph.nodes
              if node.op == "placeholder" and node.name in exported.graph_signature.user_inputs]
    count = min(samples_max, len(arrays[names[0]]))
    samples = [tuple(torch.from_numpy(arrays[name][i]).reshape(shape) for name, shape in zip(names, shapes))
               for i in range(count)]
    if len(names) != len(shapes):
        raise ValueError(f"{len(shapes)} inputs, {len(names)} arrays of samples")
    return exported.module(check_guards=False), samples


def quantized(module, samples, quantizer):
    import torch
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    graph = torch.export.export(module, samples[0], strict=False).module(check_guards=False)
    prepared = prepare_pt2e(graph, quantizer)
    with torch.no_grad():
        for sample in samples:
            prepared(*sample)
    return torch.export.export(convert_pt2e(prepared), samples[0], strict=False)


def cortex_m(module, samples) -> bytes:
    """As benchmarks/operators/peer.py."""
    import torch
    from executorch.backends.cortex_m.edge_compile_config import cortex_m_edge_compile_config
    from executorch.backends.cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
    from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
    from executorch.backends.cortex_m.target_config import CortexM, CortexMTargetConfig
    from executorch.exir import ExecutorchBackendConfig, to_edge

    def channels_last(tensor):
        return tensor.contiguous(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor

    for tensor in [*module.parameters(), *module.buffers()]:
        tensor.data = channels_last(tensor.data)
    samples = [tuple(channels_last(x) for x in sample) for sample in samples]
    edge = to_edge(quantized(module, samples, CortexMQuantizer()), compile_config=cortex_m_edge_compile_config())
    passes = CortexMPassManager(edge.exported_program(), target_config=CortexMTargetConfig(cpu=CortexM.M55))
    edge._edge_programs["forward"] = passes.transform()
    return edge.to_executorch(config=ExecutorchBackendConfig(extract_delegate_segments=False)).buffer


def ethos_u(module, samples) -> bytes:
    """As tests/peers/executorch_ethos_u.py; it calls Vela in this process."""
    from executorch.backends.arm.ethosu import EthosUCompileSpec, EthosUPartitioner
    from executorch.backends.arm.quantizer import EthosUQuantizer, get_symmetric_quantization_config
    from executorch.backends.cortex_m.passes.replace_quant_nodes_pass import ReplaceQuantNodesPass
    from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge_transform_and_lower
    spec = EthosUCompileSpec(NPU, system_config=U55_SYSTEM, memory_mode=U55_MEMORY)
    quantizer = EthosUQuantizer(spec)
    quantizer.set_global(get_symmetric_quantization_config())
    edge = to_edge_transform_and_lower(quantized(module, samples, quantizer), partitioner=[EthosUPartitioner(spec)],
                                       compile_config=EdgeCompileConfig(_check_ir_validity=False))
    edge = edge.transform([ReplaceQuantNodesPass()])
    return edge.to_executorch(config=ExecutorchBackendConfig(extract_delegate_segments=False)).buffer


FLOWS = {"cortex_m": cortex_m, "ethos_u": ethos_u}


def import_peers() -> None:
    """Imports all that the flows need."""
    warnings.filterwarnings("ignore")
    import torch
    torch.set_num_threads(1)
    import executorch.backends.arm.ethosu  # noqa: F401
    import executorch.backends.arm.quantizer  # noqa: F401
    import executorch.backends.cortex_m.passes.cortex_m_pass_manager  # noqa: F401
    import executorch.backends.cortex_m.quantizer.quantizer  # noqa: F401
    import tosa_serializer  # noqa: F401
    from ethosu.vela import vela  # noqa: F401
    from executorch.backends.cortex_m.passes.replace_quant_nodes_pass import ReplaceQuantNodesPass  # noqa: F401
    from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e  # noqa: F401


def flow(name: str, folder: Path, samples_max: int) -> dict:
    """Returns {seconds, memory, pte_bytes} of a flow, or {failed}. The seconds are processor time."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        answer = {}
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            module, samples = load(folder, samples_max)
            before = os.times()
            pte = FLOWS[name](module, samples)
            after = os.times()
            answer = {"seconds": after.user + after.system - before.user - before.system, "pte_bytes": len(pte)}
        except BaseException as error:  # the child must not continue as a second parent
            answer = {"failed": f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"[:100]}
        finally:
            os.write(writer, json.dumps(answer).encode())
            os._exit(0)
    os.close(writer)
    try:
        if not select.select([reader], [], [], SECONDS_MAX)[0]:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return {"failed": f"more than {SECONDS_MAX} s"}
        text = os.read(reader, 65536).decode()
        os.waitpid(child, 0)
        return json.loads(text) if text else {"failed": "the process ended"}
    finally:
        os.close(reader)


def vela(network: Path, folder: Path) -> dict:
    """Returns {seconds} of Vela for a `.tflite`, or {failed}."""
    import vela_run
    try:
        return {"seconds": vela_run.run(NPU, network, folder).seconds}
    except vela_run.Refused as refusal:
        return {"failed": str(refusal)[:100]}
