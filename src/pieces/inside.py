"""Everything that happens inside a decoder-only model while it reads one text.

    values = inside(model, ids)                        # values["layer.2.weights"]: [H, T, T]
    lens(model, values["layer.1.attention.stream"])    # what it would say if it stopped there
    votes(model, values, token)                        # who speaks for this word, and how loudly

Layers are counted from 1. The page's twin of a model gives the same values by the same names.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from pieces import masks
from pieces.attention import CausalCore
from pieces.checks import Natural, checked, require
from pieces.models.decoder_only import DecoderOnly
from pieces.norms import LayerNorm, RMSNorm
from pieces.positions import PositionalEncoding
from pieces.switches import without
from pieces.trace import Trace, record

Inner = dict[str, Tensor]
WATCHED = ("embedding", "embedding_norm", "stack.final_norm")
OF_BLOCK = ("attention", "attention_residual", "feed_forward", "feed_forward_residual")
OF_PART = ("norm", "gate", "up", "dropout", "router")


@checked
def inside(model: DecoderOnly, input_ids: Int[Tensor, "T"], off: Sequence[str] = ()) -> Inner:
    """Every inner value of a run over one text, by name; ``off`` are parts that are pulled out.

    embedding, positions (where they are added), embedding.stream: [T, D]
    layer.1.attention.normed, layer.1.attention (what it writes), layer.1.attention.stream: [T, D]
    layer.1.queries [T, H, K] and keys [T, G, K], both after rotation; values [T, G, K]
    layer.1.scores, weights: [H, T, T], -inf and 0 for what is not seen; heads [T, H, K]
    layer.1.feed_forward.normed, layer.1.feed_forward, layer.1.feed_forward.stream: [T, D]
    layer.1.gate (before the bend), up, units: [T, F]; of a mixture router [T, E], experts and
    shares [T, k], visits (what each chosen expert says) [T, k, D]
    norm [T, D], logits [T, V]

    Raises: ValueError if the model has no such part, or is not built with ``PreNorm``.
    """
    watched = [name for name, _ in model.named_modules() if _is_watched(name)]
    with torch.no_grad(), without(model, off), record(model, outputs=watched) as trace:
        logits = model(input_ids[None])
    values = _entrance(model, trace, input_ids, off)
    for layer, block in enumerate(model.stack.blocks, 1):
        found = _of_attention(block.attention.core, trace, f"stack.blocks.{layer - 1}")
        if f"stack.blocks.{layer - 1}.feed_forward" in trace:
            found |= _of_feed_forward(block.feed_forward, trace, f"stack.blocks.{layer - 1}")
        values |= {f"layer.{layer}.{name}": value for name, value in found.items()}
    return values | {"norm": trace["stack.final_norm"]["output"][0], "logits": logits[0]}


def _is_watched(name: str) -> bool:
    *_, of, last = ["", *name.split(".")]
    return name in WATCHED or last in OF_BLOCK or (last in OF_PART and of in OF_BLOCK)


def _entrance(model: DecoderOnly, trace: Trace, ids: Tensor, off: Sequence[str]) -> Inner:
    """What goes into the first layer."""
    embedding = trace["embedding"]["output"][0]
    values = {"embedding": embedding}
    if type(model.position).add is not PositionalEncoding.add:
        places = torch.arange(len(ids), device=ids.device)
        added = model.position.add(torch.zeros_like(embedding)[None], places)[0].detach()
        values["positions"] = torch.zeros_like(added) if "positions" in off else added
    return values | {"embedding.stream": trace["embedding_norm"]["output"][0]}


def _of_attention(layer: CausalCore, trace: Trace, name: str) -> Inner:
    """Inner values of the first half of a block."""
    core = {key: value[0] for key, value in trace[f"{name}.attention.core"].items()}
    q, k = core["queries"], core["keys"]
    shared = k.repeat_interleave(len(q) // len(k), dim=0)
    seen = masks.sliding_window(q.shape[1], layer.window or q.shape[1], device=q.device)
    scores = q @ shared.mT / q.shape[-1] ** 0.5
    return {
        "attention.normed": trace[f"{name}.attention_residual.norm"]["output"][0],
        "queries": q.transpose(0, 1),
        "keys": k.transpose(0, 1),
        "values": core["values"].transpose(0, 1),
        "scores": scores.masked_fill(~seen, -torch.inf),
        "weights": core["weights"],
        "heads": core["output"].transpose(0, 1),
        "attention": trace[f"{name}.attention"]["output"][0],
        "attention.stream": trace[f"{name}.attention_residual"]["output"][0],
    }


def _of_feed_forward(layer: nn.Module, trace: Trace, name: str) -> Inner:
    """Inner values of the second half of a block."""
    values = {"feed_forward.normed": trace[f"{name}.feed_forward_residual.norm"]["output"][0]}
    inner = f"{name}.feed_forward"
    for key, part in (("gate", "gate"), ("up", "up"), ("units", "dropout")):
        if f"{inner}.{part}" in trace:
            values[key] = trace[f"{inner}.{part}"]["output"][0]
    if f"{inner}.router" in trace:
        shares, experts, logits = (part[0] for part in trace[f"{inner}.router"]["output"])
        visits = _visits(layer.experts, values["feed_forward.normed"], experts)
        values |= {"router": logits, "experts": experts, "shares": shares, "visits": visits}
    values["feed_forward"] = trace[inner]["output"][0]
    return values | {"feed_forward.stream": trace[f"{name}.feed_forward_residual"]["output"][0]}


def _visits(experts: nn.Module, x: Tensor, chosen: Tensor) -> Tensor:
    """What each chosen expert says to its token, unweighted: [T, k, D]."""
    owner, k = chosen.flatten(), chosen.shape[-1]
    order = owner.argsort()
    load = torch.bincount(owner, minlength=experts.n_experts)
    with torch.no_grad():
        said = experts(x[order // k], load)
    return said[order.argsort()].view(*chosen.shape, -1)


@checked
def lens(
    model: DecoderOnly, stream: Float[Tensor, "T D"], off: Sequence[str] = ()
) -> Float[Tensor, "T V"]:
    """The logits if the model stopped here: the stream, through the final norm, against all words.

    Source: nostalgebraist 2020 (the logit lens). Shapes: stream [T, D] -> [T, V].
    """
    with torch.no_grad():
        normed = stream if "norm" in off else model.stack.final_norm(stream)
        return model.logits(normed[None])[0]


@checked
def votes(
    model: DecoderOnly, values: Inner, token: Natural, at: int = -1, off: Sequence[str] = ()
) -> dict[str, float]:
    """The logit of ``token`` behind the word ``at``, as a sum over the parts that wrote for it.

    logit = E_token · (γ ⊙ Σ x_part / s) = Σ E_token · (γ ⊙ x_part / s),  s the final norm's scale

    Exact, since everything between the parts and the logit but for s is linear, and s is that of
    the run. A LayerNorm's mean is taken from each part, and its shift is a part of its own.
    """
    out = _reading(model, values, token, at, off)
    begin = [name for name in ("embedding", "positions") if name in values]
    found = {name: values[name][at].double() for name in begin}
    for name in [n for n in values if n.endswith(".attention") or n.endswith(".feed_forward")]:
        found = {} if f"{name}.path" in off else found
        found |= _written(model, values, name, at, off)
    counted = {name: float(part @ out) for name, part in found.items()}
    shift = getattr(model.stack.final_norm, "bias", None)
    if shift is not None and "norm" not in off:
        counted["norm.shift"] = float(shift.detach().double() @ _row(model, token))
    return counted


def _row(model: DecoderOnly, token: int) -> Tensor:
    """What a word is compared with."""
    table = model.embedding.weight if model.head is None else model.head.weight
    return table[token].detach().double()


def _reading(model: DecoderOnly, values: Inner, token: int, at: int, off: Sequence[str]) -> Tensor:
    """What a part's output is multiplied with to give its vote."""
    row, norm = _row(model, token), model.stack.final_norm
    if "norm" in off:
        return row
    kind, rule = type(norm), "must be RMSNorm or LayerNorm"
    require(kind in (RMSNorm, LayerNorm), "final norm", kind.__name__, rule, "read it with lens")
    x = values[[name for name in values if name.endswith(".stream")][-1]][at].double()
    weighed = norm.weight.detach().double() * row
    if kind is RMSNorm:
        return weighed / (x.square().mean() + norm.eps).sqrt()
    centred = x - x.mean()
    return (weighed - weighed.mean()) / (centred.square().mean() + norm.eps).sqrt()


def _written(
    model: DecoderOnly, values: Inner, name: str, at: int, off: Sequence[str]
) -> dict[str, Tensor]:
    """What a sublayer wrote for a word, by head or by expert where it has them."""
    layer = name.rpartition(".")[0]
    block = model.stack.blocks[int(layer.split(".")[1]) - 1]
    if name in off:
        return {}
    if name.endswith(".attention"):
        output = block.attention.output
        heads = values[f"{layer}.heads"][at].double()
        columns = output.weight.detach().double().unflatten(1, heads.shape)
        said = torch.einsum("dhk,hk->hd", columns, heads)
        found = {f"{layer}.head.{h + 1}": part for h, part in enumerate(said)}
        return (
            found
            if output.bias is None
            else found | {f"{name}.bias": output.bias.detach().double()}
        )
    if f"{layer}.experts" not in values:
        return {name: values[name][at].double()}
    chosen, shares = values[f"{layer}.experts"][at].tolist(), values[f"{layer}.shares"][at]
    said = shares[:, None].double() * values[f"{layer}.visits"][at].double()
    return {f"{layer}.expert.{e + 1}": part for e, part in zip(chosen, said, strict=True)}
