"""What can happen to somebody who has a red ball. After each adventure they are together again."""

from pieces.tasks.stories_cast import IT, Someone, Tale, Thing, a
from pieces.tasks.stories_scenes import ask, feel, nearby, play, relatives, search, speak
from pieces.tasks.stories_words import (
    BAKED,
    DRINKS,
    FOODS,
    GLAD,
    HERD,
    INSIDE,
    MEALS,
    NUMBERS,
    OUTINGS,
    OUTSIDE,
    PASTIMES,
    PETS,
    SAD,
    TAME,
)


def lose(tale: Tale) -> None:
    """She takes it along, puts it somewhere, goes home without it, and comes back for it."""
    hero, toy = tale.hero, tale.toy
    tale.the(toy)
    tale.say("to the")
    outing = tale.say(OUTINGS)
    tale.see(f"the {outing}")
    tale.say(".")
    tale.who(hero)
    tale.say(f"put {toy.it}")
    corner = tale.say(OUTSIDE)
    tale.say("and")
    tale.say(PASTIMES)
    tale.say((". when it was dark ,", ". then", ". after that ,"))
    tale.who(hero)
    tale.say(("went home without", "went home , but forgot"))
    tale.the(toy)
    tale.say(".")
    feel(tale, hero, SAD)
    answers = (f"I have not seen {toy.it} .", f"do not cry , we will find {toy.it} !")
    ask(
        tale,
        hero,
        f"where {toy.are} {hero.own.my} {toy.name} ?",
        (*answers, "I do not know .", f"you had {toy.it} at the {outing} ."),
    )
    tale.say(f"so {hero.name} ran back to the {outing} .")
    search(tale, hero, toy, corner)
    feel(tale, hero, GLAD)


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


def seek(tale: Tale) -> None:
    """Hide and seek: who hid where?"""
    hero = tale.hero
    first = tale.person(introduced=False)
    tale.say("and")
    second = tale.person(introduced=False)
    tale.say(".")
    hidden: dict[str, Someone] = {}
    corners = [*INSIDE, *OUTSIDE]
    for someone in (first, second):
        tale.see(someone.name)
        tale.say(f"{someone.name} hid")
        corner = tale.say(corners)
        corners = [other for other in corners if other in nearby(corner) and other != corner]
        hidden[corner] = someone
        tale.say(".")
    tale.who(hero)
    tale.say(f"counted to {number} ." for number in NUMBERS)
    while hidden:
        tale.who(hero)
        tale.say("looked")
        likely = dict.fromkeys(hidden, 0.7 / len(hidden))
        place = tale.say(likely | {corner: 0.3 / len(corners) for corner in corners})
        if place in hidden:
            found = hidden.pop(place)
            tale.say(f", and there was {found.name} !")
        else:
            corners.remove(place)
            tale.say(", but nobody was there .")
        if hidden:
            tale.say(("then", "next"))
    speak(tale, found, f"you found {found.own.me} !")
    feel(tale, hero, GLAD)


def count(tale: Tale) -> None:
    """How many were there?"""
    hero = tale.hero
    outing = tale.say(OUTINGS)
    tale.see(f"the {outing}")
    tale.say(". there")
    tale.who(hero)
    tale.say("saw")
    number = tale.say(NUMBERS)
    one = tale.say(HERD.values())
    tale.say("and")
    other_number = tale.say(NUMBERS)
    other = tale.say(kind for kind in HERD.values() if kind != one)
    tale.say(". at home ,")
    asking = tale.say(relatives(tale, hero))
    tale.say("asked , “ how many")
    asked = tale.say((one, other))
    tale.see(f"the {asked}")
    tale.say("did you see ? ” “")
    tale.say(f"{number if asked == one else other_number} {asked} ! ” said {hero.name} .")
    tale.say(f"{asking} was")
    tale.say(GLAD)
    tale.say(".")
    tale.focus = None


def reach(tale: Tale) -> None:
    """Too far away for one; so others help, and more of them, until it works."""
    hero, toy = tale.hero, tale.toy
    tale.say(("fell into the well .", "rolled under the house .", "flew onto the roof ."))
    tale.who(hero)
    deed = tale.say(("pulled", "jumped", "climbed", "pushed"))
    tale.say(f"and {deed} , but could not reach {toy.it} .")
    names, reached = hero.name.split(" and "), False
    caller, most = hero.name, len(names) + 3
    while not reached:
        tale.say(f"so {caller} called")
        animal = tale.animal()
        tale.see(animal.name)
        tale.say(".")
        caller = animal.name
        names.append(caller)
        tale.say(f"{' , '.join(names[:-1])} and {names[-1]} {deed} and {deed} ,")
        fail, success = (
            f"but could not reach {toy.it} .",
            f"and then they had the {toy.name} again !",
        )
        reached = tale.chance(success, fail, 0.4 if len(names) < most else 1.0)
    speak(tale, hero, "thank you , my friends !")
    feel(tale, hero, GLAD)


def visit(tale: Tale) -> None:
    """On the way to grandmother with a cake, past animals that would like to have it."""
    hero = tale.hero
    host = tale.say(relatives(tale, hero)).split()[1]
    tale.say("at the")
    tale.see("the " + tale.say(OUTINGS))
    tale.say(".")
    tale.who(hero)
    food = tale.say(f"took {a(food)} and the {tale.toy.name} along ." for food in FOODS).split()[2]
    for met in range(3):
        tale.say(("on the way ,", "on the road ,", "near the mill ,"))
        tale.who(hero)
        tale.say("met")
        animal = tale.animal()
        tale.see(animal.name)
        tale.say(".")
        speak(tale, animal, f"may I have your {food} ?", "asked")
        if tale.chance("“ yes ,", "“ no ,", 0.3):
            tale.say(f"here it is ! ” said {hero.name} .")
            tale.say(f"{animal.name} ate the {food} and was")
            tale.say(GLAD)
            tale.say(f". so {hero.name} came without the {food} , but")
            tale.say(f"{hero.own.hers} {host}")
            tale.say(("only laughed .", "was not angry ."))
            break
        tale.say(f"it is for {hero.own.my} {host} ! ” said {hero.name} .")
        if tale.chance(f"{hero.own.hers} {host} was", "then", 0.5 if met < 2 else 1.0):
            tale.say(GLAD)
            tale.say(f"and ate the {food} .")
            break
        tale.say(f"{animal.name} went away .")
    tale.focus = None


def bake(tale: Tale) -> None:
    """Something good for somebody who needs it."""
    hero = tale.hero
    food = tale.say(f"{a(food)} for" for food in BAKED).split()[1]
    friend = tale.person(introduced=False)
    tale.see(friend.name)
    tale.say("because")
    tale.say(
        (
            f"it was {friend.name} 's birthday .",
            f"{friend.name} was ill .",
            f"{friend.name} was sad .",
        )
    )
    tale.say(f"the first {food} was too")
    tale.say(("small", "sweet", "salty", "hard", "hot"))
    tale.say(", but the second was just right . “")
    tale.say((f"this is the best {food} in the world !", f"thank you , {hero.name} !"))
    tale.say(f"” said {friend.name} .")
    feel(tale, friend, GLAD)
