"""What can happen to somebody with a red ball, at home and away; in the end they are together."""

from pieces.tasks.stories_cast import Someone, Tale, a
from pieces.tasks.stories_scenes import ask, feel, nearby, relatives, search, speak
from pieces.tasks.stories_words import (
    FOODS,
    GLAD,
    HERD,
    INSIDE,
    NUMBERS,
    OUTINGS,
    OUTSIDE,
    PASTIMES,
    SAD,
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
    answers = (
        f"I have not seen {toy.it} .",
        f"do not cry , we will find {toy.it} !",
        "I do not know .",
        f"you had {toy.it} at the {outing} .",
    )
    ask(tale, hero, f"where {toy.are} {hero.own.my} {toy.name} ?", answers)
    tale.say(f"so {hero.name} ran back to the {outing} .")
    search(tale, hero, toy, corner)
    feel(tale, hero, GLAD)


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
    tale.focus = None  # others were spoken of


def climb_after(tale: Tale) -> None:
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
        gone, back = f"but could not reach {toy.it} .", f"and then they had the {toy.name} again !"
        reached = tale.chance(back, gone, 0.4 if len(names) < most else 1.0)
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
    tale.focus = None  # others were spoken of
