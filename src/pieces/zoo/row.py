"""What a row of the table is: as printed, as built, and where the difference comes from."""

from dataclasses import dataclass, fields

from pieces.checks import Positive, Size, check_fields, one_of
from pieces.zoo.printed import APPEARED, OURS, PRINTED, Appeared, Printed

STATED = ("n_layers", "n_heads", "d_model")
WEIGHTS = "the published weights, counted"


@dataclass(frozen=True)
class Architecture:
    """What is built. Words are keys of the dicts of parts in ``zoo.parts`` and ``zoo.build``.

    Left out: n_kv_heads is n_heads, head_dim is d_model / n_heads.
    """

    n_layers: Size
    n_heads: Size
    d_model: Size
    d_ff: Size
    vocab_size: Size
    n_kv_heads: Size | None = None
    head_dim: Size | None = None
    category: str = "causal"
    arrangement: str = "pre"
    norm: str = "LayerNorm"
    position: str = "learned"
    feed_forward: str = "GELU"
    biases: str = "none"
    embedding: str = "plain"
    head: str = "tied"
    top: str = "nothing"
    max_seq_len: Size = 2048
    window: Size | None = None
    rotary_dim: Size | None = None
    rope_base: Positive = 10_000.0
    norm_eps: Positive = 1e-5

    def __post_init__(self) -> None:
        """Check the sizes; whether the words are known is seen when it is built."""
        check_fields(self)

    @property
    def kv_heads(self) -> int:
        """The number of key-value heads, whether given or not."""
        return self.n_heads if self.n_kv_heads is None else self.n_kv_heads

    @property
    def head_size(self) -> int:
        """The size of a head, whether given or not."""
        return self.d_model // self.n_heads if self.head_dim is None else self.head_dim


FIELDS = tuple(field.name for field in fields(Architecture))


@dataclass(frozen=True)
class Source:
    """Where fields of an architecture come from, if the table does not print them.

    ``fields`` are their names, divided by spaces; ``citation`` a paper with its section, or
    published code or weights; ``key`` its key in references.bib. What the cited work does
    not say itself is ``assumed``: the citation then says what was taken instead.
    """

    fields: str
    citation: str
    key: str | None = None
    assumed: bool = False


@dataclass(frozen=True)
class PublishedCount:
    """A published number of parameters, exact to ``within``."""

    parameters: int
    citation: str
    within: int = 0


@dataclass(frozen=True)
class Row:
    """One model: ``printed`` is the table's own, ``built`` is what ``build`` makes of it.

    Of ``ours``, which the table lacks, ``printed`` is what it would print.

    ``differences`` says, by column, where the two are not the same, or where a blank was filled.
    ``beyond`` says why the count is more than 3 percent from the printed size, where it is.
    Raises: ValueError if a source or difference names no field.
    """

    name: str
    printed: Printed
    built: Architecture
    sources: tuple[Source, ...]
    differences: dict[str, str]
    published: PublishedCount | None = None
    beyond: str | None = None

    def __post_init__(self) -> None:
        """Refuse sources and differences of what is not there."""
        known = {*FIELDS, *vars(self.printed)}
        for source in self.sources:
            for field in source.fields.split():
                one_of("source.fields", field, FIELDS)
        for column in self.differences:
            one_of("differences", column, known)

    @property
    def ours(self) -> bool:
        """Whether the table lacks it."""
        return self.name in OURS

    @property
    def appeared(self) -> Appeared:
        """When it appeared, and where."""
        return APPEARED[self.name]

    def source(self, field: str) -> str:
        """Where a field of ``built`` comes from. Raises: ValueError if there is no such field."""
        one_of("field", field, FIELDS)
        for source in self.sources:
            if field in source.fields.split():
                return source.citation
        if field in (*STATED, "category"):
            return "as the other fields" if self.ours else "Table 5.1"
        return "the default of Architecture"


def row(
    name: str,
    *sources: Source,
    printed: str | None = None,
    differences: dict[str, str] | None = None,
    published: PublishedCount | None = None,
    beyond: str | None = None,
    **built: int | float | str,
) -> Row:
    """A row whose L, N, H and category are the table's, and all else is ``built``.

    ``printed`` is the name that the table prints, if it is another.
    """
    as_printed = (PRINTED | OURS)[name if printed is None else printed]
    stated = {field: getattr(as_printed, field) for field in (*STATED, "category")}
    architecture = Architecture(**stated, **built)
    return Row(name, as_printed, architecture, sources, differences or {}, published, beyond)
