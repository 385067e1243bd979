# SPDX-License-Identifier: Apache-2.0
"""Prints README.md of this folder from thimble.json and peers.json."""

from statistics import fmean

PEERS = {"cortex_m": "PT2E, Cortex-M", "xnnpack": "PT2E, XNNPACK", "ethos_u": "PT2E, Ethos-U", "litert": "LiteRT"}
PEER_LEAST = 10  # dB; below this, a peer's result is not compared
TOLERANCE = 0.1  # dB
EXACT = 99  # dB of an output without an error, in means

HEADER = f"""# int8 accuracy compared with other tools

This table is written by `accuracy.py`. Networks are those of [models](../../models/README.md), trained with the scripts there. SQNR is in
dB against the float network over held-out samples (10 log10 of the ratio of the signal's variance over samples to the squared
error), with one figure for each output. Every figure is the mean of three seeds, or of eleven for networks that are within 1 dB of the
best tool after three (`CLOSE` of `samples.py`). A seed is a choice of calibration samples and
held-out samples (`samples.py`); all tools have the same. Held out are new samples of the generator that made the training data (`FRESH_COUNT` of `samples.py`);
digits_cnn, hello_sin, rnn_step, decoder_step and the streaming networks have those of their `test.npz`. Thimble compiles for a
Cortex-M55 with default options.

- `PT2E`: PyTorch's quantization with the quantizers of ExecuTorch 1.5.1 for Cortex-M, XNNPACK and Ethos-U, with one scale per
  output channel of weights (`pt2e.py`). It is measured in PyTorch. Recurrent layers are decomposed.
- `LiteRT`: litert-torch converts the network, ai-edge-quantizer quantizes it to int8 (`litert.py`), LiteRT runs it.
- *f*: the tool leaves operators in float, except those that only move data; its figure is then not an int8 figure. The second
  table lists these operators, with Thimble's figure if it has the same ones in float (`--quant NODE=float`).
- `gain`: Thimble's figure minus that of the best tool without operators in float, mean over the outputs. Empty if no such tool has
  {PEER_LEAST} dB.
- accuracy: in percent, mean of the seeds, of the float network, of Thimble and of the best other tool.
- `-`: the tool does not quantize the network, or Thimble refuses it.
"""


def decibels(values):
    return ", ".join("exact" if value is None else f"{value:.1f}" for value in values)


def mean_outputs(entries):
    """Returns the SQNR of each output, mean over the seeds; None if a seed has none."""
    if not entries or any(entry is None or "sqnr_db" not in entry for entry in entries):
        return None
    columns = zip(*[[EXACT if value is None else value for value in entry["sqnr_db"]] for entry in entries])
    return [None if fmean(column) == EXACT else fmean(column) for column in columns]


def mean_db(values):
    return fmean(EXACT if value is None else value for value in values)


def percent(entries, key):
    values = [entry[key] for entry in entries if entry and entry.get(key) is not None]
    return f"{100 * fmean(values):.1f}" if values and len(values) == len(entries) else ""


def listed(counts):
    return ", ".join(f"{count} {name}" if count > 1 else name for name, count in counts.items())


def cell(values, mark=""):
    return "-" if values is None else decibels(values) + mark


