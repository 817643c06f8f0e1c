"""The book's widgets: pictures whose arithmetic runs in the browser."""

from pieces.widgets.attention_steps import AttentionSteps
from pieces.widgets.fill_mask import FillMask
from pieces.widgets.mask_explorer import MaskExplorer
from pieces.widgets.predict_number import PredictNumber

__all__ = ["AttentionSteps", "FillMask", "MaskExplorer", "PredictNumber"]
