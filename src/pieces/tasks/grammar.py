"""The sentences of a toy language, in Chinese and in English, from one list of choices.

昨天 那只小猫 在花园里 看见了 一朵花      time, who, place, verb, whom
the small cat  saw  a flower  in the garden  yesterday

Each noun has a measure word; 那 ("that") stands for "the".
"""

TIMES = (("昨天", "yesterday"), ("每天", "every day"), ("明天", "tomorrow"))
PLACES = (
    ("", ""),
    ("在花园里", "in the garden"),
    ("在学校里", "in the school"),
    ("在房子里", "in the house"),
    ("在河边", "by the river"),
    ("在街上", "on the street"),
)
ARTICLES = (("那", "the"), ("一", "a"), ("两", "two"))
ADJECTIVES = (
    ("", ""),
    ("小", "small"),
    ("大", "big"),
    ("新", "new"),
    ("高", "tall"),
    ("怪", "strange"),
    ("好", "good"),
)
# Chinese, its measure word, one, two.
NOUNS = (
    ("猫", "只", "cat", "cats"),
    ("狗", "只", "dog", "dogs"),
    ("鸟", "只", "bird", "birds"),
    ("老师", "个", "teacher", "teachers"),
    ("学生", "个", "student", "students"),
    ("孩子", "个", "child", "children"),
    ("书", "本", "book", "books"),
    ("花", "朵", "flower", "flowers"),
    ("球", "个", "ball", "balls"),
)
LIVING = 6  # the first nouns, which can be subjects
# Chinese, then by whom and when: they, she, in the past.
VERBS = (
    ("看见", "see", "sees", "saw"),
    ("听见", "hear", "hears", "heard"),
    ("找到", "find", "finds", "found"),
    ("拿走", "take", "takes", "took"),
    ("追", "chase", "chases", "chased"),
    ("画", "draw", "draws", "drew"),
)
NOUN_PHRASE = (len(ARTICLES), len(ADJECTIVES))
# The choices in a sentence: time, place, subject, verb, object.
CHOICES = (
    *(len(TIMES), len(PLACES)),
    *(*NOUN_PHRASE, LIVING),
    len(VERBS),
    *(*NOUN_PHRASE, len(NOUNS)),
)
WHO_DOES_WHAT = (4, 5, 8)  # subject noun, verb, object noun
PAST, FUTURE, TWO = 0, 2, 2


def chinese(item: list[int]) -> str:
    """Time before place before verb; a measure word before each noun; 了 after what is done."""
    time, place, *subject, verb, article, adjective, noun = item
    will = "会" if time == FUTURE else ""
    done = "了" if time == PAST else ""
    parts = (
        TIMES[time][0],
        _chinese_noun(*subject),
        will + PLACES[place][0],
        VERBS[verb][0] + done,
        _chinese_noun(article, adjective, noun),
    )
    return "".join(parts) + "。"


def english(item: list[int]) -> str:
    """Verb before object before place before time; verbs agree, nouns have a plural."""
    time, place, *subject, verb, article, adjective, noun = item
    parts = (
        _english_noun(*subject),
        _english_verb(verb, time, subject[0] == TWO),
        _english_noun(article, adjective, noun),
        PLACES[place][1],
        TIMES[time][1],
    )
    return " ".join(part for part in parts if part) + " ."


def words() -> tuple[list[str], list[str]]:
    """All characters of the Chinese, all words of the English, each once and in order."""
    tables = (TIMES, PLACES, ARTICLES, ADJECTIVES, VERBS)
    characters = "".join(entry[0] for table in tables for entry in table)
    characters += "".join(noun[0] + noun[1] for noun in NOUNS) + "会了。"
    spoken = [phrase for table in tables for entry in table for phrase in entry[1:]]
    spoken += [form for noun in NOUNS for form in noun[2:]] + ["will", "."]
    return list(dict.fromkeys(characters)), list(dict.fromkeys(" ".join(spoken).split()))


def _chinese_noun(article: int, adjective: int, noun: int) -> str:
    return ARTICLES[article][0] + NOUNS[noun][1] + ADJECTIVES[adjective][0] + NOUNS[noun][0]


def _english_noun(article: int, adjective: int, noun: int) -> str:
    form = NOUNS[noun][3 if article == TWO else 2]
    return " ".join(f"{ARTICLES[article][1]} {ADJECTIVES[adjective][1]} {form}".split())


def _english_verb(verb: int, time: int, two: bool) -> str:
    plain, she, past = VERBS[verb][1:]
    return {PAST: past, FUTURE: f"will {plain}"}.get(time, plain if two else she)
