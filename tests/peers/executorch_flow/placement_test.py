# SPDX-License-Identifier: Apache-2.0
"""Networks with operators that stay in float, and scripts with the methods of ExecuTorch's quantizers.

    placement_test.py THIMBLE LIBRARIES FOLDER

Each network is quantized, lowered and run in executorch.runtime with Thimble's delegates. Its outputs must be close to those of
the module that `convert_pt2e` returns, and the number of delegates and the reasons must be as expected.
"""

import json
import logging
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")
logging.disable(logging.ERROR)
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "executorch_runtime"))

try:
    import executorch.kernels.quantized  # noqa: F401
    import numpy as np
    import torch
    from executorch.backends.arm.quantizer import get_symmetric_quantization_config
    from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge_transform_and_lower
    from executorch.exir.backend.utils import get_delegates
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from loading import executorch_run, load_libraries  # noqa: E402
from thimble_ml import BadInput  # noqa: E402
from thimble_ml import executorch as et  # noqa: E402

THIMBLE, FOLDER = "thimble", Path(tempfile.gettempdir())
SPEC = et.EthosUCompileSpec("Ethos-U55-128")


class Chosen(torch.nn.Module):
    """topk of rows that are too long for the compiler, between two parts of the NPU."""

    def __init__(self):
        super().__init__()
        self.a = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.b = torch.nn.Conv2d(8, 4, 3, padding=1)
        self.c = torch.nn.Linear(16, 8)

    def forward(self, x):
        x = torch.relu(self.a(x))
        x = torch.cat([x, self.b(x)], 1).flatten(1)
        return self.c(torch.topk(x, 16).values * 2.0)


class Repeated(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(6, 6)

    def forward(self, x):
        y = torch.relu(self.a(x))
        return y, y


class Listed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(6, 6)

    def forward(self, xs):
        return self.a(xs[0]) + self.a(xs[1])


def quantized(net, inputs, quantizer):
    torch.manual_seed(3)
    module = torch.export.export(net.eval(), inputs).module(check_guards=False)
    prepared = prepare_pt2e(module, quantizer)
    for _ in range(4):
        prepared(*torch.utils._pytree.tree_map(torch.randn_like, inputs))
    return convert_pt2e(prepared)


def lowered(program, partitioner):
    edge = to_edge_transform_and_lower(program, partitioner=[partitioner],
                                       compile_config=EdgeCompileConfig(_check_ir_validity=False))
    return edge, edge.to_executorch(ExecutorchBackendConfig(extract_delegate_segments=False)).buffer


class Placement(unittest.TestCase):
    def run_it(self, net, inputs, delegates, *, choose=lambda quantizer: quantizer):
        """Returns the nodes that are not delegated."""
        quantizer, partitioner = et.EthosUQuantizer(SPEC), et.EthosUPartitioner(SPEC)
        choose(quantizer)
        converted = quantized(net, inputs, quantizer)
        edge, data = lowered(torch.export.export(converted, inputs), partitioner)
        self.assertEqual(len(get_delegates(edge.exported_program().graph)), delegates)
        path = FOLDER / f"{self.id()}.pte"
        path.write_bytes(data)
        found = executorch_run(THIMBLE, path, [[each.numpy() for each in torch.utils._pytree.tree_leaves(inputs)]])[0]
        wanted = torch.utils._pytree.tree_leaves(converted(*inputs))
        for got, expected in zip(found, wanted, strict=True):
            expected = expected.detach().numpy()
            self.assertLess(np.abs(got - expected).max(), 0.02 * np.abs(expected).max() + 1e-6)
        self.assertTrue(all(each.reason for each in partitioner.reasons), partitioner.reasons)
        return [each.node for each in partitioner.reasons]

    def test_an_operator_between_two_parts(self):
        left = self.run_it(Chosen(), (torch.randn(1, 3, 8, 8),), 2)
        self.assertEqual(left, ["aten_topk_default", "aten_mul_tensor"])

    def test_a_configuration_of_executorch(self):
        configuration = get_symmetric_quantization_config(is_per_channel=True)
        left = self.run_it(Chosen(), (torch.randn(1, 3, 8, 8),), 2,
                           choose=lambda q: q.set_global(configuration).set_io(configuration))
        self.assertEqual(left, ["aten_topk_default", "aten_mul_tensor"])

    def test_a_relu_at_the_end_and_an_output_twice(self):
        self.assertEqual(self.run_it(Repeated(), (torch.randn(1, 6),), 1), [])

    def test_a_list_of_inputs(self):
        self.assertEqual(self.run_it(Listed(), ([torch.randn(1, 6), torch.randn(1, 6)],), 1), [])

    def test_a_size_that_is_not_fixed(self):
        x = torch.randn(2, 6)
        converted = quantized(Repeated(), (x,), et.EthosUQuantizer(SPEC))
        exported = torch.export.export(converted, (x,), dynamic_shapes=({0: torch.export.Dim("batch", max=8)},))
        partitioner = et.EthosUPartitioner(SPEC)
        edge, _ = lowered(exported, partitioner)
        self.assertEqual(len(get_delegates(edge.exported_program().graph)), 0)
        self.assertIn("size that is not fixed", json.dumps([each.reason for each in partitioner.reasons]))

    def test_a_partitioner_for_two_methods(self):
        nets = {"forward": (Repeated(), torch.randn(1, 6)), "second": (Chosen(), torch.randn(1, 3, 8, 8))}
        programs = {name: torch.export.export(quantized(net, (x,), et.EthosUQuantizer(SPEC)), (x,))
                    for name, (net, x) in nets.items()}
        edge, _ = lowered(programs, et.EthosUPartitioner(SPEC))
        counts = [len(get_delegates(edge.exported_program(name).graph)) for name in nets]
        self.assertEqual(counts, [1, 2])

    def test_a_float_network(self):
        net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU()).eval()
        edge = to_edge_transform_and_lower(torch.export.export(net, (torch.randn(1, 3, 6, 6),)),
                                           partitioner=[et.EthosUPartitioner(SPEC)])
        self.assertEqual(len(get_delegates(edge.exported_program().graph)), 0)
        program = et.CortexMPassManager(edge.exported_program(), target_config="cortex-m55").transform()
        self.assertNotIn("cortex_m", str(program.graph))

    def test_wrong_arguments(self):
        cases = {
            "imxrt700: expected a part with this engine": lambda: et.AxonCompileSpec("imxrt700"),
            "axon: expected a part with this engine": lambda: et.NeutronCompileSpec("axon"),
            "expected a list of parts of names": lambda: et.AxonCompileSpec(operators_not_to_delegate="conv"),
            "found torch.int16": lambda: et.EthosUQuantizer(SPEC).set_global(
                type("Wide", (), {"weight": type("Spec", (), {"dtype": torch.int16})})()),
            "found no configuration": lambda: et.EthosUQuantizer(SPEC).set_module_name("a", None),
            "skip_passes: found no_such_pass": lambda: et.CortexMPassManager(None, skip_passes=["no_such_pass"]),
        }
        for message, call in cases.items():
            with self.assertRaises(BadInput) as caught:
                call()
            self.assertIn(message, str(caught.exception))
        accepted = et.CortexMPassManager(None, skip_passes=[Chosen])
        self.assertEqual(accepted.skip_passes, [])
        et.CortexMQuantizer(get_symmetric_quantization_config(), use_explicit_layout=True)


if __name__ == "__main__":
    _, THIMBLE, libraries, folder = sys.argv
    FOLDER = Path(folder)
    FOLDER.mkdir(parents=True, exist_ok=True)
    load_libraries(libraries)
    unittest.main(argv=sys.argv[:1])
