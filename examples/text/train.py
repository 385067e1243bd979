#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a tiny Llama on the text of the repository's documents and exports its decoder step.

    python examples/text/train.py OUT_FOLDER [--steps N]

Characters are the tokens: the 96 of ASCII from the space on; the last one replaces all other characters. The network is
`transformers`' LlamaForCausalLM: rotary positions, RMS norm, grouped-query attention (4 heads, 2 of keys and values) and
gated layers. TorchExportableModuleWithStaticCache makes one step of it: a token and its position in, logits out. The keys
and values are kept in a cache of LENGTH positions.

Writes step.pt2, calibrate.npz (tokens and positions, one step per row) and test.npz (the same for other text). prefill.pt2 reads
the first BLOCK tokens in one call and writes the same cache; its samples are in prefill_calibrate.npz.
Prints the perplexity of the held-out text. Needs torch and transformers; takes one to three minutes.
"""
import argparse
import re
import time
from pathlib import Path

import numpy as np
import torch
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM
from transformers.integrations.executorch import TorchExportableModuleWithStaticCache

LENGTH, VOCABULARY, BLOCK = 64, 96, 16
ROOT = Path(__file__).resolve().parents[2]


def tokens_of(text):
    return torch.tensor([min(ord(c) - 32, VOCABULARY - 1) if ord(c) >= 32 else 0 for c in text])


def text_of(tokens):
    return "".join(chr(32 + int(t)) for t in tokens)


def text():
    """All documents as one line each."""
    return " ".join(" ".join(f.read_text().split()) for f in sorted((ROOT / "docs").glob("*.md")))


def network():
    config = LlamaConfig(vocab_size=VOCABULARY, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                         num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=LENGTH,
                         tie_word_embeddings=True, attn_implementation="sdpa")
    return LlamaForCausalLM(config)


def train(model, tokens, steps, batch=16):
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps)
    for step in range(steps):
        at = torch.randint(len(tokens) - LENGTH, (batch, 1)) + torch.arange(LENGTH)
        loss = model(input_ids=tokens[at], labels=tokens[at], use_cache=False).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 200 == 0:
            print(f"step {step}  loss {loss.item():.3f}", flush=True)


class Prefill(TorchExportableModuleWithStaticCache):
    """The first BLOCK tokens in one call. Their positions are constants, so the rotary angles are tables in the file.

    The mask is computed at run time, as in a step: a constant one would be added to the scores, which would then have another scale
    than those of a step.
    """

    def forward(self, input_ids):
        for layer in self.static_cache.layers:
            layer.cumulative_length.copy_(torch.zeros((), dtype=torch.int64))
        earlier = torch.arange(LENGTH) <= torch.arange(BLOCK)[:, None]
        mask = (input_ids >= 0)[:, None, :, None] & earlier
        return self.model(input_ids=input_ids, attention_mask=mask, cache=self.static_cache, use_cache=True).logits


def export_methods(model, folder):
    model.generation_config = GenerationConfig(
        use_cache=True, cache_implementation="static", max_length=LENGTH,
        cache_config={"batch_size": 1, "max_cache_len": LENGTH, "device": "cpu"})
    one = {"input_ids": torch.tensor([[1]]), "cache_position": torch.tensor([0])}
    block = {"input_ids": torch.ones(1, BLOCK, dtype=torch.int64)}
    for name, module, example in (("step", TorchExportableModuleWithStaticCache, one), ("prefill", Prefill, block)):
        method = module(model)
        method._buffers.clear()  # second names of the cache, which would double it in the file
        with torch.no_grad():
            program = torch.export.export(method, (), example, strict=False)
        shorten_history(program)
        torch.export.save(program, folder / f"{name}.pt2")


def shorten_history(program):
    """Keeps only the innermost source line of each operator, and nothing that computes nothing: the rest is most of the file."""
    for node in list(program.graph.nodes):
        if node.target is torch.ops.aten._assert_tensor_metadata.default:
            program.graph.erase_node(node)
        elif node.target is torch.ops.aten.to.dtype and node.meta["val"].dtype == node.args[0].meta["val"].dtype:
            node.replace_all_uses_with(node.args[0])
    program.graph.eliminate_dead_code()
    for node in program.graph.nodes:
        for key in ("from_node", "nn_module_stack", "torch_fn"):
            node.meta.pop(key, None)
        frames = re.split(r"(?=  File )", node.meta.get("stack_trace") or "")
        node.meta["stack_trace"] = re.sub(r'(?<=").*site-packages/', "", frames[-1].rstrip())


def save_sequences(file, tokens, count):
    """Sequences one after another: the position restarts at 0 with each of them."""
    starts = np.linspace(0, len(tokens) - LENGTH - 1, count).astype(int)
    rows = np.concatenate([tokens[s:s + LENGTH].numpy() for s in starts])
    np.savez(file, input_ids=rows.reshape(-1, 1, 1), cache_position=np.tile(np.arange(LENGTH), count).reshape(-1, 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=2000)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    tokens = tokens_of(text())
    split = len(tokens) * 9 // 10
    model = network()
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {split} characters", flush=True)
    began = time.time()
    train(model, tokens[:split], arguments.steps)
    model.eval()
    print(f"trained in {time.time() - began:.0f} s")
    save_sequences(arguments.out / "calibrate.npz", tokens[:split], 8)
    save_sequences(arguments.out / "test.npz", tokens[split:], 8)
    blocks = np.load(arguments.out / "calibrate.npz")["input_ids"].reshape(-1, LENGTH)[:, :BLOCK]
    np.savez(arguments.out / "prefill_calibrate.npz", input_ids=blocks.reshape(-1, 1, BLOCK))
    held = torch.from_numpy(np.load(arguments.out / "test.npz")["input_ids"].reshape(-1, LENGTH))
    with torch.no_grad():
        loss = model(input_ids=held, labels=held, use_cache=False).loss.item()
    print(f"perplexity of float: {np.exp(loss):.3f}")
    torch.save(model.state_dict(), arguments.out / "weights.pt")
    export_methods(model, arguments.out)


if __name__ == "__main__":
    main()
