"""The names in a checkpoint: as transformers writes them today, and as this file has them."""

import re
from collections.abc import Iterable
from typing import Any

from torch import Tensor

from pieces.checkpoints.family import Family, Origins, Rule
from pieces.checks import refuse


def todays_names(family: Family, state: dict[str, Tensor]) -> tuple[dict[str, Tensor], Origins]:
    """The weights under today's names, without what the family ignores; and today's -> the file's.

    Raises: ValueError if two names of the file are one today.
    """
    origins: Origins = {}
    for name in state:
        today = todays_name(family, name)
        if today in origins:
            refuse("weights", name, f"is the same weight as {origins[today]}", "keep one of both")
        origins[today] = name
    patterns = [layered(name) for name in family.ignored]
    kept = [name for name in origins if not any(re.fullmatch(p, name) for p in patterns)]
    found = family.gather({name: state[origins[name]] for name in kept}, origins)
    return found, origins


def todays_name(family: Family, name: str) -> str:
    """A name of an older file, or of the model below the head, as it is written today."""
    for pattern, new in family.renames.items():
        name = re.sub(pattern, new, name)
    whole = name.startswith((family.prefix, *family.heads))
    return name if whole else family.prefix + name


def in_the_file(name: str, origins: Origins) -> str:
    """How the file calls a weight; one that it has not, as its neighbours suggest."""
    if name in origins:
        return origins[name]
    for today, written in origins.items():
        if today != written and today.endswith("." + written):
            return name.removeprefix(today.removesuffix(written))
        if today != written and written.endswith("." + today):
            return written.removesuffix(today) + name
    return name


def layered(name: str) -> str:
    """A pattern for a name in which {l} stands for the number of a layer, ``*`` for anything."""
    escaped = re.escape(name).replace(re.escape("*"), ".*")
    return escaped.replace(re.escape("{l}"), r"(?P<l>\d+)")


def whole_table(
    family: Family, config: Any, ours: Iterable[str]
) -> dict[str, tuple[Rule, list[str]]]:
    """Each weight of theirs, with its rule and our names for its parts, from our weights' names."""
    table = {}
    rules = [(layered(rule.ours[0]), rule) for rule in family.weights(config)]
    for name in ours:
        for pattern, rule in rules:
            match = re.fullmatch(pattern + r"(?P<kind>|\.weight|\.bias)", name)
            if match:
                layer, kind = match.groupdict().get("l", ""), match["kind"]
                full = [one.replace("{l}", layer) + kind for one in (rule.theirs, *rule.ours)]
                table[full[0]] = (rule, full[1:])
    return table
