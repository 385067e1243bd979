# SPDX-License-Identifier: Apache-2.0
"""The networks of detector.py: how each is built, its loss, and what of it is exported.

`model` is the module to train, `loss(images, boxes)` its loss for images [n, 3, size, size] and boxes (one tensor
[m, 5] per image: class, then x, y, width and height in pixels). `detector()` is the module to export: boxes [1, 4, n] in
pixels (x and y of the center, width, height) and scores [1, classes, n], each output with a scale of its own.
"""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "zoo"))
import builders  # noqa: E402, F401  lets torchvision load beside PyTorch for CPU


class Yolo:
    """A network of ultralytics."""

    def __init__(self, configuration, classes, size):
        from ultralytics.nn.tasks import DetectionModel
        from ultralytics.utils import DEFAULT_CFG

        self.size = size
        self.model = DetectionModel(configuration, nc=classes, verbose=False)
        self.model.args = DEFAULT_CFG

    def loss(self, images, boxes):
        rows = torch.cat([torch.cat([torch.full((len(b), 1), float(i)), b], 1) for i, b in enumerate(boxes)])
        batch = {"img": images, "batch_idx": rows[:, 0], "cls": rows[:, 1:2], "bboxes": rows[:, 2:] / self.size}
        return self.model(batch)[0].sum() / len(images)

    def detector(self):
        return YoloDetector(self.model)


class YoloDetector(torch.nn.Module):
    """The decoded boxes and scores before the selection of the best ones. A network with two heads (YOLO26) uses the
    one that has one box per object."""

    def __init__(self, model):
        super().__init__()
        self.inner = model
        model.end2end = False  # no top-k in the network, and boxes by their center

    def forward(self, x):
        y, parts = self.inner(x)
        if "one2one" in parts:
            y = self.inner.model[-1]._inference(parts["one2one"])
        return y[:, :4], y[:, 4:]


class SsdLite:
    """SSDlite with MobileNetV3 of torchvision. Class 0 of its head is the background."""

    def __init__(self, classes, size):
        from torchvision.models.detection import ssdlite320_mobilenet_v3_large

        self.model = ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=classes + 1)
        for module in self.model.modules():  # torchvision's momentum needs more steps than this training has
            if isinstance(module, torch.nn.BatchNorm2d):
                module.momentum = 0.1
        self.model.transform.fixed_size = (size, size)

    def loss(self, images, boxes):
        targets = [{"boxes": torch.cat([b[:, 1:3] - b[:, 3:] / 2, b[:, 1:3] + b[:, 3:] / 2], 1),
                    "labels": b[:, 0].long() + 1} for b in boxes]
        return sum(self.model(list(images), targets).values())

    def detector(self):
        return SsdDetector(self.model)


class SsdDetector(torch.nn.Module):
    """Backbone, head and decoded boxes, as in torchvision's SSD.forward before postprocess_detections."""

    def __init__(self, model):
        super().__init__()
        self.inner = model

    def forward(self, x):
        from torchvision.models.detection.image_list import ImageList

        features = list(self.inner.backbone((x - 0.5) / 0.5).values())
        found = self.inner.head(features)
        anchors = self.inner.anchor_generator(ImageList(x, [x.shape[-2:]]), features)[0]
        dx, dy, dw, dh = (found["bbox_regression"][..., i] / w for i, w in enumerate(self.inner.box_coder.weights))
        limit = self.inner.box_coder.bbox_xform_clip
        size = anchors[:, 2:] - anchors[:, :2]
        center = anchors[:, :2] + size / 2
        boxes = torch.stack([dx * size[:, 0] + center[:, 0], dy * size[:, 1] + center[:, 1],
                             dw.clamp(max=limit).exp() * size[:, 0], dh.clamp(max=limit).exp() * size[:, 1]], 1)
        return boxes, found["cls_logits"].softmax(-1)[..., 1:].transpose(1, 2)


NETWORKS = {
    "yolov8n": lambda classes, size: Yolo("yolov8n.yaml", classes, size),
    "yolo11n": lambda classes, size: Yolo("yolo11n.yaml", classes, size),
    "yolo26n": lambda classes, size: Yolo("yolo26n.yaml", classes, size),
    "ssdlite320_mobilenet_v3": SsdLite,
}
