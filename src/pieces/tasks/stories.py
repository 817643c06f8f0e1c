"""The small world: short stories in which the probability of every next word is known."""

import re
from difflib import get_close_matches
from itertools import cycle
from typing import Annotated

import torch
from jaxtyping import Float, Int
from torch import Tensor

from pieces.checks import Range, checked, refuse
from pieces.tasks.base import Batch, Items, Split, Task, counted_from
from pieces.tasks.stories_plots import language
from pieces.tasks.stories_telling import Listener, Teller
from pieces.tasks.stories_words import VOCABULARY

ONE_IN = 10  # of the things that somebody could have in a colour, one in ten is held out
SHORTEST = 32  # by then, every row has said who has what
SPEECH = "asked", "said"  # after a closing quote, these go on with the sentence


@checked
class Stories(Task):
    """Stories that follow one another; a row is the beginning of the first, and all words count.

    Once upon a time there was a shy girl named Lily. She had a red ball. One sunny day, she ...

    A program tells them (``stories_plots.py``), so the probability of each next word is known; the
    mean of its negative logarithm is a floor, below which no model's loss can stay.

    Held out: whose thing has which colour. Whatever somebody in a training text is first said to
    have, want or have lost, (person + colour + thing) % 10 is never 0 for it; in a held-out text it
    always is. So there are three languages, each with probabilities that sum to one; they differ
    only in the nouns (ball, boat, ...) that can follow there:

    split="train"       the language of the training texts: their floor
    split="held_out"    the language of the held-out texts: their floor, for who knows the rule
    split=None          the whole world, which leaves nothing out and knows of no split: what a
                        model can hope for on held-out texts, if it has learned the world and not by
                        heart which things never came; on training texts just above their floor

    A row of fewer than 32 words may end before it says who has what.
    """

    def __init__(self, length: Annotated[int, Range(at_least=SHORTEST)] = 128) -> None:
        super().__init__(list(VOCABULARY), held_out_share=1 / ONE_IN)
        self.length = length
        self.spelling = {word.lower(): word for word in VOCABULARY}

    def propose(self, count: int, generator: torch.Generator | None) -> Items:
        """The seeds of rows [N, 1]; a tenth of all seeds is held out."""
        return torch.randint(2**31, (count, 1), generator=generator)

    def write(self, items: Items) -> Batch:
        """Each seed's row, in the language of its split. Shapes: [B, 1] -> [B, length] twice."""
        rows = []
        for seed, held_out in zip(items[:, 0].tolist(), self.held_out(items).tolist(), strict=True):
            teller = Teller(self.length + 1, seed)
            teller.through(language("held_out" if held_out else "train", ONE_IN))
            rows.append([self.ids[word] for word in teller.words[: self.length + 1]])
        return counted_from(torch.tensor(rows), 1)

    def true_next(
        self, input_ids: Int[Tensor, "B T"], *, split: Split | None = None
    ) -> Float[Tensor, "B T V"]:
        """After each word, the true probability of every word to come next: [B, T] -> [B, T, V].

        A text begins as a story does. From the first word on that cannot stand where it stands,
        nothing can follow: all probabilities are 0.
        Raises: TypeError, ValueError if ids are not of the vocabulary, or there is no such split.
        """
        self._require_words("input_ids", input_ids)
        places, shares = [], []
        for row, ids in enumerate(input_ids.tolist()):
            for t, expected in enumerate(self._expected(ids, split)[1:], row * len(ids)):
                places += [t * self.vocab_size + self.ids[word] for word in expected]
                shares += expected.values()
        probabilities = torch.zeros(input_ids.numel() * self.vocab_size)
        probabilities[torch.tensor(places, dtype=torch.long)] = torch.tensor(shares)
        return probabilities.view(*input_ids.shape, self.vocab_size)

    def true_log_probs(
        self,
        input_ids: Int[Tensor, "B T"],
        targets: Int[Tensor, "B T"] | None = None,
        *,
        split: Split | None = None,
    ) -> Float[Tensor, "B T"]:
        """The true log-probability of each next word, in nats: [B, T] -> [B, T].

        out[t] = ln p(word t + 1 | words 0 .. t)

        The word after the last stands in ``targets``; without them its place has what is expected
        there, Σ p ln p. So the mean is minus the floor either way. -inf where the next word cannot
        come, and from there on. Errors: as ``true_next``.
        """
        if targets is not None:
            self._require_words("targets", targets)
        p = self.true_next(input_ids, split=split)
        expected = torch.where(p.sum(-1) > 0, -torch.special.entr(p).sum(-1), -torch.inf)
        if targets is None:
            following, last = input_ids[:, 1:], expected[:, -1:]
        else:
            following, last = targets, expected[:, :0]
        told = p[:, : following.shape[1]].gather(2, following[..., None])[..., 0].log()
        return torch.cat((told, last), dim=1)

    def first_impossible(self, ids: Int[Tensor, "T"], *, split: Split | None = None) -> int | None:
        """The place of the first word that no story has there; None if a story begins like this."""
        self._require_words("ids", ids)
        known = len(self._expected(ids.tolist(), split))
        return known - 1 if known <= len(ids) else None

    def _expected(self, ids: list[int], split: Split | None) -> list[dict[str, float]]:
        """What a listener expects before each word and after the last."""
        listener = Listener([self.vocabulary[i] for i in ids])
        listener.through(language(split, ONE_IN))
        return listener.expected

    def _require_words(self, argument: str, ids: Tensor) -> None:
        """Refuse an id that is no word."""
        for i in (ids.min().item(), ids.max().item()) if ids.numel() else ():
            if not 0 <= i < self.vocab_size:
                rule = f"must be in 0 .. {self.vocab_size - 1}"
                refuse(argument, i, rule, "use the ids of task.encode")

    def spelt_like(self, token: str) -> str:
        """Words that look like it."""
        near = get_close_matches(token.lower(), self.spelling, n=3)
        meant = " or ".join(f'"{self.spelling[other]}"' for other in near)
        return f"write {meant}" if near else "use the words of task.vocabulary"

    def cut(self, text: str) -> list[str]:
        """Words and marks; a straight quote opens and closes by turns."""
        found = re.findall(r"'[sS]\b|[^\W\d_]+|\S", text.replace("’", "'"))
        turn = cycle("“”")
        found = [next(turn) if token == '"' else token for token in found]
        return [self.spelling.get(token.lower(), token) for token in found]

    def join(self, tokens: list[str]) -> str:
        """As it is printed: capitals where a sentence begins, a line for each story."""
        text, begins = "", True
        for before, token in zip(["", *tokens], tokens, strict=False):
            close = not text or before == "“" or token in (*",.!?”", "'s") or text.endswith("\n")
            text += "" if close else " "
            goes_on = before == "”" and token in SPEECH
            text += token[0].upper() + token[1:] if begins and not goes_on else token
            begins = token in tuple(".!?“") or (begins and token == "”")
            if token == "." and text.lower().endswith("the end."):
                text += "\n"
        return text.strip("\n")
