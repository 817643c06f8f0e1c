"""ExpertCapacity: a batch of drawn scores, and who finds room where each expert has so much."""

from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Count, Real, Result


class ExpertCapacity(PieceWidget):
    """Give experts room for a batch: see their load, what is dropped, and the balance loss.

    No model is at work: a word's score for an expert is a draw from N(0, 1). The first expert gets
    ``lead`` on top of each of its scores, and each score gets ``noise`` times a second draw. More
    words or experts add draws, and leave the others as they are.

    Args:
        n_experts: 2 to 16.
        k: how many of them a word visits, 1 to 16; no more than there are.
        n_tokens: the words in the batch, 16 to 256.
        lead: what is added to each score of expert 1, 0 to 4.
        noise: the standard deviation of the noise on each score, 0 to 3.
        capacity: the room of an expert in fair shares, 0.5 to 4, as in
            ``Router(capacity_factor=...)``.
        seed: which scores are drawn, 0 to 9999.

    Read back:
        load: how many visits each expert is asked for.
        dropped: how many of them find no room.
        without: how many words are left without any expert.
        balance: the balancing loss of the batch.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "Is there room for all?"

    n_experts = Count(8, 2, 16)
    k = Count(1, 1, 16)
    n_tokens = Count(64, 16, 256, step=16)
    lead = Real(1.0, 0.0, 4.0, step=0.25)
    noise = Real(0.0, 0.0, 3.0, step=0.25)
    capacity = Real(1.25, 0.5, 4.0, step=0.25)
    seed = Count(1, 0, 9999)
    load = Result()
    dropped = Result()
    without = Result()
    balance = Result()

    def describe(self) -> str:
        """Return the batch, who leads, and the room."""
        k = min(self.k, self.n_experts)
        visits = f"{self.n_tokens} words, of which each visits {k} of {self.n_experts} experts"
        added = [
            f"expert 1 leads by {self.lead:g}" if self.lead else "",
            f"noise of {self.noise:g} on each score" if self.noise else "",
            f"room for {self.capacity:g} times the fair share",
        ]
        return f"{visits} by drawn scores; {', '.join(one for one in added if one)}"
