"""What stands between the pieces, under one name with one meaning.

A shape that one file alone speaks of stands in that file. The axes are the book's: B batch,
T queries, S keys, N tokens of a second text, H heads, G key-value heads, D d_model, C features of a
context, K and Kv head_dim, V vocabulary. A # lets an axis be 1.
"""

from collections.abc import Callable
from typing import Annotated

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pieces.checks import Divides, DtypeOf, LeftOut

Ids = Int[Tensor, "B T"]  # of tokens
Stream = Float[Tensor, "B T D"]  # the residual stream
Features = Float[Tensor, "*batch D"]  # the same, of any number of tokens
Logits = Float[Tensor, "*batch V"]

Queries = Float[Tensor, "B H T K"]
Keys = Annotated[Float[Tensor, "B G S K"], Divides("G", "H"), DtypeOf("q")]
Values = Annotated[Float[Tensor, "B G S Kv"], DtypeOf("q")]
Output = Float[Tensor, "B H T Kv"]
Weights = Float[Tensor, "B H T S"]
Score = Callable[[Tensor, Tensor], Tensor]

# Masks are bool, and True means "may attend". None is no mask, no bias.
Mask = Bool[Tensor, "#T #S"] | Bool[Tensor, "#B #H #T #S"] | None
Bias = Float[Tensor, "#T #S"] | Float[Tensor, "#B #H #T #S"] | None
KeyMask = Bool[Tensor, "T S"] | Bool[Tensor, "#B #H #T S"] | None  # says something of each key
PaddingMask = Bool[Tensor, "#B 1 1 #S"] | None  # as masks.padding makes it
Padding = Bool[Tensor, "B T"] | None  # of a prompt; True = a real token

Positions = Int[Tensor, "T"] | Int[Tensor, "#B T"]
KeyPositions = Int[Tensor, "S"] | Int[Tensor, "#B S"]

Context = Annotated[Float[Tensor, "B S C"] | None, LeftOut("x")]  # None: x itself
Memory = Float[Tensor, "B N C"]  # N tokens of a second text, beside the S keys of the own
MemoryMask = Bool[Tensor, "#T #N"] | Bool[Tensor, "#B #H #T #N"] | None

Device = torch.device | str | None
