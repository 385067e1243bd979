#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the calls per operator in the result of ExecuTorch's Cortex-M flow. Writes executorch.json.

usage: peer.py FOLDER/NAME [...]

FOLDER/NAME contains NAME.pt2 and calibrate.npz, as models/make.py writes them. The flow is that of ExecuTorch 1.5.1's
ahead-of-time compiler for Cortex-M: CortexMQuantizer, convert, to_edge, CortexMPassManager, to_executorch, with
channels-last samples and weights. Needs PyTorch and ExecuTorch.
"""
import collections
import json
import pathlib
import sys

import numpy
import torch
from executorch.backends.cortex_m.edge_compile_config import cortex_m_edge_compile_config
from executorch.backends.cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
from executorch.backends.cortex_m.target_config import CortexM, CortexMTargetConfig
from executorch.exir import ExecutorchBackendConfig, to_edge
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

HERE = pathlib.Path(__file__).resolve().parent


def channels_last(tensor):
    return tensor.contiguous(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor


def lowered(folder):
    """Returns the manager of the program in ExecuTorch's own format."""
    module = torch.export.load(str(folder / f"{folder.name}.pt2")).module(check_guards=False)
    for tensor in [*module.parameters(), *module.buffers()]:
        tensor.data = channels_last(tensor.data)
    arrays = numpy.load(folder / "calibrate.npz")
    name = next(name for name in arrays.files if name != "labels")
    samples = [(channels_last(torch.from_numpy(x[None])),) for x in arrays[name]]
    graph = torch.export.export(module, samples[0], strict=False).module(check_guards=False)
    prepared = prepare_pt2e(graph, CortexMQuantizer())
    for sample in samples:
        prepared(*sample)
    exported = torch.export.export(convert_pt2e(prepared), samples[0], strict=False)
    edge = to_edge(exported, compile_config=cortex_m_edge_compile_config())
    passes = CortexMPassManager(edge.exported_program(), target_config=CortexMTargetConfig(cpu=CortexM.M55))
    edge._edge_programs["forward"] = passes.transform()
    return edge.to_executorch(config=ExecutorchBackendConfig(extract_delegate_segments=False))


def main():
    result = HERE / "executorch.json"
    counts = json.loads(result.read_text()) if result.exists() else {}
    for word in sys.argv[1:]:
        folder = pathlib.Path(word).resolve()
        program = lowered(folder)
        plan = program.executorch_program.execution_plan[0]
        calls = collections.Counter()
        for instruction in plan.chains[0].instructions:
            op = plan.operators[instruction.instr_args.op_index]
            calls[op.name] += 1
        counts[folder.name] = {"pte_bytes": len(program.buffer), "calls": dict(sorted(calls.items()))}
        print(folder.name, json.dumps(counts[folder.name]))
    result.write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
