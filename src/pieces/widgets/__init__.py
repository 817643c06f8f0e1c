"""The book's widgets: pictures whose arithmetic runs in the browser."""

from pieces.widgets.alignment import Alignment
from pieces.widgets.attention_heatmap import AttentionHeatmap
from pieces.widgets.attention_steps import AttentionSteps
from pieces.widgets.fill_mask import FillMask
from pieces.widgets.head_splitter import HeadSplitter
from pieces.widgets.mask_explorer import MaskExplorer
from pieces.widgets.predict_number import PredictNumber
from pieces.widgets.pronoun_arcs import PronounArcs
from pieces.widgets.score_functions import ScoreFunctions
from pieces.widgets.shuffle_tokens import ShuffleTokens

__all__ = [
    "Alignment",
    "AttentionHeatmap",
    "AttentionSteps",
    "FillMask",
    "HeadSplitter",
    "MaskExplorer",
    "PredictNumber",
    "PronounArcs",
    "ScoreFunctions",
    "ShuffleTokens",
]