class Row:
    """The figures of one network."""

    def __init__(self, name, ours, peers):
        self.name, self.ours, self.peers = name, ours, peers
        self.seeds = sorted(ours)
        self.int8 = mean_outputs([ours[seed]["int8"] for seed in self.seeds])

    def of(self, peer):
        return [self.peers[seed].get(peer) for seed in self.seeds]

    def float_ops(self, peer):
        return next((entry["float_ops"] for entry in self.of(peer) if entry and entry.get("float_ops")), {})

    def db(self, peer):
        values = mean_outputs(self.of(peer))
        return None if values is None else mean_db(values)

    def best(self, with_float=False):
        """The tool with the largest SQNR; only those without operators in float, unless `with_float`."""
        found = [peer for peer in PEERS if self.db(peer) is not None and (with_float or not self.float_ops(peer))]
        return max(found, key=self.db, default=None)

    def gain(self):
        best = self.best()
        if best is None or self.db(best) < PEER_LEAST or self.int8 is None:
            return None
        return mean_db(self.int8) - self.db(best)

    def text(self):
        best, gain = self.best(with_float=True), self.gain()
        cells = [self.name, cell(self.int8), cell(mean_outputs([self.ours[seed]["executorch"] for seed in self.seeds]))]
        for peer in PEERS:
            cells.append(cell(mean_outputs(self.of(peer)), " *f*" if self.float_ops(peer) else ""))
        cells.append("" if gain is None else f"{gain:+.1f}")
        ours = [self.ours[seed]["int8"] for seed in self.seeds]
        cells += [percent(ours, "accuracy_float"), percent(ours, "accuracy"), percent(self.of(best), "accuracy") if best else ""]
        return f"| {' | '.join(cells)} |\n"

    def float_gains(self):
        """Yields (tool, its SQNR, Thimble's with the same operators in float, the operators) of tools with operators in float."""
        for peer in PEERS:
            if not self.float_ops(peer) or self.db(peer) is None:
                continue
            entries = [self.ours[seed].get(f"float as {peer}") for seed in self.seeds]
            mark = " *a*" if any(entry and entry.get("all_of_kind") for entry in entries) else ""
            yield peer, mean_outputs(self.of(peer)), mean_outputs(entries), mark, listed(self.float_ops(peer))


def readme(ours, peers):
    rows = [Row(name, entry, peers["networks"][name]) for name, entry in ours["networks"].items()]
    text = HEADER + "\n| network | Thimble | `--compat executorch` | " + " | ".join(PEERS.values())
    text += " | gain | float | Thimble | other |\n|---|" + "--:|" * (6 + len(PEERS)) + "\n"
    text += "".join(row.text() for row in rows)
    gains = {row.name: row.gain() for row in rows if row.gain() is not None}
    least = [f"{name} ({gain:+.2f} dB)" for name, gain in gains.items() if gain < -TOLERANCE]
    text += f"\nMean of the gains: {fmean(gains.values()):+.2f} dB over {len(gains)} networks. "
    text += f"{len(gains) - len(least)} of them are not below the best int8 tool minus {TOLERANCE} dB"
    text += f"; below it: {', '.join(least)}.\n" if least else ".\n"
    text += """
## Operators in float

| network | tool | SQNR | Thimble, int8 | Thimble, the same in float | in float |
|---|---|--:|--:|--:|---|
"""
    least = []
    for row in rows:
        for peer, theirs, same, mark, names in row.float_gains():
            text += f"| {row.name} | {PEERS[peer]} | {cell(theirs)} | {cell(row.int8)} | {cell(same, mark)} | {names} |\n"
            difference = mean_db(same or row.int8) - mean_db(theirs)
            if difference < -TOLERANCE:
                least.append(f"{row.name}, {PEERS[peer]} ({difference:+.2f} dB)")
    text += f"\nBelow the tool minus {TOLERANCE} dB with the same operators in float (or int8, if they cannot be): {'; '.join(least) or 'none'}.\n"
    text += """
*a*: all operators of these kinds, because the tool exports the network again and names them otherwise. `-`: the operators are no nodes
of the export, because the tool decomposes a recurrent layer or converts the network.

## Labelled samples

The networks with the shapes of MLPerf Tiny on 1,000 labelled samples that are in no file (`labelled.py`), in percent: the area under
the ROC curve for `ad_autoencoder`, accuracy for the others.

| network | float | int8 |
|---|--:|--:|
"""
    for name, entry in ours["labelled"].items():
        text += f"| {name} | {100 * entry['float']:.1f} | {100 * entry['int8']:.1f} |\n"
    return text
