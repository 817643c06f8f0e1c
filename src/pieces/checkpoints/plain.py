"""What the checkpoints of plain decoders share: our names of their parts."""

BLOCK = "stack.blocks.{l}."
QKV = " ".join(BLOCK + f"attention.{part}" for part in ("query", "key", "value"))
FIRST, SECOND = (BLOCK + f"{part}_residual.norm" for part in ("attention", "feed_forward"))
OUT, UP, DOWN = (BLOCK + p for p in ("attention.output", "feed_forward.up", "feed_forward.down"))
