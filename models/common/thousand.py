"""The task of the networks with a thousand classes: ten patterns by ten periods by ten colours.

They are trained on small pictures, where a step is cheap, then their batch-norm statistics settle on pictures of full size.
"""

import torch
from torch import nn

from .export import on_grid
from .textures import thousand_classes


def data(count, seed, size):
    images, labels = thousand_classes(count, seed, size)
    return torch.from_numpy(on_grid(images)), torch.from_numpy(labels)


def stream(count, size, seed):
    while True:
        yield data(count, seed, size)
        seed += 1


def composed_loss(logits, labels):
    """Cross entropy over the classes and, as each is a triple, over its pattern, period and colour."""
    loss = 0.1 * nn.functional.cross_entropy(logits, labels)
    cube = torch.log_softmax(logits, 1).view(-1, 10, 10, 10)
    for digit, others in ((labels // 100, (2, 3)), (labels // 10 % 10, (1, 3)), (labels % 10, (1, 2))):
        loss = loss + nn.functional.nll_loss(torch.logsumexp(cube, others), digit)
    return loss


def settle(model, pictures):
    """Sets each batch-norm's statistics to the average over batches of full-size pictures."""
    norms = [m for m in model.modules() if isinstance(m, nn.BatchNorm2d)]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # a plain average
    model.train()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.eval()
    with torch.no_grad():
        for batch in pictures.split(16):
            model(batch)
    model.eval()


def digits_right(logits, labels):
    guess = logits.argmax(1)
    return [
        round((a == b).float().mean().item(), 3)
        for a, b in ((guess // 100, labels // 100), (guess // 10 % 10, labels // 10 % 10), (guess % 10, labels % 10))
    ]
