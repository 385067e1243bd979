# SPDX-License-Identifier: Apache-2.0
"""Vela's published cycle estimate, computed from a stream: the columns of its per-layer table.

Implements the description in docs/ethos-u.md ("Cycles"). It shares no code with the compiler's
cost model and the simulator's timeline, which are compared with it. A stream does not contain all
inputs of the formula. This file assumes:

 * A layer is a sequence of kernels that compute depth slices of one map, steps of a cascade, or a
   chain.
 * Weights are staged if their region is not the constants' region.
 * A transfer overlaps only with the previous layer: with all of it, or with its last slice if its
   own weights were staged.
"""

import math
from dataclasses import dataclass, field

OUTPUT_556 = {  # unary32, binary32, mul32, mul or acc40, add, maxpool, other; table, ReLU
    "ethos-u55-32": (2.0, 3.0, 3.0, 3.0, 6.0, 1.0, 2.0, 1.0, 1.0),
    "ethos-u55-64": (1.0, 1.5, 1.5, 1.5, 3.0, 0.5, 1.0, 1.0, 1.0),
    "ethos-u55-128": (0.75, 1.25, 0.75, 0.75, 1.5, 0.25, 0.5, 1.0, 0.5),
    "ethos-u55-256": (0.625, 1.125, 0.5, 0.375, 0.75, 0.125, 0.25, 1.0, 0.25),
    "ethos-u65-256": (0.625, 1.125, 0.5, 0.375, 0.75, 0.125, 0.25, 1.0, 0.25),
    "ethos-u65-512": (0.3125, 0.5625, 0.25, 0.1875, 0.375, 0.0625, 0.125, 0.5, 0.125),
}
OUTPUT_85 = {  # 8, 16, 32, 64 bits, narrowing, 32-bit binary; plain, swapped
    "ethos-u85-128": (0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 0.5, 1.0),
    "ethos-u85-256": (0.25, 0.25, 0.25, 0.5, 0.5, 0.5, 0.25, 0.5),
    "ethos-u85-512": (0.125, 0.125, 0.25, 0.5, 0.25, 0.25, 0.125, 0.25),
    "ethos-u85-1024": (0.0625, 0.125, 0.25, 0.5, 0.125, 0.25, 0.0625, 0.125),
    "ethos-u85-2048": (0.03125, 0.0625, 0.125, 0.25, 0.0625, 0.125, 0.03125, 0.0625),
}
UBLOCK = {"ethos-u55-32": (1, 1, 4), "ethos-u55-64": (1, 1, 8), "ethos-u55-128": (1, 2, 8),
          "ethos-u55-256": (2, 2, 8), "ethos-u65-256": (2, 2, 8), "ethos-u65-512": (2, 2, 8)}
U85_DEPTH = {128: 16, 256: 32, 512: 64, 1024: 128, 2048: 256}  # depth of a 1x1 microblock
CORES = {"ethos-u65-512": 2, "ethos-u85-512": 2, "ethos-u85-1024": 4, "ethos-u85-2048": 4}
# Words of the read buffers: copies, streamed maps, weights, fast weights, maps, scales.
READ_BUFFERS = {128: (64, 64, 128, 128, 104, 16), 256: (104, 104, 128, 128, 128, 16),
                512: (128, 128, 256, 256, 128, 16), 1024: (256, 256, 416, 208, 256, 16),
                2048: (256, 256, 512, 256, 256, 16)}
COPY, STREAM, WEIGHT, FAST, MAP, SCALE, WRITE = range(7)
# Height and width of the allocation units of an IFM block, by its depth in bits.
IFM_UNITS = {
    (128, "1X2"): ((1, 2), (1, 1), (1, 1)), (128, "1X1"): ((1, 2), (1, 1), (1, 1)),
    (256, "2X2"): ((2, 2), (1, 2), (1, 1)), (256, "1X2"): ((2, 2), (1, 2), (1, 1)),
    (256, "1X4"): ((1, 4), (1, 2), (1, 1)),
    (512, "2X2"): ((2, 2), (1, 2), (1, 1)), (512, "1X4"): ((1, 4), (1, 2), (1, 1)),
    (1024, "2X2"): ((2, 4), (2, 2), (1, 2)), (1024, "2X4"): ((2, 4), (2, 2), (1, 2)),
    (1024, "1X4"): ((2, 4), (1, 4), (1, 2)),
    (2048, "2X2"): ((4, 4), (2, 4), (2, 2)), (2048, "4X4"): ((4, 4), (2, 4), (2, 2)),
    (2048, "1X4"): ((4, 4), (2, 4), (1, 4)),
}


