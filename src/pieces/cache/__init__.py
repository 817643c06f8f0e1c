"""Keys and values of earlier tokens, kept so that a new token costs one step and not a whole text.

    GrowingCache    everything, in one strip of memory a layer
    RollingCache    the last ``window`` keys only
    PagedCache      many sequences in blocks of one pool, which may share a common beginning

All obey ``Cache``: ``cache.update(layer, k, v)`` stores new keys and gives back all of them, and
``cache[layer]`` is what an attention layer is handed. Attention with a cache equals attention to
the whole text, and so do its gradients; but without ``torch.no_grad()`` each step keeps its graph,
and a growing cache copies the whole text at every step. A compiled step must get its
cache as an argument; a cache it finds elsewhere is a constant to the compiler, new at every length.
"""

from pieces.cache.growing import GrowingCache, RollingCache
from pieces.cache.paged import PagedCache
from pieces.cache.paged_batch import PagedBatch
from pieces.cache.protocol import Cache, LayerCache

__all__ = ["Cache", "GrowingCache", "LayerCache", "PagedBatch", "PagedCache", "RollingCache"]
