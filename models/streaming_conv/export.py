"""streaming_conv: convolutions over an endless row of frames; what they remember is an argument and an output.

Arguments `x` [1, 10, 7], `past1` [1, 10, 4], `past2` [1, 16, 4]; outputs place and loudness of the tone in each of the
seven frames, [1, 2, 7], and the next `past1` and `past2`.
"""

from pathlib import Path

from common.export import save
from common.streaming import CausalNet, calls, train


class StreamingConv(CausalNet):
    def forward(self, x, past1, past2):
        return self.step(x, past1, past2)


def named(net, seed):
    return dict(zip(("x", "past1", "past2"), calls(net, seed)))


def build(out: Path):
    net = train(StreamingConv, seed=77)
    save("streaming_conv", net, out, calibrate=(named(net, 7703), None), test=(named(net, 7704), None))