@dataclass
class Memory:
    rate: float      # bytes per cycle
    read: int        # latencies in cycles
    write: int
    burst: int
    ports: int = 1
    reads: int = 8
    writes: int = 8


SYSTEMS = {  # SRAM, external memory, memory mode
    "u55": (Memory(8, 32, 32, 32), Memory(1.0, 64, 0, 128), "shared"),
    "u65": (Memory(16, 32, 32, 32), Memory(3.75, 500, 250, 128), "dedicated"),
    "u85": (Memory(32, 32, 32, 64, 2, 8, 8), Memory(12, 500, 250, 128, 1, 64, 32), "dedicated"),
}
TABLE = Memory(1, 0, 0, 1, 1, 1000, 1000)


def up(a, b):
    return -(-a // b)


def rounded(a, b):
    return up(a, b) * b


@dataclass
class Map:
    shape: tuple     # height, width, depth
    bits: int
    brick: bool
    region: int
    chained: bool = False
    scalar: bool = False

    def elements(self, shape=None):
        h, w, d = shape or self.shape
        return h * w * d

    def stored(self, shape=None):
        h, w, d = shape or self.shape
        return h * w * (rounded(d, 16) if self.brick else d)


@dataclass
class Slice:
    depth: int
    bytes: int       # weights and scales
    weight_bytes: int


@dataclass
class Layer:
    kernel: object
    ifm: Map
    ofm: Map
    ifm2: Map = None
    slices: list = field(default_factory=list)
    ofm_block: tuple = ()
    chain: list = field(default_factory=list)  # kernels after the first
    weights_seen: set = field(default_factory=set)
    columns: dict = None
    op_cycles: float = 0

    @property
    def staged(self):
        return bool(self.slices) and self.kernel["WEIGHT_REGION"] != 0


def bits_of(kernel, name):
    return 8 << kernel.fields(name).get("precision", 0)


def is_set(value, *names):
    return value in names


class Formula:
    def __init__(self, config, operations):
        self.config = config
        self.generation = config.split("-")[1]
        self.macs = int(config.split("-")[2])
        self.u85 = self.generation == "u85"
        self.cores = CORES.get(config, 1)
        self.sram, self.external, self.mode = SYSTEMS[self.generation]
        self.operations = operations

    # Decoding of the stream ---------------------------------------------------------------------

    def ifm_shape(self, k):
        ofm = self.ofm_shape(k)
        if k.name == "ELEMENTWISE":
            return ofm
        if k.name == "RESIZE":
            return (k["KERNEL_HEIGHT_M1"] + 1, k["KERNEL_WIDTH_M1"] + 1, k["IFM_DEPTH_M1"] + 1)
        stride = self.stride(k)
        size = []
        for i, (axis, low, high) in enumerate((("HEIGHT", "TOP", "BOTTOM"),
                                               ("WIDTH", "LEFT", "RIGHT"))):
            n = ((ofm[i] - 1) * stride[i] + k[f"KERNEL_{axis}_M1"] + 1
                 - k[f"IFM_PAD_{low}"] - k[f"IFM_PAD_{high}"])
            size.append(up(n, 2) if k["IFM_UPSCALE"] not in (0, "NONE") else n)
        return (size[0], size[1], k["IFM_DEPTH_M1"] + 1)

    @staticmethod
    def ofm_shape(k):
        return (k["OFM_HEIGHT_M1"] + 1, k["OFM_WIDTH_M1"] + 1, k["OFM_DEPTH_M1"] + 1)

    @staticmethod
    def stride(k):
        f = k.fields("KERNEL_STRIDE")
        return (1 + f.get("stride_y_lsb", 0) + 2 * f.get("stride_y_msb", 0),
                1 + f.get("stride_x_lsb", 0) + 2 * f.get("stride_x_msb", 0))

    @staticmethod
    def kernel_size(k):
        f = k.fields("KERNEL_STRIDE")
        return (k["KERNEL_HEIGHT_M1"] // (1 + f.get("dilation_y", 0)) + 1,
                k["KERNEL_WIDTH_M1"] // (1 + f.get("dilation_x", 0)) + 1)

    def map_of(self, k, name, shape):
        f = k.fields(f"{name}_PRECISION")
        return Map(shape, bits_of(k, f"{name}_PRECISION"), f.get("format") == "NHCWB16",
                   k[f"{name}_REGION"], f.get("storage") == "CHAINED")

    def second(self, k):
        if k.name == "CONV" and k.mode == "WEIGHTS_IFM2":
            return self.map_of(k, "IFM2", (1, k["OFM_DEPTH_M1"] + 1, k["IFM_DEPTH_M1"] + 1))
        if k.name != "ELEMENTWISE" or k.mode in ("LRELU", "ABS", "CLZ", "NOT"):
            return None
        f = k.fields("IFM2_BROADCAST")
        mode = f.get("mode", f.get("h", 0) + 2 * f.get("w", 0) + 4 * f.get("c", 0))
        scalar = f.get("constant", 0) == 1 or mode == 8
        h, w, d = self.ofm_shape(k)
        shape = (1, 1, 1) if scalar else (1 if mode & 1 else h, 1 if mode & 2 else w,
                                          1 if mode & 4 else d)
        second = self.map_of(k, "IFM2", shape)
        second.scalar = scalar
        return second

    def weight_bytes(self, k):
        """Returns the bytes of weights and of scales, all cores."""
        weights = scales = 0
        if k.name in ("CONV", "DEPTHWISE") and k.mode != "WEIGHTS_IFM2":
            names = ["WEIGHT"] + [f"WEIGHT{i}" for i in range(1, self.cores)]
            weights = sum(k[f"{n}_LENGTH"] for n in names)
            scales = k["SCALE_LENGTH"]
            if self.config == "ethos-u65-512":
                scales += k["SCALE1_LENGTH"]
        return weights, scales

    def layer_of(self, k):
        ifm = self.map_of(k, "IFM", self.ifm_shape(k))
        ofm = self.map_of(k, "OFM", self.ofm_shape(k))
        layer = Layer(k, ifm, ofm, self.second(k))
        layer.ofm_block = (k["OFM_BLK_HEIGHT_M1"] + 1, k["OFM_BLK_WIDTH_M1"] + 1,
                           k["OFM_BLK_DEPTH_M1"] + 1)
        self.add_weights(layer, k)
        return layer

    def add_weights(self, layer, k):
        weights, scales = self.weight_bytes(k)
        if weights:
            layer.slices.append(Slice(k["OFM_DEPTH_M1"] + 1, rounded(weights, 16) + scales, weights))
            layer.weights_seen.add(self.weights_key(k, self.copies))

    @staticmethod
    def same_setup(a, b, *extra):
        names = ("IFM_PRECISION", "OFM_PRECISION", "IFM_ZERO_POINT", "OFM_ZERO_POINT",
                 "KERNEL_HEIGHT_M1", "KERNEL_WIDTH_M1", "KERNEL_STRIDE", "OFM_WIDTH_M1",
                 "IFM_REGION", "OFM_REGION", "IFM_STRIDE_Y", "OFM_STRIDE_X", "ACTIVATION",
                 "IFM_UPSCALE", *extra)
        # Unused registers: the window of elementwise operations, the address of a chained output.
        unread = ("KERNEL", "IFM_PAD", "IFM_UPSCALE") if a.name == "ELEMENTWISE" else ()
        if a.fields("OFM_PRECISION").get("storage") == "CHAINED":
            unread += ("OFM_REGION", "OFM_STRIDE")
        return a.name == b.name and a.mode == b.mode and all(
            a[n] == b[n] for n in names if not n.startswith(unread))

    def next_slice(self, layer, k):
        """Returns True if k computes the channels after those of the layer."""
        first = layer.kernel
        if k.name not in ("CONV", "DEPTHWISE") or not layer.slices:
            return False
        if not self.same_setup(first, k, "OFM_HEIGHT_M1", "IFM_PAD_TOP", "OFM_STRIDE_Y"):
            return False
        depth = layer.ofm.shape[2]
        if layer.ofm.chained:  # the end of the chain is not known yet
            return k.name == "CONV" and k["IFM_BASE0"] == first["IFM_BASE0"] and \
                k["IFM_DEPTH_M1"] == first["IFM_DEPTH_M1"] and \
                self.weights_key(k, self.copies) not in layer.weights_seen

        def moved(name, bits):
            brick = k.fields(f"{name}_PRECISION").get("format") == "NHCWB16"
            step = depth // 16 * k[f"{name}_STRIDE_C"] if brick else depth * bits // 8
            return k[f"{name}_BASE0"] - first[f"{name}_BASE0"] == step

        if not moved("OFM", layer.ofm.bits):
            return False
        if k.name == "DEPTHWISE":
            brick = k.fields("IFM_PRECISION").get("format") == "NHCWB16"
            inside = brick or (depth + k["IFM_DEPTH_M1"] + 1) * layer.ifm.bits // 8 <= \
                k["IFM_STRIDE_X"]
            return inside and moved("IFM", layer.ifm.bits)
        return k["IFM_BASE0"] == first["IFM_BASE0"] and k["IFM_DEPTH_M1"] == first["IFM_DEPTH_M1"]

    def weights_key(self, k, copies):
        """Returns region and address of the constants that contain the weights, before any copy."""
        region, base = k["WEIGHT_REGION"], k["WEIGHT_BASE"]
        for dma in reversed(copies):
            if dma.target_region == region and not dma.internal and \
                    dma.target <= base < dma.target + dma.length:
                return (dma.source_region, dma.source + base - dma.target)
        return (region, base)

    @staticmethod
    def next_rows(layer, k):
        """Returns True if k's inputs begin after the layer's; its output may be a rolling buffer."""
        rows = layer.ofm.shape[0]
        maps = ["IFM"]
        if layer.ifm2 is not None and not layer.ifm2.scalar:
            maps.append("IFM2")
        return rows > 1 and all(
            k[f"{m}_BASE0"] - layer.kernel[f"{m}_BASE0"] == rows * k[f"{m}_STRIDE_Y"] for m in maps)

    def stripe_of(self, layers, k):
        """Returns the layer whose rows k continues: with the same weights, or in its cascade."""
        weights = self.weight_bytes(k)[0]
        key = self.weights_key(k, self.copies)
        for layer in reversed(layers[-24:]):
            if not self.same_setup(layer.kernel, k, "OFM_DEPTH_M1", "IFM_DEPTH_M1", "OFM_SCALE"):
                continue
            if weights and (key not in layer.weights_seen or len(layer.slices) > 1):
                continue
            if not weights and not self.cascaded and \
                    not self.next_rows(layer, k):
                continue
            if not weights and layer.kernel["OFM_BASE0"] == k["OFM_BASE0"] and \
                    layer.kernel["IFM_BASE0"] == k["IFM_BASE0"]:
                continue
            self.cascaded = self.cascaded or bool(weights)
            return layer
        return None

    def layers(self):
        layers = []
        self.cascaded, self.copies = False, []
        for k in self.operations:
            if not hasattr(k, "name"):
                self.copies.append(k)
                continue
            chained = (k.fields("IFM_PRECISION").get("storage") == "CHAINED" or
                       k.fields("IFM2_PRECISION").get("storage") == "CHAINED" and
                       self.second(k) is not None or
                       k.fields("ACC_FORMAT").get("input") in ("KEEP", "IFM2"))
            if chained and layers:
                if len(layers[-1].slices) < 2:
                    layers[-1].chain.append(k)
                continue
            if layers and self.next_slice(layers[-1], k):
                layer = layers[-1]
                h, w, d = layer.ofm.shape
                layer.ofm.shape = (h, w, d + k["OFM_DEPTH_M1"] + 1)
                if k.name == "DEPTHWISE":
                    h, w, d = layer.ifm.shape
                    layer.ifm.shape = (h, w, d + k["IFM_DEPTH_M1"] + 1)
                block = layer.ofm_block
                layer.ofm_block = (block[0], block[1], max(block[2], k["OFM_BLK_DEPTH_M1"] + 1))
                self.add_weights(layer, k)
                continue
            stripe = self.stripe_of(layers, k)
            if stripe is not None:
                h, w, d = stripe.ofm.shape
                stripe.ofm.shape = (h + k["OFM_HEIGHT_M1"] + 1, w, d)
                ih, iw, idepth = stripe.ifm.shape
                step = 1 if k.name == "ELEMENTWISE" else self.stride(k)[0]
                extra = (k["OFM_HEIGHT_M1"] + 1) * step
                stripe.ifm.shape = (ih + extra, iw, idepth)
                continue
            self.cascaded = False
            layers.append(self.layer_of(k))
        return layers

    # The formula -------------------------------------------------------------------------------

    def memory(self, m):
        if m.scalar:
            return self.external
        if self.mode == "shared":
            return self.external if m.region == 0 else self.sram
        return self.sram if m.region == 2 else self.external

    def ublock(self, layer):
        k = layer.kernel
        if self.u85:
            size = k.fields("ACC_FORMAT").get("microblock", "1X1").split("X")
            h, w = int(size[0]), int(size[1])
            return (h, w, U85_DEPTH[self.macs] // (h * w))
        block = UBLOCK[self.config]
        if block[0] == 2 and k.name == "CONV" and layer.ofm.shape[0] == 1 and \
                layer.ofm.shape[1] % 2 == 0 and self.kernel_size(k)[0] == 1:
            return (1, 4, block[2])
        return block

    def slice_depth(self, layer):
        """Returns the depth of the IFM block of a convolution."""
        k = layer.kernel
        bits, depth = layer.ifm.bits, layer.ifm.shape[2]
        part = k.fields("KERNEL_STRIDE").get("weight_order", 0) == 1
        if not self.u85:
            if bits == 16:
                return rounded(min(depth, 16), 4)
            return rounded(min(depth, 16 if part else 32), 8)
        sparse = k.fields("WEIGHT_FORMAT").get("sparse", 0) == 1 and k.name == "CONV"
        if part and k.name == "CONV":
            return 16
        if bits == 32 or (self.macs <= 256 and self.ublock(layer)[2] == 16 and not sparse):
            return 32
        return 128 if sparse and bits == 8 else 64

    def mixes(self, k):
        return k.name == "CONV" or (k.name == "POOL" and k.mode == "REDUCE_SUM")

    def ifm_block(self, layer):
        k = layer.kernel
        if k.name == "ELEMENTWISE":
            return layer.ofm_block
        depth = self.slice_depth(layer) if self.mixes(k) else layer.ofm_block[2]
        if self.u85:
            bits = depth * layer.ifm.bits
            unit = 2 if bits > 256 else 1 if bits > 128 else 0
            micro = k.fields("ACC_FORMAT").get("microblock", "1X1")
            units = IFM_UNITS.get((self.macs, micro), ((1, 1),) * 3)[unit]
        else:
            units = UBLOCK[self.config][:2]
        size = []
        upscaled = k["IFM_UPSCALE"] not in (0, "NONE")
        for i, axis in enumerate(("HEIGHT", "WIDTH")):
            n = (layer.ofm_block[i] - 1) * self.stride(k)[i] + min(k[f"KERNEL_{axis}_M1"] + 1, 8)
            if upscaled:
                n = up(n + (1 if k["IFM_UPSCALE"] == "NEAREST" else 0), 2)
            size.append(rounded(n, units[i]))
        return (size[0], size[1], depth)

    def transfer(self, m, memory, read, block, elements):
        """Returns the amount moved, with burst overhead, in the unit of `elements`."""
        bits = m.bits
        if m.brick:
            run = 16 * bits * block[1] * (1 if read or self.u85 else self.cores)
            if m.shape[1] * 2 * bits == block[2]:
                run = bits * block[1] * block[2]
        else:
            dense = m.shape[2] * bits // 8 == block[2]
            if read:
                run = bits * block[2] * (block[1] if dense else 1)
            elif block[2] <= 16 and dense:
                run = bits * block[1] * block[2]
            else:
                cores = 1 if self.u85 else self.cores
                run = min(64 * 8, 16 * bits * cores, block[2] * bits)
        return elements * memory.burst // min(memory.burst, max(run // 8, 1))

    def block_cycles(self, layer, m, read, block):
        memory = self.memory(m)
        shape = [min(a, b) for a, b in zip(m.shape, block)]
        moved = self.transfer(m, memory, read, block, math.prod(shape) * m.bits // 8)
        return (memory.read if read else memory.write) + int(moved / memory.rate)

    def output_rate_of(self, k, ifm, ofm, chained):
        if not self.u85:
            row = OUTPUT_556[self.config]
            elementwise = k.name == "ELEMENTWISE"
            if elementwise and ifm.bits == 32:
                return row[0] if self.second(k) is None else row[1]
            if elementwise and k.mode == "MUL":
                return row[2] if ofm.bits == 32 else row[3]
            if not elementwise and k.fields("ACC_FORMAT").get("format") == "I40":
                return row[3]
            if elementwise and k.mode in ("ADD", "SUB"):
                return row[4]
            return row[5] if k.name == "POOL" and k.mode == "MAX" else row[6]
        row = OUTPUT_85[self.config]
        if k.name == "ELEMENTWISE" and k.mode == "DIV":
            return 33
        if chained and 32 in (ifm.bits, ofm.bits):
            return row[4]
        if k.name == "ELEMENTWISE" and self.second(k) is not None and ifm.bits == 32:
            return row[5] if ofm.bits == 32 else row[4]
        return row[{8: 0, 16: 1, 32: 2}[ofm.bits]]

    def activation_rate(self, k):
        if not self.u85:
            # As in Vela 5.1.0: only a ReLU costs less than a table.
            table = k.fields("ACTIVATION").get("function", "NONE") != "NONE"
            relu = not table and k["ACTIVATION_MIN"] >= k["OFM_ZERO_POINT"]
            return OUTPUT_556[self.config][8 if relu else 7]
        if k.fields("ACTIVATION").get("function", "NONE") != "NONE":
            return OUTPUT_85[self.config][6]
        f = k.fields("OFM_PRECISION")
        if f.get("transpose") in ("WHC", "WCH", "CWH") or f.get("reverse") == "W":
            return OUTPUT_85[self.config][7]
        plain = f.get("transpose", "HWC") != "HWC" or f.get("reverse", "NONE") != "NONE"
        return OUTPUT_85[self.config][6] if plain else 0

    def output_rate(self, layer):
        rate = 0
        for k in [layer.kernel, *layer.chain]:
            ifm = self.map_of(k, "IFM", (1, 1, 1))
            ofm = self.map_of(k, "OFM", (1, 1, 1))
            rate += max(self.output_rate_of(k, ifm, ofm, ofm.chained), self.activation_rate(k))
        return rate

    def multiply_cycles(self, layer, ofm_shape):
        k = layer.kernel
        ublock = self.ublock(layer)
        ofm_block = [min(a, b) for a, b in zip(ofm_shape, layer.ofm_block)]
        ifm_depth = min(layer.ifm.shape[2], self.ifm_block(layer)[2])
        counts = [up(a, b) for a, b in zip(ofm_block, ublock)]
        area = counts[0] * counts[1]
        bits = layer.ifm.bits
        wide = k.fields("ACC_FORMAT").get("format") in ("I40", "I48")
        weights = 32 * ublock[2] // (8 * (self.cores if self.u85 else 1))
        small = self.config == "ethos-u55-32"
        delay = (7 if wide else 3) if small else (3 if wide and self.macs <= 128 else 2)
        part = k.fields("KERNEL_STRIDE").get("weight_order", 0) == 1 and k.name == "CONV"
        half = 2 if k.fields("WEIGHT_FORMAT").get("sparse", 0) == 1 and k.name == "CONV" else 1
        height, width = self.kernel_size(k)
        total = 0
        for x in range(0, width, 8):
            for y in range(0, height, 8):
                elements = min(8, height - y) * min(8, width - x)
                steps = 1
                if k.name == "POOL" and k.mode != "REDUCE_SUM":
                    cycles = max(4, elements) * math.prod(counts) * (1 if small else bits // 2)
                elif k.name == "DEPTHWISE":
                    steps = up(elements, 4)
                    cycles = max(weights, 4 * area * bits // 8) * steps * counts[2]
                elif not part:
                    steps = elements
                    step = ifm_depth // 8 * area if self.u85 else 4 * area
                    cycles = max(weights, step) * steps * counts[2]
                    cycles = cycles * (bits // 8 if self.u85 else 1) // half
                else:
                    steps = up(elements, 2 if bits == 16 else 4)
                    cycles = max(weights, 4 * area) * steps * counts[2] * up(ifm_depth, 8) // half
                lost = 0
                if area == 1:
                    if counts[2] == 1:
                        lost = delay * steps
                    elif steps > 1:
                        lost = delay * (steps - 1) * counts[2]
                if small and (counts[0] == 1 or counts[1] == 1) and counts[2] > 1 and wide:
                    lost += delay * counts[2]
                if part:
                    lost *= up(ifm_depth, 8)
                total += cycles + lost
        if self.mixes(k):
            total *= up(layer.ifm.shape[2], ifm_depth)
        return total if self.u85 else total // self.cores

    def kernel_cycles(self, layer, ofm_shape, first=True, last=True):
        k = layer.kernel
        if k.name == "RESIZE":
            return 0
        rate = self.output_rate(layer)
        ofm = Map(ofm_shape, layer.ofm.bits, layer.ofm.brick, layer.ofm.region, layer.ofm.chained)
        if layer.ofm.chained:  # counted as if it were in the arena
            ofm.region = 1
        ifm_block = self.ifm_block(layer)
        reads = [layer.ifm] + ([layer.ifm2] if layer.ifm2 else [])
        ifm_cycles = max(self.block_cycles(layer, m, True, ifm_block) for m in reads)
        ofm_cycles = self.block_cycles(layer, ofm, False, layer.ofm_block)
        if k.name == "ELEMENTWISE":
            elements = ofm.stored()
            output = math.ceil(rate * elements)
            issue = max(ifm_cycles, ofm_cycles) / math.prod(layer.ofm_block) + rate
            return max(math.ceil(issue / 4 * elements), output)
        block = [min(a, b) for a, b in zip(ofm_shape, layer.ofm_block)]
        ublock = self.ublock(layer)
        count = math.prod(up(a, b) for a, b in zip(ofm_shape, ublock)) / \
            math.prod(up(a, b) for a, b in zip(block, ublock))
        output = math.ceil(rate * math.prod(block))
        if layer.slices:
            source = self.sram if layer.staged else self.external
            output = max(output, 10 * block[2] * source.read / 256)
        multiply = self.multiply_cycles(layer, ofm_shape)
        apart = abs(ofm_cycles - ifm_cycles) if count > 1 else 0
        issue = (apart + multiply + output) / 4
        multiply, output = max(multiply, issue), max(output, issue)
        if multiply > output:
            total = int(multiply * count) + (output if last else 0)
        else:
            total = output * count + multiply
        return int(total) + (ofm_cycles if last else 0) + (ifm_cycles if first else 0)

    def channel(self, memory, channel):
        """Returns the bytes per cycle of one kind of access, U85."""
        if not self.u85:
            return memory.rate
        words = max(memory.burst // 16, 1)
        if channel == WRITE:
            limit, most, latency = math.inf, memory.writes, memory.write
        else:
            limit = READ_BUFFERS[self.macs][channel] // 1 / words
            most, latency = memory.reads, memory.read
        used = min(limit, most * memory.ports * 0.8)
        return min(memory.rate, memory.burst * used / latency * 0.8 if latency else math.inf)

    def copy_cycles(self, target, source, size):
        read = int(size / self.channel(source, COPY)) + source.read
        write = int(size / (self.channel(target, WRITE) if target is not TABLE else 1))
        return max(read, write + target.write)

    def map_channel(self, k, second):
        streamed = k.name in ("ELEMENTWISE", "RESIZE") or (second and k.mode == "WEIGHTS_IFM2")
        return STREAM if streamed else MAP

    def ifm_reads(self, layer):
        """Returns the elements read per input, with overlaps, and the number of weight reads."""
        k = layer.kernel
        if k.name in ("ELEMENTWISE", "RESIZE"):
            return self.elementwise_reads(layer), 0
        ifm_block = [min(a, b) for a, b in zip(layer.ifm.shape, self.ifm_block(layer))]
        ofm_block = [min(a, b) for a, b in zip(layer.ofm.shape, layer.ofm_block)]
        blocks = [up(a, b) for a, b in zip(layer.ofm.shape, ofm_block)]
        if not self.mixes(k):
            blocks[2] = 1
        height, width = self.kernel_size(k)
        depth = rounded(layer.ifm.shape[2], 16) if layer.ifm.brick else layer.ifm.shape[2]
        fetch = ifm_block[0] * ifm_block[1] * depth
        reads = [fetch * up(height, 8) * up(width, 8) * math.prod(blocks)]
        if layer.ifm2:
            reads.append(0)
        return reads, blocks[0] * blocks[1]

    def elementwise_reads(self, layer):
        """As in Vela 5.1.0, an element of any width counts as one access."""
        first, second, ofm = layer.ifm, layer.ifm2, layer.ofm
        if self.u85:
            return [0 if m.elements() == 1 else m.stored() for m in (first, second) if m]
        whole = Map(ofm.shape, ofm.bits, first.brick, 0).stored()
        swapped = second is not None and second.scalar and \
            layer.kernel.fields("IFM2_BROADCAST").get("operand_order", 0) == 1
        if swapped:  # the scalar is the first operand; the other operand is not counted
            return [0, 1 if second.bits > 8 else 0]
        if first.elements() == 1:
            return [1, 0] if first.bits > 8 else [0, whole]
        one = 1 if second is not None and second.bits > 8 else 0
        return [whole] + ([whole if second.elements() > 1 else one] if second else [])

    def access_cycles(self, layer, first_bytes):
        """Returns the cycles of the SRAM and of the external memory."""
        k = layer.kernel
        moved = {id(self.sram): {}, id(self.external): {}}

        def add(memory, channel, amount):
            table = moved[id(memory)]
            table[channel] = table.get(channel, 0) + amount

        reads, refetch = self.ifm_reads(layer)
        ifm_block = self.ifm_block(layer)
        for i, m in enumerate([layer.ifm] + ([layer.ifm2] if layer.ifm2 else [])):
            memory = self.memory(m)
            amount = self.transfer(m, memory, True, ifm_block, reads[i])
            add(memory, self.map_channel(k, i == 1), amount)
        ofm = layer.ofm
        if not ofm.chained and k.fields("ACC_FORMAT").get("output", 0) == 0:
            memory = self.memory(ofm)
            add(memory, WRITE, self.transfer(ofm, memory, False, layer.ofm_block, ofm.stored()))
        for c in layer.chain:
            self.add_chained(layer, c, add)
        if layer.slices:
            total = sum(s.bytes for s in layer.slices)
            weights = sum(s.weight_bytes for s in layer.slices)
            fast = k.fields("WEIGHT_FORMAT").get("fast", 0) == 1
            channel = FAST if fast else WEIGHT
            if layer.staged:
                rest = max(weights - first_bytes, 0)
                add(self.external, COPY, rest)
                add(self.sram, WRITE, rest)
                add(self.sram, channel, refetch * weights)
            else:
                add(self.external, WEIGHT, refetch * weights)
            add(self.external, SCALE, refetch * (total - weights))
        result = []
        for memory in (self.sram, self.external):
            table = moved[id(memory)]
            each = [int(b / self.channel(memory, c)) for c, b in table.items()]
            result.append(max([int(sum(table.values()) / memory.rate), *each, 0]))
        return result

    def add_chained(self, layer, k, add):
        second = self.second(k)
        shape = self.ofm_shape(k)
        if shape[:2] == layer.ofm.shape[:2]:
            shape = layer.ofm.shape
            if second is not None and second.shape == self.ofm_shape(k):
                second.shape = shape
        maps = [(self.map_of(k, "IFM", shape), True)]
        if second is not None and not second.scalar:
            maps.append((second, True))
        maps.append((self.map_of(k, "OFM", shape), False))
        maps = [pair for pair in maps if not pair[0].chained]
        # One map per operation of a chain is counted. An activation counts as its own operation.
        followed = k["ACTIVATION_MIN"] >= k["OFM_ZERO_POINT"] or \
            k.fields("ACTIVATION").get("function", "NONE") != "NONE"
        for m, read in maps if followed else maps[:1]:
            memory = self.memory(m)
            block = self.ifm_block(layer) if read else layer.ofm_block
            add(memory, self.map_channel(k, False) if read else WRITE,
                self.transfer(m, memory, read, block, m.stored()))

    def table_bytes(self, layer):
        for k in [layer.kernel]:
            if k.name != "POOL":
                continue  # only tables of POOL operations are counted
            function = str(k.fields("ACTIVATION").get("function", "NONE"))
            if function in ("NONE", "TANH", "SIGMOID") and not (self.u85 and function != "NONE"):
                continue
            if self.u85:
                return {"U8_TO_U8": 256, "I8_TO_I8": 256, "I8_TO_I16": 512,
                        "I8_TO_I32": 1024}.get(function, 2048)
            return {8: 256, 16: 2048, 32: 1024}[bits_of(k, "OFM_PRECISION")]
        return 0

    def columns(self):
        """Returns [(layer, NPU cycles, SRAM cycles, cycles of the external memory)]."""
        rows, slack, first_layer = [], 0, True
        for layer in self.layers():
            layer.op_cycles = self.kernel_cycles(layer, layer.ofm.shape)
            cycles, own_slack, first_bytes = layer.op_cycles, layer.op_cycles, 0
            table = self.table_bytes(layer)
            table_cycles = self.copy_cycles(TABLE, self.external, table) if table else 0
            if layer.staged:
                h, w, _ = layer.ofm.shape
                if len(layer.slices) > 1:
                    own_slack = self.kernel_cycles(layer, (h, w, layer.slices[-1].depth), first=False)
                total = sum(s.bytes for s in layer.slices)
                first = self.copy_cycles(self.sram, self.external, layer.slices[0].bytes)
                whole = self.copy_cycles(self.sram, self.external, total)
                first_bytes = 0 if first_layer else layer.slices[0].bytes
                cycles = max(whole - slack + own_slack, cycles + max(first - slack, 0))
            else:
                table_cycles = max(table_cycles - slack, 0)
            sram, external = self.access_cycles(layer, first_bytes)
            rows.append((layer, cycles + table_cycles, sram, external))
            slack, first_layer = own_slack, False
        return rows
