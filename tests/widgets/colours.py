"""Colours as people see them: contrast, colour-deficient sight, and how far two colours are apart.

Contrast: WCAG 2.2. Sight: Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
Distance: CIEDE2000 (Sharma, Wu and Dalal 2005), D65.
"""

import math
import re

SIGHTS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)


def rgb(colour):
    """Return #rrggbb as three numbers from 0 to 255."""
    assert re.fullmatch(r"#[0-9a-f]{6}", colour), f"{colour} is no #rrggbb"
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def linear(colour):
    """Return a colour (0 to 255) as light, 0 to 1."""
    return [x / 3294.6 if x <= 10.31475 else ((x / 255 + 0.055) / 1.055) ** 2.4 for x in colour]


def times(matrix, vector):
    """Return matrix times vector."""
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def contrast(a, b):
    """Return the contrast of two colours (0 to 255), 1 to 21."""
    low, high = sorted(sum(w * x for w, x in zip((0.2126, 0.7152, 0.0722), linear(c), strict=True))
                       for c in (a, b))  # fmt: skip
    return (high + 0.05) / (low + 0.05)


def lab(light):
    """Return light (0 to 1) in CIE L*a*b*, D65."""
    white = [sum(row) for row in XYZ]
    x, y, z = (
        t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116
        for t in (v / w for v, w in zip(times(XYZ, light), white, strict=True))
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def seen(colour, sight):
    """Return L*a*b* of a colour (0 to 255) as a sight shows it."""
    return lab([min(1.0, max(0.0, x)) for x in times(SIGHTS[sight], linear(colour))])


def apart(a, b, sight="normal"):
    """Return how far two colours (0 to 255) are apart in a sight: 1 is just seen."""
    return ciede2000(seen(a, sight), seen(b, sight))


def ciede2000(one, two):
    """Return the CIEDE2000 distance of two L*a*b* colours."""
    (L1, a1, b1), (L2, a2, b2) = one, two
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    grey = 1.5 - 0.5 * math.sqrt(mean**7 / (mean**7 + 25**7))
    (C1, h1), (C2, h2) = (
        (math.hypot(a * grey, b), math.degrees(math.atan2(b, a * grey)) % 360)
        for a, b in ((a1, b1), (a2, b2))
    )
    turn = (h2 - h1 + 180) % 360 - 180 if C1 * C2 else 0
    dH = 2 * math.sqrt(C1 * C2) * math.sin(math.radians(turn / 2))
    L, C = (L1 + L2) / 2, (C1 + C2) / 2
    h = (h1 + turn / 2) % 360 if C1 * C2 else h1 + h2
    cos = lambda degrees: math.cos(math.radians(degrees))  # noqa: E731
    T = (1 - 0.17 * cos(h - 30) + 0.24 * cos(2 * h) + 0.32 * cos(3 * h + 6)
         - 0.20 * cos(4 * h - 63))  # fmt: skip
    SL = 1 + 0.015 * (L - 50) ** 2 / math.sqrt(20 + (L - 50) ** 2)
    SC, SH = 1 + 0.045 * C, 1 + 0.015 * C * T
    RT = -2 * math.sqrt(C**7 / (C**7 + 25**7))
    RT *= math.sin(math.radians(60 * math.exp(-(((h - 275) / 25) ** 2))))
    dL, dC = (L2 - L1) / SL, (C2 - C1) / SC
    return math.sqrt(dL**2 + dC**2 + (dH / SH) ** 2 + RT * dC * dH / SH)
