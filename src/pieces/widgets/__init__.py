"""The book's widgets: pictures whose arithmetic runs in the browser.

A widget is known by its line here; the site, the tests and the gallery find the rest by its name.
"""

from pieces.widgets.activations import Activations as Activations
from pieces.widgets.alignment import Alignment as Alignment
from pieces.widgets.attention_heatmap import AttentionHeatmap as AttentionHeatmap
from pieces.widgets.attention_steps import AttentionSteps as AttentionSteps
from pieces.widgets.beyond_length import BeyondLength as BeyondLength
from pieces.widgets.bias_maps import BiasMaps as BiasMaps
from pieces.widgets.byte_pairs import BytePairs as BytePairs
from pieces.widgets.cache_meter import CacheMeter as CacheMeter
from pieces.widgets.config_calculator import ConfigCalculator as ConfigCalculator
from pieces.widgets.embedding_lookup import EmbeddingLookup as EmbeddingLookup
from pieces.widgets.embedding_map import EmbeddingMap as EmbeddingMap
from pieces.widgets.expert_capacity import ExpertCapacity as ExpertCapacity
from pieces.widgets.expert_load import ExpertLoad as ExpertLoad
from pieces.widgets.fill_mask import FillMask as FillMask
from pieces.widgets.flash_tiles import FlashTiles as FlashTiles
from pieces.widgets.gradient_flow import GradientFlow as GradientFlow
from pieces.widgets.head_splitter import HeadSplitter as HeadSplitter
from pieces.widgets.hidden_units import HiddenUnits as HiddenUnits
from pieces.widgets.linear_state import LinearState as LinearState
from pieces.widgets.mask_explorer import MaskExplorer as MaskExplorer
from pieces.widgets.model_table import ModelTable as ModelTable
from pieces.widgets.norm_axes import NormAxes as NormAxes
from pieces.widgets.norm_placement import NormPlacement as NormPlacement
from pieces.widgets.paged_memory import PagedMemory as PagedMemory
from pieces.widgets.path_length import PathLength as PathLength
from pieces.widgets.position_waves import PositionWaves as PositionWaves
from pieces.widgets.predict_number import PredictNumber as PredictNumber
from pieces.widgets.pronoun_arcs import PronounArcs as PronounArcs
from pieces.widgets.rotary_clock import RotaryClock as RotaryClock
from pieces.widgets.router_explorer import RouterExplorer as RouterExplorer
from pieces.widgets.sampling_explorer import SamplingExplorer as SamplingExplorer
from pieces.widgets.score_functions import ScoreFunctions as ScoreFunctions
from pieces.widgets.shuffle_tokens import ShuffleTokens as ShuffleTokens
from pieces.widgets.translation_stepper import TranslationStepper as TranslationStepper
from pieces.widgets.whole_model import WholeModel as WholeModel
from pieces.widgets.workbench import Workbench as Workbench

# Classes alone begin with a capital; the modules of the same package do not.
__all__ = sorted(name for name in globals() if name[0].isupper())
