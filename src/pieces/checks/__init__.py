"""What every part refuses, and how: errors that name the argument, the value, the rule, the remedy.

    declared    @checked: the annotations of functions, modules and configs, enforced
    hints       from an annotation to its check
    axes        tensors: kinds of numbers, and axes by letter
    kinds       numbers: Size, Positive, Share, ...; names of a table
    refuse      the errors themselves, and the few checks that no annotation can say
    tensors     such checks of tensors

Only types, shapes and dtypes are looked at, never the numbers inside a tensor, so a check waits for
no GPU.
"""

from pieces.checks.declared import check_fields, checked
from pieces.checks.kinds import (
    AtMostAxis,
    Compared,
    Divides,
    DivisorOf,
    EvenSize,
    Filled,
    Knows,
    LeftOut,
    Natural,
    NotNegative,
    Number,
    Once,
    OneOf,
    Positive,
    Probability,
    Range,
    Share,
    Size,
    agreed,
    divided,
    one_of,
)
from pieces.checks.refuse import (
    filled,
    refuse,
    require,
    require_bool,
    require_callable,
    require_instance,
    require_int,
    require_module,
    require_number,
)
from pieces.checks.tensors import (
    DtypeOf,
    look_up,
    require_flags,
    require_float,
    require_ids,
    require_mask,
    require_tensor,
    require_whole,
)

__all__ = [
    "AtMostAxis",
    "Compared",
    "Divides",
    "DivisorOf",
    "DtypeOf",
    "EvenSize",
    "Filled",
    "Knows",
    "LeftOut",
    "Natural",
    "NotNegative",
    "Number",
    "Once",
    "OneOf",
    "Positive",
    "Probability",
    "Range",
    "Share",
    "Size",
    "agreed",
    "check_fields",
    "checked",
    "divided",
    "filled",
    "look_up",
    "one_of",
    "refuse",
    "require",
    "require_bool",
    "require_callable",
    "require_flags",
    "require_float",
    "require_ids",
    "require_instance",
    "require_int",
    "require_mask",
    "require_module",
    "require_number",
    "require_tensor",
    "require_whole",
]
