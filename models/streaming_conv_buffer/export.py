"""streaming_conv_buffer: streaming_conv with its memory in two buffers, which each call moves on.

Argument `x` [1, 10, 7]; output place and loudness of the tone in each of the seven frames, [1, 2, 7].
"""

from pathlib import Path

from common.export import save
from common.streaming import CausalNet, calls, train, zero_state


class StreamingConvBuffer(CausalNet):
    def __init__(self):
        super().__init__()
        past1, past2 = zero_state()
        self.register_buffer("past1", past1)
        self.register_buffer("past2", past2)

    def forward(self, x):
        y, past1, past2 = self.step(x, self.past1, self.past2)
        self.past1.copy_(past1)
        self.past2.copy_(past2)
        return y


def build(out: Path):
    net = train(StreamingConvBuffer, seed=78)
    calibrate, test = calls(net, 7803)[0], calls(net, 7804)[0]
    save("streaming_conv_buffer", net, out, calibrate=(calibrate, None), test=(test, None))
