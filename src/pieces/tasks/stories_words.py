"""The words of the small world, by what they are for: people, animals, things, places, feelings."""


def several(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


GIRLS = several("Anna Clara Ella Emma Ida Lily Lucy Maya Mia Nora Rosa Zoe")
BOYS = several("Ben Finn Hugo Jack Leo Max Noah Omar Paul Sam Theo Tom")
PETS = several("Biscuit Coco Luna Milo Pepper Pip Rex Spot")
ANIMALS = several(
    """
    bear cat cow dog donkey duck elephant fox frog goat hedgehog hen horse mouse owl pig rabbit
    sheep squirrel turtle
    """
)
TAME = several("cat dog duck frog hedgehog mouse owl rabbit squirrel turtle")
FAMILY = several("mother grandmother sister aunt father grandfather brother uncle")
WORKERS = several("baker farmer gardener painter tailor teacher")

LOOKS = several("big fat little old small young")
COLOURS = several("black blue brown golden green grey orange pink purple red silver white yellow")
SIZES = several("big little new old pretty shiny small")
THINGS = {
    **{"ball": "balls", "balloon": "balloons", "basket": "baskets", "bell": "bells"},
    **{"blanket": "blankets", "boat": "boats", "book": "books", "bottle": "bottles"},
    **{"box": "boxes", "brush": "brushes", "bucket": "buckets", "button": "buttons"},
    **{"car": "cars", "coat": "coats", "crown": "crowns", "cup": "cups"},
    **{"doll": "dolls", "drum": "drums", "feather": "feathers", "flute": "flutes"},
    **{"hat": "hats", "kite": "kites", "ladder": "ladders", "lamp": "lamps"},
    **{"marble": "marbles", "mirror": "mirrors", "pencil": "pencils", "puzzle": "puzzles"},
    **{"ribbon": "ribbons", "ring": "rings", "robot": "robots", "scarf": "scarves"},
    **{"shell": "shells", "spoon": "spoons", "star": "stars", "stone": "stones"},
    **{"train": "trains", "umbrella": "umbrellas", "wagon": "wagons", "whistle": "whistles"},
}
FOODS = several("apple banana cake carrot cookie egg muffin pancake pear pie plum sandwich")
BAKED = several("cake cookie muffin pancake pie")
MEALS = several("bread cheese honey porridge soup")
DRINKS = several("juice milk tea water")

OUTINGS = several(
    """
    beach bridge castle farm forest garden harbour hill lake library market meadow mill park
    playground river school village
    """
)
INSIDE = [
    *("under the bed", "under the stairs", "under the table", "behind the curtain"),
    *("behind the door", "in the cupboard", "in the kitchen", "on the chair"),
    *("on the shelf", "on the sofa"),
]
OUTSIDE = [
    *("under the bench", "under the leaves", "behind the rock", "behind the tree"),
    *("behind the wall", "in the bushes", "in the grass", "near the fence"),
    *("near the fountain", "near the gate"),
]
HOMES = ["small village", "big city", "wooden hut", "old palace", "quiet street", "tall tower"]

KINDS = several("brave clever curious funny gentle kind lazy quiet shy silly wise young")
GLAD = several("excited glad happy pleased proud")
SAD = several("lonely sad unhappy upset worried")
SHOWN = [
    ["began to cry", "shook with anger", "said nothing"],
    ["laughed", "jumped for joy", "clapped"],
]
WEATHER = several("bright cloudy cold rainy snowy sunny warm windy")
TIMES = several("afternoon day evening morning")
NUMBERS = several("three four five six seven ten")
PASTIMES = [
    *("ran about", "climbed a tree", "fell asleep", "fed the birds", "picked some flowers"),
    *("sang a song", "watched the clouds", "danced", "swam", "painted a picture"),
]
HERD = {
    **{"bear": "bears", "cat": "cats", "cow": "cows", "dog": "dogs", "duck": "ducks"},
    **{"fox": "foxes", "frog": "frogs", "goat": "goats", "horse": "horses", "pig": "pigs"},
    **{"rabbit": "rabbits", "squirrel": "squirrels", "turtle": "turtles"},
}

# By what they are: a word is in one class only.
CLASSES = {
    "girl": GIRLS,
    "boy": BOYS,
    "pet": PETS,
    "animal": ANIMALS,
    "animals": list(HERD.values()),
    "family": FAMILY,
    "worker": WORKERS,
    "colour": COLOURS,
    "size": SIZES,
    "thing": list(THINGS),
    "things": list(THINGS.values()),
    "food": FOODS + MEALS + DRINKS,
    "corner": [corner.split()[-1] for corner in INSIDE + OUTSIDE],
    "outing": OUTINGS,
    "nature": KINDS,
    "feeling": GLAD + SAD,
    "weather": WEATHER,
    "time": TIMES,
    "number": NUMBERS,
    "mark": list(",.!?“”"),
}

OTHERS = several(
    """
    's a about after again ago all alone along am an and anger angry are asked asleep at ate
    away back baked because began behind best birds birthday bought boy built but call called
    came carried city clapped climbed clouds coins could counted cry danced dark days did do
    down dreamed end every fat fed fell find first flew flowers for forgot found friends gave
    girl had hard have he heard help helped her here hid hide him his home hot house how hungry
    hut I if ill in into is it joy jumped just kept know late laughed lived long looked loved
    many may me met mine my named near next night no nobody noise not nothing of on once one
    only onto opened our painted palace picked picture play played pulled pushed put ran reach
    right road rolled roof room said salty sang sat saw searched second see seek seen she shook
    sleep slept smiled so some song sorry stay story street swam sweet tall thank that the
    their them then there they thirsty this time tired to together told too took tower toys two
    under until upon us very walked wanted was watched way we well went were when where while
    will with without wooden world yes you your
    """
)
VOCABULARY = [word for kind in CLASSES.values() for word in kind] + OTHERS
