"""What BiasMaps has to show for its traits, by torch and `pieces`, never by the page."""

import torch
from charted import CHARTS, same_chart, same_words, written
from oracle import ask, maps, right, same_bars, same_map

from pieces.positions import ALiBi, alibi_slopes, t5_bucket


def bias_maps(root, s):
    """The matrix and who shares a number in it, the row, the slopes or the buckets, the sentence."""
    T, i, j, both, head = s["T"], s["query"], s["key"], s["bidirectional"], s["head"]
    positions = torch.arange(T)
    sizes = (s["num_buckets"], s["max_distance"])
    bucket = lambda relative: t5_bucket(relative, *sizes, bidirectional=both)  # noqa: E731
    alibi = s["kind"] == "alibi"
    if alibi:
        values = ALiBi(s["heads"])(positions)[0, head - 1].double()
    else:
        values = bucket(positions - positions[:, None]).double()
    mask = torch.ones(T, T).bool() if both else torch.ones(T, T).tril().bool()
    same = (values == values[i - 1, j - 1]) & mask
    (drawn,) = maps(root)
    same_map(drawn, values.tolist(), mask=mask, frame=i - 1, marks=same.nonzero().tolist(),
             digits=1 if alibi else 0, signed=alibi)  # fmt: skip
    kind = "bias" if alibi else "bucket"
    right(drawn.caption == f"{kind.title()} of each query and key", drawn.caption)
    row, *others = ask(root, CHARTS)
    keys = range(1, (T if both else i) + 1)
    digits = 3 if alibi else 0
    if len(keys) > 1:
        same_chart(row, keys, [(kind, values[i - 1, : len(keys)], False)], axes=("key", kind), cursor=j,
                   digits=digits)  # fmt: skip
    d = i - j
    where = f"Query {i} and key {j}, {abs(d)} {'back' if d > 0 else 'ahead'}"
    where = where if d else f"Query {i} and its own key"
    if alibi:
        slopes = alibi_slopes(s["heads"]).double()
        plain = [2 ** (-8 * (h + 1) / s["heads"]) for h in range(s["heads"])]
        same_bars(root, [f"head {h + 1}" for h in range(s["heads"])],
                  [(slopes.tolist(), 1, False, 4), (plain, 1, False, 4)])  # fmt: skip
        focus = root.locator(".p-bar-row.p-focus .p-bar-name").all_text_contents()
        right(
            focus == [f"head {head}"] and not others, f"{focus} is followed, {len(others)} charts"
        )
        slope = slopes[head - 1]
        sentence = f"{where}: head {head} adds −{written(slope, 4)} × {abs(d)} = "
        sentence += f"{written(values[i - 1, j - 1], 3)} to the score."
    else:
        right(root.locator(".p-bar-row:visible").count() == 0, "slopes of ALiBi under T5")
        distances = torch.arange(round(1.25 * s["max_distance"] + 1e-9) + 1)
        far = bucket(distances if both and d < 0 else -distances)
        same_chart(others[0], distances.tolist(), [("bucket", far, False)], axes=("distance", "bucket"),
                   cursor=min(abs(d), len(distances) - 1), marks=[(s["max_distance"], "furthest")],
                   digits=0)  # fmt: skip
        sentence = bucket_sentence(where, bucket, d)
    said = root.locator(".p-say").text_content()
    right(same_words(said, sentence), f"{said!r}, not {sentence!r}")
    right(s["distance"] == d, f"Python reads the distance {s['distance']}, not {d}")
    wanted = float(values[i - 1, j - 1])
    right(abs(s["value"] - wanted) < 1e-5, f"Python reads {s['value']}, not {wanted}")


def bucket_sentence(where, bucket, d):
    """What is said of a bucket: which distances it holds on this side; a word itself is on the past's."""
    side = -1 if d >= 0 else 1
    mine = int(bucket(torch.tensor(-d)))
    held = [n for n in range(1200) if int(bucket(torch.tensor(side * n))) == mine]
    text = f"{where}: bucket {mine}, which holds "
    if held[-1] == 1199:
        text += f"every distance from {held[0]} up."
    elif len(held) == 1:
        text += f"the distance {held[0]} only."
    else:
        text += f"the distances {held[0]} to {held[-1]}."
    return text + " All cells of a bucket get one trained number."
