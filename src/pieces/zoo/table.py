"""Table 5.1, executable: 25 rows, by name."""

from pieces.zoo.row import Row
from pieces.zoo.rows_first import FIRST
from pieces.zoo.rows_open import OPEN
from pieces.zoo.rows_other import OTHER

MODEL_TABLE: dict[str, Row] = {row.name: row for row in (*FIRST, *OPEN, *OTHER)}
