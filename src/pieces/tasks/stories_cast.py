"""Who and what a story is about, and how it is spoken of: Lily, she, her; two red balls, they."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, no_type_check

from pieces.tasks.stories_telling import Options, Say
from pieces.tasks.stories_words import ANIMALS, BOYS, COLOURS, GIRLS, LOOKS, SIZES, THINGS

Allowed = Callable[[int, int, int], bool]
NOUNS = list(THINGS)
SINGULAR = {plural: noun for noun, plural in THINGS.items()}


class Pronouns(NamedTuple):
    """How somebody is spoken of, and speaks."""

    she: str
    her: str
    hers: str
    was: str = "was"
    i: str = "I"
    me: str = "me"
    my: str = "my"


GIRL, BOY = Pronouns("she", "her", "her"), Pronouns("he", "him", "his")
IT, BOTH = Pronouns("it", "it", "its"), Pronouns("they", "them", "their", "were", "we", "us", "our")


class Someone(NamedTuple):
    """A person, two of them, or an animal; the rule of the split goes by ``number``."""

    name: str
    own: Pronouns
    number: int = 0


class Thing(NamedTuple):
    """Something with a colour: one or two of it."""

    colour: str
    noun: str
    two: bool

    noun_form = property(lambda self: THINGS[self.noun] if self.two else self.noun)
    name = property(lambda self: f"{self.colour} {self.noun_form}")
    some = property(lambda self: f"two {self.name}" if self.two else a(self.name))
    it = property(lambda self: "them" if self.two else "it")
    they = property(lambda self: "they" if self.two else "it")
    was = property(lambda self: "were" if self.two else "was")
    are = property(lambda self: "are" if self.two else "is")


@no_type_check  # so many small calls: tests would take minutes
def a(words: str) -> str:
    """A red ball, an orange ball."""
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


@no_type_check
class Tale:
    """What a story says and remembers: who is in it, who was spoken of last, what was seen.

    ``allowed`` says which person may have which thing in which colour: there the splits differ.
    """

    def __init__(self, voice: Say, allowed: Allowed) -> None:
        self.voice, self.allowed = voice, allowed
        self.cast: list[Someone] = []
        self.focus: Someone | None = None
        self.seen: list[str] = []
        self.home: str | None = None
        self.safe = True  # until the toy falls into the well
        self.hero: Someone
        self.toy: Thing

    def say(self, options: str | Iterable[str] | Options) -> str:
        """Say one of the phrases; without weights, each is as probable as the others."""
        if isinstance(options, str):
            options = {options: 1.0}
        elif not isinstance(options, Mapping):
            options = dict.fromkeys(options, 1.0)
        return self.voice(options)

    def chance(self, yes: str, no: str, probability: float = 0.5) -> bool:
        """Say one of two phrases, and tell whether it was the first."""
        shares = {yes: probability, no: 1 - probability}
        return self.say({phrase: share for phrase, share in shares.items() if share}) == yes

    def subject(self, someone: Someone, weight: float = 1.0) -> Options:
        """A name, or its pronoun where that can mean nobody else."""
        rivals = [one for one in self.cast if one.own == someone.own and one != someone]
        if rivals and self.focus != someone:
            return {someone.name: weight}
        return {someone.own.she: 0.7 * weight, someone.name: 0.3 * weight}

    def who(self, someone: Someone) -> None:
        """Say who does what comes next."""
        self.say(self.subject(someone))
        self.focus = someone

    def join(self, someone: Someone) -> Someone:
        """Somebody was named, and is in the story."""
        self.cast.append(someone)
        self.focus = someone
        return someone

    def leave(self, someone: Someone) -> None:
        """Speak of somebody no more."""
        self.cast.remove(someone)

    def see(self, name: str) -> None:
        """Something to dream of."""
        if name not in self.seen:
            self.seen.append(name)

    def person(self, introduced: bool = True) -> Someone:
        """Name a person who is not in the story yet: girl named Lily, or just Lily."""
        names = GIRLS + BOYS
        if introduced:
            names = GIRLS if self.chance("girl named", "boy named") else BOYS
        taken = {name for one in self.cast for name in one.name.split()}
        name = self.say(name for name in names if name not in taken)
        pronouns = GIRL if name in GIRLS else BOY
        return self.join(Someone(name, pronouns, (GIRLS + BOYS).index(name)))

    def animal(self, kinds: Iterable[str] = ANIMALS) -> Someone:
        """Bring in an animal: a little dog, and from then on the dog."""
        taken = {one.name for one in self.cast}
        free = [kind for kind in kinds if f"the {kind}" not in taken]
        plain = dict.fromkeys(map(a, free), 0.5 / len(free))
        looks = [a(f"{look} {kind}") for look in LOOKS for kind in free]
        said = self.say(plain | dict.fromkeys(looks, 0.5 / len(looks)))
        return self.join(Someone(f"the {said.split()[-1]}", IT))

    def thing(self, owner: Someone, counted: bool = True) -> Thing:
        """Name what somebody has or wants: a big red ball, two red balls; or without "a", "two"."""
        looks = dict.fromkeys(COLOURS, 0.6 / len(COLOURS)) | dict.fromkeys(SIZES, 0.4 / len(SIZES))
        if counted:
            one, two = ({form(w): p for w, p in looks.items()} for form in (a, "two {}".format))
            looks = {w: 0.8 * p for w, p in one.items()} | {w: 0.2 * p for w, p in two.items()}
        *number, look = self.say(looks).split()
        colour = self.say(COLOURS) if look in SIZES else look
        place = COLOURS.index(colour)
        free = [noun for n, noun in enumerate(NOUNS) if self.allowed(owner.number, place, n)]
        nouns = {} if number == ["two"] else dict.fromkeys(free, 0.8)
        nouns |= {} if number in (["a"], ["an"]) else {THINGS[noun]: 0.2 for noun in free}
        noun = self.say(nouns)
        return Thing(colour, SINGULAR.get(noun, noun), noun in SINGULAR)

    def the(self, thing: Thing) -> None:
        """Name a thing again, in full or in short."""
        self.say({f"the {thing.name}": 0.8, f"the {thing.noun_form}": 0.2})
