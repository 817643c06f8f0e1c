"""Parts of a decoder-only model by name, each of which can be pulled out for a while.

    parts(model)                                     # "positions", "layer.1.head.1", ..., "norm"
    with without(model, ["layer.2.head.4"]):
        model(ids)                                   # as if that head had nothing to say

Layers, heads and experts are counted from 1, as the book does when it says "head 2.4".
The page's twin of a model takes the same names.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from pieces.blocks import Block
from pieces.checks import checked, refuse, require
from pieces.models.attention_only import AttentionBlock
from pieces.models.decoder_only import DecoderOnly
from pieces.moe import Router
from pieces.positions import Rotary, Rotation
from pieces.residual import PreNorm

BLOCKS = (Block, AttentionBlock)


@checked
def parts(model: DecoderOnly) -> list[str]:
    """Names of what can be pulled out, from the words up to the next word.

    "positions": tokens no longer know where they stand. "layer.1.attention.norm": the norm before
    the attention lets everything through. "layer.1.head.2": this head adds nothing.
    "layer.1.attention": the whole sublayer adds nothing. "layer.1.attention.path": the stream no
    longer passes by, only what the attention writes goes on. The same for ``feed_forward``, whose
    experts, where it has any, are "layer.1.expert.3". "norm": the final norm.
    """
    return list(_switches(model))


@checked
@contextmanager
def without(model: DecoderOnly, off: Sequence[str]) -> Iterator[None]:
    """Inside the ``with``, the parts named in ``off`` are out; then they are back.

    Raises: ValueError if the model has no part of this name, or is not built with ``PreNorm``.
    """
    known = _switches(model)
    unknown = [name for name in off if name not in known]
    require(not unknown, "off", unknown, "must name parts of the model", f"choose from {[*known]}")
    with ExitStack() as hooks:
        for name in dict.fromkeys(sorted(off, key=_paths_last)):
            for handle in known[name]():
                hooks.callback(handle.remove)
        yield


def _paths_last(name: str) -> bool:
    """What a sublayer writes is known only after the sublayer itself has been pulled out."""
    return name.endswith(".path")


def _switches(model: DecoderOnly) -> dict[str, Callable[[], list]]:
    """Each name, and what hooks it in."""
    plain = isinstance(model.embedding_norm, nn.Identity)
    require(plain, "embedding_norm", "a norm", "must not be there", "watch the model with record")
    found: dict[str, Callable[[], list]] = {}
    if isinstance(model.position, Rotary):
        found["positions"] = lambda: [_unturned(block) for block in model.stack.blocks]
    elif model.position.acts():
        found["positions"] = lambda: _replaced(model.embedding, model.embedding_norm)
    for layer, block in enumerate(model.stack.blocks, 1):
        require(isinstance(block, BLOCKS), "block", type(block).__name__, "must be a Block", "-")
        found |= {f"layer.{layer}.{name}": hook for name, hook in _of_block(block).items()}
    return found | {"norm": lambda: [model.stack.final_norm.register_forward_hook(_let_through)]}


def _of_block(block: nn.Module) -> dict[str, Callable[[], list]]:
    """The switches of one layer, in the order in which its parts work."""
    heads = {
        f"head.{head + 1}": lambda head=head: [_silent_head(block.attention.core, head)]
        for head in range(block.attention.n_heads)
    }
    found = _of_sublayer("attention", block.attention, block.attention_residual, heads)
    if not isinstance(block, Block):
        return found
    feed, experts = block.feed_forward, {}
    router = getattr(feed, "router", None)
    if isinstance(router, Router):
        experts = {
            f"expert.{expert + 1}": lambda expert=expert: [_silent_expert(router, expert)]
            for expert in range(router.n_experts)
        }
    return found | _of_sublayer("feed_forward", feed, block.feed_forward_residual, experts)


def _of_sublayer(
    name: str, sublayer: nn.Module, residual: nn.Module, inner: dict[str, Callable[[], list]]
) -> dict[str, Callable[[], list]]:
    """Norm, what is inside, the sublayer whole, the path around it."""
    if not isinstance(residual, PreNorm):
        refuse(name, type(residual).__name__, "must stand in a PreNorm", "watch it with record")
    return {
        f"{name}.norm": lambda: [residual.norm.register_forward_hook(_let_through)],
        **inner,
        name: lambda: [sublayer.register_forward_hook(_silent)],
        f"{name}.path": lambda: _replaced(sublayer, residual),
    }


def _let_through(module: nn.Module, args: tuple, output: Tensor) -> Tensor:
    """Forward hook: the input is the output."""
    return args[0]


def _silent(module: nn.Module, args: tuple, output: Tensor) -> Tensor:
    """Forward hook: nothing is added to the stream."""
    return torch.zeros_like(output)


def _silent_head(core: nn.Module, head: int) -> Any:
    def hook(module: nn.Module, args: tuple, output: tuple) -> tuple:
        heads, weights = output
        others = torch.ones(heads.shape[1], dtype=heads.dtype, device=heads.device)
        others[head] = 0
        return heads * others[:, None, None], weights

    return core.register_forward_hook(hook)


def _silent_expert(router: Router, expert: int) -> Any:
    """Whoever chose this expert gets nothing from it; the other shares stay as they are."""

    def hook(module: nn.Module, args: tuple, chosen: Any) -> Any:
        return chosen._replace(weights=chosen.weights * (chosen.experts != expert))

    return router.register_forward_hook(hook)


def _replaced(source: nn.Module, target: nn.Module) -> list:
    """What ``target`` would give is what ``source`` gave before."""
    kept: list[Tensor] = []

    def keep(module: nn.Module, args: tuple, output: Tensor) -> None:
        kept[:] = [output]

    def put(module: nn.Module, args: tuple, output: Tensor) -> Tensor:
        return kept[0]

    return [source.register_forward_hook(keep), target.register_forward_hook(put)]


def _unturned(block: nn.Module) -> Any:
    """Queries and keys are turned by no angle at all."""

    def hook(module: nn.Module, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        turn = kwargs["positions"]
        still = Rotation(torch.ones_like(turn.cos), torch.zeros_like(turn.sin))
        return args, {**kwargs, "positions": still}

    return block.attention.register_forward_pre_hook(hook, with_kwargs=True)
