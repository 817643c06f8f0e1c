"""BytePairs: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import BytePairs

CHINESE = "我喜欢猫 我喜欢狗 他也喜欢猫 我爱你 🚀🚀 你爱我吗"

# A widget, and what a reader does with it.
PICTURES = {
    "shells": (lambda: BytePairs(merges=8), None),
    "begun": (lambda: BytePairs(word="猫 she seals"), None),
    "chinese": (lambda: BytePairs(text=CHINESE, merges=3, word="喜欢你🚀z"), None),
    "bytes": (lambda: BytePairs(text=CHINESE, merges=9, unit="bytes", word="爱猫 é"), None),
    "to the end": (lambda: BytePairs(text="low lower lowest aaaa aaa", merges=40), None),
    "nothing": (lambda: BytePairs(text="  ", word=""), None),
}  # fmt: skip
