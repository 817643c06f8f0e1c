"""What happens in many stories: somebody feels, speaks, asks at home, searches, plays."""

from collections.abc import Iterable

from pieces.tasks.stories_cast import Someone, Tale, Thing
from pieces.tasks.stories_words import FAMILY, GLAD, INSIDE, OUTSIDE, SHOWN


def feel(tale: Tale, someone: Someone, feelings: list[str]) -> None:
    """She was very happy; or one sees it."""
    tale.who(someone)
    how = {f"{someone.own.was} {feeling}": 0.4 / len(feelings) for feeling in feelings}
    how |= {f"{someone.own.was} very": 0.2, f"{someone.own.was} so": 0.2}
    how |= dict.fromkeys(SHOWN[feelings is GLAD], 0.2 / 3)
    said = tale.say(how)
    if said.endswith((" very", " so")):
        tale.say(feelings)
    tale.say(".")


def speak(tale: Tale, someone: Someone, words: str, said: str = "said") -> None:
    """“ Thank you ! ” said Lily."""
    tale.say(f"“ {words} ” {said} {someone.name} .")
    tale.focus = someone


def ask(tale: Tale, someone: Someone, question: str, answers: Iterable[str]) -> str:
    """A question, and what somebody at home answers. Returns the answer."""
    speak(tale, someone, question, "asked")
    tale.say(relatives(tale, someone))
    tale.say("said , “")
    answer = tale.say(answers)
    tale.say("”")
    return answer


def relatives(tale: Tale, someone: Someone) -> dict[str, float]:
    """Her mother, her father, ...; most often the one with whom she lives, if that was told."""
    family = {f"{someone.own.hers} {one}": 1.0 for one in FAMILY}
    return family | ({tale.home: 20.0} if tale.home else {})


def search(tale: Tale, someone: Someone, thing: Thing, corner: str | None = None) -> None:
    """Look here and there, never twice in one place, until it is found: where it was put, if told.

    The first place decides whether the search is inside or outside.
    """
    left = nearby(corner) if corner else [*INSIDE, *OUTSIDE]
    while True:
        tale.who(someone)
        tale.say({"looked": 0.8, "searched": 0.2})
        likely = dict.fromkeys(left, 0.6 / len(left))
        place = tale.say(likely | ({corner: 0.4} if corner else {}))
        left = [other for other in left if other in nearby(place) and other != place]
        found = (0.5 if left else 1.0) if corner is None else float(place == corner)
        there = f", and there {thing.they} {thing.was} !"
        if tale.chance(there, f", but {thing.they} {thing.was} not there .", found):
            return
        tale.say(("then", "next"))


def nearby(corner: str) -> list[str]:
    """Places that are inside if this one is, or outside."""
    return INSIDE if corner in INSIDE else OUTSIDE


def play(tale: Tale) -> None:
    """They played all day."""
    tale.say("they")
    tale.say({"played": 0.5, "danced": 0.1, "sang": 0.1, "built a tower": 0.15, "ran about": 0.15})
    tale.say(("until it was dark .", "all day .", "for a long time .", "together ."))
