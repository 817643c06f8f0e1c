"""Table 5.1 of the source text as a program: build each of its 25 models and count it.

MODEL_TABLE         the rows by name: as printed, as built, with the sources
build               a row's model at full size, on the meta device
assemble, shrink    a model from an architecture; an architecture in small, which runs
count_parameters    the parameters of any model of this package, by part
"""

from pieces.zoo.build import assemble, build, shrink
from pieces.zoo.count import PARTS, count_parameters
from pieces.zoo.printed import Printed
from pieces.zoo.row import Architecture, PublishedCount, Row, Source
from pieces.zoo.table import MODEL_TABLE

__all__ = [
    "MODEL_TABLE",
    "PARTS",
    "Architecture",
    "Printed",
    "PublishedCount",
    "Row",
    "Source",
    "assemble",
    "build",
    "count_parameters",
    "shrink",
]
