"""The list of cases. A case is a name, a function that builds its network, and its judge."""

from dataclasses import dataclass
from typing import Callable

ALL = ("u55", "u65", "u85")
CASES = {}


@dataclass(frozen=True)
class Case:
    name: str
    build: Callable  # seed -> tflite_net.Net or tosa_net.Net
    generations: tuple = ALL
    reference: bool = True  # see judge.litert
    distinct: int = 8  # an output with fewer values than this would say nothing
    group: str = "op"  # or "network"
    options: tuple = ()  # of Vela

    @property
    def seed(self):
        """Its own for every name, so that no case changes when another is added."""
        number = 0x811C9DC5
        for letter in self.name.encode():
            number = (number ^ letter) * 0x01000193 & 0xFFFFFFFF
        return number


def add(name, build, **fields):
    if name in CASES:
        raise ValueError(f"two cases are called {name}")
    CASES[name] = Case(name, build, **fields)
