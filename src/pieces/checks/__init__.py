"""What every part refuses, and how: errors that name the argument, the value, the rule, the remedy.

    declared    @checked: the annotations of functions, modules and configs, enforced
    hints       from an annotation to its check
    axes        tensors: kinds of numbers, and axes by letter
    kinds       numbers: Size, Positive, Share, ...
    refuse      the errors themselves, and the few checks that no annotation can say

Only types, shapes and dtypes are looked at, never the numbers inside a tensor, so a check waits for
no GPU.
"""

from pieces.checks.declared import check_fields, checked
from pieces.checks.kinds import (
    Count,
    Divides,
    DivisorOf,
    LeftOut,
    NotNegative,
    Number,
    Positive,
    Probability,
    Range,
    Share,
    Size,
    divided,
)
from pieces.checks.refuse import (
    default_int,
    look_up,
    refuse,
    require,
    require_attention,
    require_bool,
    require_broadcast,
    require_callable,
    require_features,
    require_flags,
    require_float,
    require_ids,
    require_instance,
    require_int,
    require_mask,
    require_module,
    require_not_negative,
    require_number,
    require_positive,
    require_sequence,
    require_share,
    require_tensor,
    require_whole,
)

__all__ = [
    "Count",
    "Divides",
    "DivisorOf",
    "LeftOut",
    "NotNegative",
    "Number",
    "Positive",
    "Probability",
    "Range",
    "Share",
    "Size",
    "check_fields",
    "checked",
    "default_int",
    "divided",
    "look_up",
    "refuse",
    "require",
    "require_attention",
    "require_bool",
    "require_broadcast",
    "require_callable",
    "require_features",
    "require_flags",
    "require_float",
    "require_ids",
    "require_instance",
    "require_int",
    "require_mask",
    "require_module",
    "require_not_negative",
    "require_number",
    "require_positive",
    "require_sequence",
    "require_share",
    "require_tensor",
    "require_whole",
]
