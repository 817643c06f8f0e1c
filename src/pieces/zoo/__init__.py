"""Table 5.1 of the source text as a program: build each of its 25 models and count it.

MODEL_TABLE         the rows by name: as printed, as built, with the sources
OUR_MODELS          rows that it lacks, models of 2024
build               a row's model at full size, on the meta device
assemble, shrink    a model from an architecture; an architecture in small, which runs
count_parameters    the parameters of any model of this package, by part
counted             those of a row
sourced_words       norm, position and activation of a row by its sources
"""

from pieces.zoo.build import assemble, build, counted, shrink
from pieces.zoo.count import PARTS, count_parameters
from pieces.zoo.printed import Appeared, Printed
from pieces.zoo.row import Architecture, PublishedCount, Row, Source
from pieces.zoo.table import MODEL_TABLE, OUR_MODELS
from pieces.zoo.words import built_words, sourced_words

__all__ = [
    "MODEL_TABLE",
    "OUR_MODELS",
    "PARTS",
    "Appeared",
    "Architecture",
    "Printed",
    "PublishedCount",
    "Row",
    "Source",
    "assemble",
    "build",
    "built_words",
    "count_parameters",
    "counted",
    "shrink",
    "sourced_words",
]
