"""Whom somebody with a red ball can meet: a friend who has something, or needs it; an animal."""

from pieces.tasks.stories_cast import IT, Someone, Tale, Thing, a
from pieces.tasks.stories_scenes import ask, feel, play, search, speak
from pieces.tasks.stories_words import (
    BAKED,
    DRINKS,
    GLAD,
    INSIDE,
    MEALS,
    OUTSIDE,
    PETS,
    SAD,
    TAME,
)


def meet(tale: Tale) -> None:
    """A friend who has something else, or nothing, or has lost it."""
    hero = tale.hero
    friend = tale.person()
    tale.see(friend.name)
    tale.say(".")
    tale.who(friend)
    if tale.chance("had", "was"):
        other = tale.thing(friend)
        tale.say(".")
        swap(tale, friend, other)
        return
    tale.say(SAD)
    tale.say(f"because {friend.own.she}")
    if tale.chance("had no toys .", f"could not find {friend.own.hers}"):
        lend(tale, friend)
        return
    lost = tale.thing(friend, counted=False)
    tale.say(".")
    tale.who(hero)
    tale.say(f"wanted to help {friend.own.her} .")
    search(tale, hero, lost)
    speak(tale, friend, f"thank you , {hero.name} !")
    feel(tale, friend, GLAD)


def swap(tale: Tale, friend: Someone, other: Thing) -> None:
    """Each plays with what the other has; in the end everybody has what was theirs."""
    hero, toy = tale.hero, tale.toy
    speak(tale, hero, f"may {hero.own.i} play with your {other.name} ?", "asked")
    if tale.chance("“ yes ,", "“ no ,", 0.7):
        tale.say(f"if I may play with your {toy.name} ! ” said {friend.name} .")
        tale.say(f"so {hero.name} gave {friend.name} the {toy.name} , and")
        tale.say(f"{friend.name} gave {hero.name} the {other.name} .")
        play(tale)
        tale.say(f"then {hero.name} gave the {other.name} back , and")
        tale.say(f"{friend.name} gave the {toy.name} back .")
    else:
        tale.say(f"{other.they} {other.are} mine ! ” said {friend.name} .")
        tale.focus = friend
        feel(tale, hero, SAD)
        tale.say((f"but then {friend.name} said ,", f"after a while , {friend.name} said ,"))
        tale.say("“ I am sorry . you may play with")
        tale.say((f"my {other.name} . ”", f"{other.it} . ”"))
        feel(tale, hero, GLAD)


def lend(tale: Tale, friend: Someone) -> None:
    """Who has nothing may play, too."""
    hero, toy = tale.hero, tale.toy
    speak(tale, hero, f"you may play with {hero.own.my} {toy.name} !")
    tale.say(f"{friend.name} took the {toy.name} and")
    tale.say(("smiled .", "laughed .", "said , “ thank you ! ”"))
    play(tale)
    tale.say(f"then {friend.name} gave the {toy.name} back .")
    feel(tale, friend, GLAD)


def keep(tale: Tale) -> None:
    """An animal that needs something gets it, a name, and a home."""
    hero = tale.hero
    corner = tale.say((*INSIDE, *OUTSIDE))
    tale.say(". it was")
    animal = tale.animal(TAME)
    tale.say(".")
    tale.who(animal)
    helps = {"cold": ["kept it warm"], "tired": ["carried it home"], "alone": ["sat down with it"]}
    helps["hungry"] = [f"gave it some {meal}" for meal in MEALS]
    helps["thirsty"] = [f"gave it some {drink}" for drink in DRINKS]
    need = tale.say(f"was {need} ." for need in helps)
    tale.who(hero)
    tale.say(helps[need.split()[1]])
    tale.say(f". “ {hero.own.i} will call you")
    taken = {one.name for one in tale.cast}
    pet = Someone(tale.say(name for name in PETS if name not in taken), IT)
    tale.say(f"! ” said {hero.name} .")
    tale.leave(animal)
    tale.join(pet)
    tale.see(pet.name)
    yes, no = f"yes , {pet.name} may stay .", f"no , we have no room for {pet.name} ."
    if ask(tale, hero, f"may {pet.name} stay with {hero.own.me} ?", (yes, no)) == yes:
        tale.who(pet)
        tale.say(("loved to play with", "slept next to", "ran after"))
        tale.the(tale.toy)
        tale.say(".")
    else:
        tale.say(f"so {pet.name} slept {corner} , and {hero.name} came back every day .")


def bake(tale: Tale) -> None:
    """Something good for somebody who needs it."""
    hero = tale.hero
    food = tale.say(f"{a(food)} for" for food in BAKED).split()[1]
    friend = tale.person(introduced=False)
    tale.see(friend.name)
    tale.say("because")
    name = friend.name
    tale.say((f"it was {name} 's birthday .", f"{name} was ill .", f"{name} was sad ."))
    tale.say(f"the first {food} was too")
    tale.say(("small", "sweet", "salty", "hard", "hot"))
    tale.say(", but the second was just right . “")
    tale.say((f"this is the best {food} in the world !", f"thank you , {hero.name} !"))
    tale.say(f"” said {friend.name} .")
    feel(tale, friend, GLAD)
