#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes small files of ExecuTorch's devtools (wheel 1.5.1): tests/data/executorch/devtools.

    make.py OUT

OUT/methods.pte             two methods, forward and double, with a weight each
OUT/external.pte and .ptd   constants in a data file
OUT/bundled.bpte            forward and double with test cases; the expected outputs are those of PyTorch
OUT/*.npy                   an input, and PyTorch's outputs
Exit 77 if ExecuTorch is not installed.
"""

import sys
from pathlib import Path


def modules():
    import torch
    from torch import nn

    class Forward(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Parameter(torch.linspace(-1, 1, 24).reshape(6, 4))
            self.b = nn.Parameter(torch.linspace(0.5, -0.5, 6))

        def forward(self, x):
            return torch.relu(torch.mm(x, self.a.t()) + self.b)

    class Double(nn.Module):
        def __init__(self):
            super().__init__()
            self.shift = nn.Parameter(torch.tensor([0.25, -0.5, 0.75, 1.0]))

        def forward(self, x):
            return x * 2.0 + self.shift

    return {"forward": Forward().eval(), "double": Double().eval()}


def make(folder):
    import numpy as np
    import torch
    from executorch.devtools import BundledProgram
    from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
    from executorch.devtools.bundled_program.serialize import serialize_from_bundled_program_to_flatbuffer
    from executorch.exir import ExecutorchBackendConfig, to_edge

    made = modules()
    x = torch.tensor([[0.5, -1.25, 2.0, 0.125]])
    programs = {name: torch.export.export(module, (x,)) for name, module in made.items()}
    edge = to_edge(programs)
    executorch = edge.to_executorch()
    (folder / "methods.pte").write_bytes(executorch.buffer)
    alone = to_edge(programs["forward"]).to_executorch(ExecutorchBackendConfig(external_constants=True))
    (folder / "external.pte").write_bytes(alone.buffer)
    alone.write_tensor_data_to_file(str(folder))
    (data,) = folder.glob("*.ptd")
    data.rename(folder / "external.ptd")
    cases = [x, 2 * x, torch.zeros_like(x)]
    suites = [MethodTestSuite(name, [MethodTestCase([case], [module(case).detach()]) for case in cases])
              for name, module in made.items()]
    bundled = BundledProgram(executorch, suites)
    (folder / "bundled.bpte").write_bytes(serialize_from_bundled_program_to_flatbuffer(bundled))
    np.save(folder / "x.npy", x.numpy())
    for name, module in made.items():
        np.save(folder / f"{name}.npy", module(x).detach().numpy())


def main():
    try:
        import executorch  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 77
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    make(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
