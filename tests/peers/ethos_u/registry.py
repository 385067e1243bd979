# SPDX-License-Identifier: Apache-2.0
"""The list of cases. A case is a name, a function that builds its network, and its reference."""

from dataclasses import dataclass
from typing import Callable

ALL = ("u55", "u65", "u85")
CASES = {}


@dataclass(frozen=True)
class Case:
    name: str
    build: Callable  # seed -> tflite_net.Net or tosa_net.Net
    generations: tuple = ALL
    reference: bool = True  # see reference.litert
    distinct: int = 8  # an output with fewer distinct values would prove nothing
    group: str = "op"  # or "network"
    options: tuple = ()  # options of Vela

    @property
    def seed(self):
        """A seed per name, so that adding a case does not change other cases."""
        number = 0x811C9DC5
        for letter in self.name.encode():
            number = (number ^ letter) * 0x01000193 & 0xFFFFFFFF
        return number


def add(name, build, **fields):
    if name in CASES:
        raise ValueError(f"two cases are called {name}")
    CASES[name] = Case(name, build, **fields)
