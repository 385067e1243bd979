#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes .pte files with delegate calls of NeutronBackend, with ExecuTorch's own writer and the NXP backend's own packer.

    files.py OUT

The NXP backend cannot be imported without the vendor's converter, so its class PayloadComposer is extracted from its source.
The converter's output is replaced by invented bytes around the published words of the header. Per file OUT/NAME.pte. Exit 0
if all are made, 77 if ExecuTorch is not installed.
"""

import ast
import importlib.util
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace


@dataclass
class Network:
    version: int
    formats: tuple  # formats of inputs, of outputs; 1: channels-last
    maps: tuple  # argument of each input; result of each output
    ports: int = 1  # inputs and outputs of the module: images [1, 3, 4, 6]
    channels_last: bool = False


NETWORKS = {
    "formatless_v0": Network(0, ([0], [0]), ([0], [0])),
    "first_v1": Network(1, ([1], [1]), ([0], [0])),
    "last_v1": Network(1, ([1], [1]), ([0], [0]), channels_last=True),
    "mapped_v1": Network(1, ([1, 0, 1], [0, 1, 1]), ([2, 0, 1], [1, 2, 0]), ports=3),
}


def packer():
    """Returns the backend's PayloadComposer, without the imports of its module."""
    import numpy as np

    package = Path(importlib.util.find_spec("executorch").submodule_search_locations[0])
    tree = ast.parse((package / "backends/nxp/nxp_backend.py").read_text())
    tree.body = [node for node in tree.body if getattr(node, "name", "") == "PayloadComposer"]
    names = {
        "np": np,
        "struct": struct,
        "DataFormat": SimpleNamespace(CHANNELS_LAST=1),
        "NeutronNodeArtifacts": object,
        "extract_artifacts_from_neutron_node": lambda artifacts: artifacts,
    }
    exec(compile(tree, "nxp_backend.py", "exec"), names)
    return names["PayloadComposer"]()


def microcode(network, weights):
    words = [0xA5A50000 + i for i in range(18)]
    words[0], words[6], words[7], words[9] = 0x64434D6E, 4 * len(words), weights, 48
    counts = [len(network.maps[0]), len(network.maps[1])]
    if network.version == 0:
        words[10:13] = [64, *counts]
    else:
        words[10:15] = [32 | 0x80000000, 16, 64, *counts]
    return struct.pack(f"<{len(words)}I", *words)


def payload(network):
    import numpy as np

    sides = []
    for side, (formats, which) in enumerate(zip(network.formats, network.maps)):
        named = {f"{'xy'[side]}{i}": formats[which.index(i)] for i in range(network.ports)}
        sides.append((named, [f"{'xy'[side]}{i}".encode() for i in which]))
    blocks = [microcode(network, 20), bytes(range(20)), b"kernels"]
    artifacts = SimpleNamespace(
        input_names=sides[0][1], input_indices=network.maps[0],
        output_names=sides[1][1], output_indices=network.maps[1],
        payload_version=network.version,
        **{name: np.frombuffer(block, np.uint8) for name, block in zip(("microcode", "weights", "kernels"), blocks)})
    return packer().get_binary_payload({"inputs": sides[0][0], "outputs": sides[1][0]}, artifacts)


def register():
    """ExecuTorch finds a backend by the name of its class, which equals the delegate's id."""
    from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult

    class NeutronBackend(BackendDetails):
        @staticmethod
        def preprocess(program, specs):
            return PreprocessResult(processed_bytes=payload(NETWORKS[specs[0].value.decode()]))

    return NeutronBackend


def make(name, network, out):
    import torch
    from executorch.exir import ExecutorchBackendConfig, to_edge
    from executorch.exir.backend.backend_api import to_backend
    from executorch.exir.backend.compile_spec_schema import CompileSpec

    class Module(torch.nn.Module):
        def forward(self, *images):
            return tuple(torch.add(image, image) for image in images)

    images = tuple(torch.zeros(1, 3 + i, 4, 6, dtype=torch.int8) for i in range(network.ports))
    if network.channels_last:
        images = tuple(image.to(memory_format=torch.channels_last) for image in images)
    edge = to_edge(torch.export.export(Module().eval(), images))
    lowered = to_backend("NeutronBackend", edge.exported_program(), [CompileSpec("name", name.encode())])

    class Call(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lowered = lowered

        def forward(self, *images):
            return self.lowered(*images)

    program = to_edge(torch.export.export(Call(), images)).to_executorch(
        ExecutorchBackendConfig(extract_delegate_segments=False))
    (out / f"{name}.pte").write_bytes(program.buffer)


def main():
    if importlib.util.find_spec("executorch") is None:
        print("executorch is not installed")
        return 77
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    backend = register()
    for name, network in NETWORKS.items():
        make(name, network, out)
    del backend
    return 0


if __name__ == "__main__":
    sys.exit(main())
