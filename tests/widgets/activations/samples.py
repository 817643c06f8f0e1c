"""Activations: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import Activations

# What may be told as a power of ten, by where it stands: a bend's values.
NO_CHANCE = r"What goes in|What passes"
# A widget, and what a reader does with it.
PICTURES = {
    "bends": (lambda: Activations(functions=["relu", "gelu", "gelu_tanh", "swish", "cdf"],
                                  slopes=True, beta=1.7, x=-1.3), None),
    "an S": (lambda: Activations(functions=["cdf"], x=0.4), None),
    "gate": (lambda: Activations(view="gate", gate="geglu"), None),
    "size": (lambda: Activations(view="size", d_model=4096, multiple_of="256"), None),
}  # fmt: skip
