"""Table 5.1, executable: 25 rows, by name; and six of ours beside it."""

from pieces.zoo.row import Row
from pieces.zoo.rows_first import FIRST
from pieces.zoo.rows_open import OPEN
from pieces.zoo.rows_other import OTHER
from pieces.zoo.rows_ours import OUR_ROWS

MODEL_TABLE: dict[str, Row] = {row.name: row for row in (*FIRST, *OPEN, *OTHER)}
OUR_MODELS: dict[str, Row] = {row.name: row for row in OUR_ROWS}
