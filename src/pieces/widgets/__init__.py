"""The book's widgets: pictures whose arithmetic runs in the browser."""

from pieces.widgets.activations import Activations
from pieces.widgets.alignment import Alignment
from pieces.widgets.attention_heatmap import AttentionHeatmap
from pieces.widgets.attention_steps import AttentionSteps
from pieces.widgets.beyond_length import BeyondLength
from pieces.widgets.bias_maps import BiasMaps
from pieces.widgets.config_calculator import ConfigCalculator
from pieces.widgets.expert_load import ExpertLoad
from pieces.widgets.fill_mask import FillMask
from pieces.widgets.head_splitter import HeadSplitter
from pieces.widgets.hidden_units import HiddenUnits
from pieces.widgets.mask_explorer import MaskExplorer
from pieces.widgets.norm_axes import NormAxes
from pieces.widgets.norm_placement import NormPlacement
from pieces.widgets.position_waves import PositionWaves
from pieces.widgets.predict_number import PredictNumber
from pieces.widgets.pronoun_arcs import PronounArcs
from pieces.widgets.rotary_clock import RotaryClock
from pieces.widgets.router_explorer import RouterExplorer
from pieces.widgets.sampling_explorer import SamplingExplorer
from pieces.widgets.score_functions import ScoreFunctions
from pieces.widgets.shuffle_tokens import ShuffleTokens

__all__ = [
    "Activations",
    "Alignment",
    "AttentionHeatmap",
    "AttentionSteps",
    "BeyondLength",
    "BiasMaps",
    "ConfigCalculator",
    "ExpertLoad",
    "FillMask",
    "HeadSplitter",
    "HiddenUnits",
    "MaskExplorer",
    "NormAxes",
    "NormPlacement",
    "PositionWaves",
    "PredictNumber",
    "PronounArcs",
    "RotaryClock",
    "RouterExplorer",
    "SamplingExplorer",
    "ScoreFunctions",
    "ShuffleTokens",
]
