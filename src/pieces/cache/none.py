"""No cache, as an object: it remembers nothing, and asks for no special case."""

from jaxtyping import Float
from torch import Tensor

from pieces.cache.protocol import Cache, KeysValues


class NoCache(Cache):
    """Gives back the new keys and values, and forgets them."""

    def update(
        self, layer: int, k: Float[Tensor, "B G T K"], v: Float[Tensor, "B G T Kv"]
    ) -> KeysValues:
        """See ``Cache.update``."""
        return k, v

    def length(self, layer: int = 0) -> int:
        """See ``Cache.length``."""
        return 0


NO_CACHE = NoCache()[0]
