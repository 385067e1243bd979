# SPDX-License-Identifier: Apache-2.0
"""Models of torchvision, timm and transformers: from a module to numbers in one call each.

usage: torch_test.py

Exits with 77 if a package is missing.
"""

import concurrent.futures
import sys
import unittest

try:
    import numpy
    import torch
    import thimble_ml as thimble
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

TARGET = "corstone-320"


def images(count, size):
    generator = torch.Generator().manual_seed(1)
    return torch.randn(count, 3, size, size, generator=generator)


class TorchTest(unittest.TestCase):
    def check(self, compiled, module, inputs):
        """The compiled model has all numbers, and its results are those of the module."""
        self.assertGreater(compiled.memory["sram"].bytes_used, 0)
        self.assertTrue(compiled.ops)
        with torch.no_grad():
            expected = module(*inputs)
        if not isinstance(expected, torch.Tensor):
            expected = expected[0]
        found = torch.from_numpy(compiled.run(*inputs))
        error = (expected - found).pow(2).mean()
        self.assertGreater(10 * torch.log10(expected.pow(2).mean() / error).item(), 5)

    def test_torchvision(self):
        try:
            import torchvision
        except (ImportError, RuntimeError) as error:  # RuntimeError: built for another PyTorch
            self.skipTest(str(error))
        torch.manual_seed(1)
        module = torchvision.models.shufflenet_v2_x0_5(num_classes=10).eval()
        x = images(4, 64)
        compiled = thimble.compile(module, (x[:1],), target=TARGET, calibration=x)
        self.check(compiled, module, (x[:1],))

    def test_timm(self):
        try:
            import timm
        except (ImportError, RuntimeError) as error:  # RuntimeError: built for another PyTorch
            self.skipTest(str(error))
        torch.manual_seed(1)
        module = timm.create_model("mobilenetv3_small_050", num_classes=10).eval()
        x = images(4, 64)
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), batch_size=2)
        compiled = thimble.compile(module, (x[:1],), target=TARGET, calibration=loader)
        self.check(compiled, module, (x[:1],))

    def test_transformers(self):
        try:
            import transformers
            from transformers.models.bert.modeling_bert import BertModel  # imports torchvision if there is one
        except (ImportError, RuntimeError) as error:  # RuntimeError: built for another PyTorch
            self.skipTest(str(error))
        torch.manual_seed(1)
        config = transformers.BertConfig(
            vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=64, max_position_embeddings=32, attn_implementation="eager",
            return_dict=False)

        class Encoder(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.bert = BertModel(config, add_pooling_layer=False)

            def forward(self, tokens):
                return self.bert(tokens)[0]

        module = Encoder().eval()
        tokens = torch.randint(0, 100, (4, 16), generator=torch.Generator().manual_seed(1))
        compiled = thimble.compile(module, (tokens[:1],), target="cortex-m55", calibration=tokens)
        self.check(compiled, module, (tokens[:1],))

    def test_forms_of_models_give_the_same_bytes(self):
        module = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(),
                                     torch.nn.Dropout(0.5))
        module.train()
        x = images(3, 8)
        options = {"target": "cortex-m4", "calibration": x}
        compiled = thimble.compile(module, x[:1], **options)
        self.assertTrue(module.training and module[2].training)
        self.assertEqual(compiled.name, "Sequential.pte")
        module.eval()
        exported = torch.export.export(module, (x[:1],))
        torch.testing.assert_close(torch.from_numpy(compiled.run(x[:1])),
                                   torch.from_numpy(thimble.compile(exported, **options).run(x[:1])))
        labels = torch.tensor([0, 1, 2])
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, labels), batch_size=2)
        for data in ([(x, labels)], loader, {exported.graph_signature.user_inputs[0]: x},
                     torch.utils.data.TensorDataset(x), x.double(), x.numpy()):
            other = thimble.compile(exported, target="cortex-m4", calibration=data)
            numpy.testing.assert_array_equal(other.run(x[:1]), compiled.run(x[:1]))
        with self.assertRaisesRegex(thimble.BadInput, "bfloat16"):
            thimble.compile(exported, target="cortex-m4", calibration=x.bfloat16())
        with self.assertRaisesRegex(thimble.BadInput, "example inputs"):
            thimble.compile(module, target="cortex-m4", calibration=x)
        rows = thimble.fit(module, (x[:1],), part="stm32f7*")
        self.assertTrue(rows and all(row.sram_bytes for row in rows))

    def test_fit_of_several_modules(self):
        x = torch.randn(16, 4, generator=torch.Generator().manual_seed(2))
        torch.manual_seed(1)
        modules = [torch.nn.Sequential(torch.nn.Linear(4, n), torch.nn.ReLU()).eval() for n in (8, 4)]
        alone = [thimble.fit(each, (x[:1],), calibration=x, part="cortex-m4")[0].sqnr_db for each in modules]
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), batch_size=4)
        for args in ((x[:1],), x[:1], [(x[:1],), (x[:1],)]):
            for data in (x, loader, [x, x]):
                rows = thimble.fit(modules, args, calibration=data, part="cortex-m4")
                self.assertEqual([row.sqnr_db for row in rows], alone)
        with self.assertRaisesRegex(thimble.BadInput, "args: found a list of 1 for 2 models"):
            thimble.fit(modules, [(x[:1],)], calibration=x, part="cortex-m4")

    def test_sweep_of_exported_programs(self):
        module = torch.nn.Linear(4, 2).eval()
        exported = torch.export.export(module, (torch.zeros(1, 4),))
        threads = concurrent.futures.ThreadPoolExecutor(1)
        self.addCleanup(threads.shutdown)
        for executor in (None, threads):
            models = {"program": exported, "pair": (module, (torch.zeros(1, 4),))}
            results = list(thimble.sweep(models, "cortex-m4", executor=executor, cache=False, keep_programs=True))
            self.assertEqual([each.error for each in results], [None, None])
            self.assertEqual(len({each.program for each in results}), 1)
        (result,) = thimble.sweep([lambda: exported], "cortex-m4", executor=threads, cache=False)
        self.assertIsNone(result.error)

    def test_wrong_example_inputs(self):
        module = torch.nn.Linear(4, 2).eval()

        def fails(args, expected, model=module):
            with self.assertRaisesRegex(thimble.BadInput, expected):
                thimble.compile(model, args, target="cortex-m4", calibration="random")

        fails((numpy.zeros((1, 4), numpy.float32),), "args: found numpy.ndarray for input 0, expected torch.Tensor")
        fails((torch.zeros(1, 3),), r"export of Linear failed with inputs of \(torch.float32 \[1, 3\]\), expected")
        fails((torch.zeros(1, 4),), r"found the class Linear, expected an object: Linear\(\)", torch.nn.Linear)
        fails((torch.zeros(1, 4),), "OrderedDict: a torch.nn.Module", module.state_dict())
        fails((torch.zeros(1, 4),), "for a torch.nn.Module only, found str", "net.pt2")
        with self.assertRaisesRegex(thimble.BadInput, "device meta"):
            thimble.compile(module, (torch.zeros(1, 4),), target="cortex-m4",
                            calibration=torch.zeros(4, 4, device="meta"))
        for use in (thimble.inspect, thimble.Interpreter):
            with self.assertRaisesRegex(thimble.BadInput, "found Linear, a torch.nn.Module, expected a file"):
                use(module)
        # After a failure, the module can be exported.
        self.assertTrue(len(thimble.compile(module, (torch.zeros(1, 4),), target="cortex-m4", calibration="random")))

    def test_threads_compile_one_module(self):
        torch.manual_seed(1)
        module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).eval()
        x = torch.randn(8, 4, generator=torch.Generator().manual_seed(2))

        def one(_):
            return bytes(thimble.compile(module, (x[:1],), target="cortex-m4", calibration=x))

        alone = one(0)
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            self.assertEqual(set(threads.map(one, range(8))), {alone})

    def test_does_not_fit_and_unsupported_name_the_source_line(self):
        class Net(torch.nn.Module):
            def forward(self, x):
                return torch.fft.rfft(x).real

        x = images(2, 8)
        with self.assertRaises(thimble.Unsupported) as caught:
            thimble.compile(Net(), (x[:1],), target="cortex-m4", calibration=x)
        op = caught.exception.ops[0]
        self.assertIn("fft", op.op)
        self.assertIn("torch_test.py:", op.source)
        self.assertIn("torch.fft.rfft", op.text)
        with self.assertRaises(thimble.DoesNotFit) as refused:
            thimble.compile(torch.nn.Conv2d(3, 64, 3), (images(1, 128),), target="stm32f746",
                            calibration="random")
        self.assertGreater(refused.exception.needed, refused.exception.available)


if __name__ == "__main__":
    unittest.main()
