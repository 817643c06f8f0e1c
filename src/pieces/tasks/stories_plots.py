"""A whole story: somebody, something, adventures, and the end."""

from collections.abc import Callable
from functools import cache
from typing import no_type_check

from pieces.tasks.base import Split
from pieces.tasks.stories_adventures import climb_after, count, lose, seek, visit
from pieces.tasks.stories_cast import BOTH, Someone, Tale, a
from pieces.tasks.stories_friends import bake, keep, meet
from pieces.tasks.stories_scenes import feel, relatives
from pieces.tasks.stories_telling import Program, Say
from pieces.tasks.stories_words import (
    GLAD,
    HOMES,
    INSIDE,
    KINDS,
    NUMBERS,
    TIMES,
    WEATHER,
    WORKERS,
)

ADVENTURES = {
    "took": (lose, 3.0),
    "met a": (meet, 4.0),
    "heard a noise": (keep, 2.5),
    "played hide and seek with": (seek, 2.0),
    "went to see": (visit, 2.5),
    "walked to the": (count, 2.0),
    "baked": (bake, 2.0),
}


@cache
def language(split: Split | None, one_in: int) -> Program:
    """Stories without end, where ``split`` decides who may have what; None: everybody everything.

    One in ``one_in`` things is held out for each person and colour.
    """

    @no_type_check  # so many small calls
    def allowed(person: int, colour: int, thing: int) -> bool:
        held_out = (person + colour + thing) % one_in == 0
        return split is None or held_out == (split == "held_out")

    def stories(say: Say) -> None:
        while True:
            story(Tale(say, allowed))

    return stories


def story(tale: Tale) -> None:
    """One story, from its first word to "the end"."""
    open_story(tale)
    have(tale)
    some = [f"{weather} {time}" for weather in WEATHER for time in TIMES]
    tale.say({"one day ,": 0.4} | {f"one {day} ,": 0.6 / len(some) for day in some})
    adventures = dict(ADVENTURES)
    adventure(tale, adventures)
    while adventures and tale.chance("the next day ,", "that night ,", 0.35):
        adventure(tale, adventures)
    if not adventures:
        tale.say("that night ,")
    end(tale)


def open_story(tale: Tale) -> None:
    """Who it is about."""
    starts = {"once upon a time there": 3, "long ago , there": 1, "there once": 1, "in": 3}
    start = tale.say(starts | {"this is the story of": 2})
    if start == "this is the story of":
        first = tale.person(introduced=False)
        if tale.chance("and", "."):
            second = tale.person(introduced=False)
            tale.say(".")
            pair(tale, first, second)
        else:
            tale.hero = first
        return
    if start == "in":
        tale.say(a(home) for home in HOMES)
        tale.say(("there was", "there lived"))
    else:
        tale.say(("was", "lived"))
    tale.say(a(kind) for kind in KINDS)
    tale.hero = tale.person()
    tale.say(".")


def pair(tale: Tale, first: Someone, second: Someone) -> None:
    """Two who do everything together."""
    tale.hero = Someone(f"{first.name} and {second.name}", BOTH, first.number + second.number)
    tale.leave(first)
    tale.leave(second)
    tale.join(tale.hero)


def have(tale: Tale) -> None:
    """What the story is about: somebody has it, or gets it in the end."""
    hero = tale.hero
    verbs = {"had": 5, "wanted": 2, f"loved {hero.own.hers}": 1.5, "found": 1.5}
    tale.who(hero)
    verb = tale.say(verbs | {"lived with": 3})
    if verb == "lived with":
        tale.home = tale.say(relatives(tale, hero))
        tale.say(".")
        tale.who(hero)
        verb = tale.say(verbs)
    tale.toy = tale.thing(hero, counted=not verb.startswith("loved"))
    tale.say(".")
    if verb == "wanted":
        wish(tale)


def wish(tale: Tale) -> None:
    """There are two ways to get it: to wait, or to work."""
    hero, toy = tale.hero, tale.toy
    if tale.chance(f"for {hero.own.hers} birthday ,", "but"):
        tale.say(relatives(tale, hero))
        tale.say(f"hid {toy.it}")
        corner = tale.say(INSIDE)
        tale.say(".")
        tale.who(hero)
        tale.say(f"opened the door and looked {corner} , and there {toy.they} {toy.was} !")
    else:
        tale.who(hero)
        tale.say("had no coins . so")
        tale.who(hero)
        tale.say("helped")
        worker = tale.say(f"the {one}" for one in WORKERS)
        count = tale.say(f"for {number} days ." for number in NUMBERS).split()[1]
        tale.say(f"{worker} gave {hero.own.her} {count} coins , and then")
        tale.who(hero)
        tale.say(f"bought the {toy.name} .")
    feel(tale, hero, GLAD)


def adventure(tale: Tale, adventures: dict[str, tuple[Callable[[Tale], None], float]]) -> None:
    """What happens this time, told by whoever it happens to; never twice in one story."""
    hero, toy = tale.hero, f"the {tale.toy.name}"
    if tale.say(tale.subject(hero, 0.85) | ({toy: 0.15} if tale.safe else {})) == toy:
        tale.safe = False
        climb_after(tale)
    else:
        tale.focus = hero
        verb = tale.say({verb: weight for verb, (_, weight) in adventures.items()})
        adventures.pop(verb)[0](tale)


def end(tale: Tale) -> None:
    """What is dreamed of was seen by day."""
    hero = tale.hero
    tale.who(hero)
    ends = {"dreamed of": 6, f"told {hero.own.hers}": 2, "could not sleep because": 1, "slept": 1}
    how = tale.say(ends)
    if how == "slept":
        tale.say(("well .", "late .", f"next to the {tale.toy.name} ."))
    elif how == "could not sleep because":
        tale.say(f"{hero.own.she} {hero.own.was} so")
        tale.say(GLAD)
        tale.say(".")
    else:
        if how != "dreamed of":
            tale.say({name.split()[1]: p for name, p in relatives(tale, hero).items()})
            tale.say("about")
        tale.say([*tale.seen, f"the {tale.toy.name}"])
        tale.say((".", "and smiled .", "and laughed ."))
    tale.say("the end .")
