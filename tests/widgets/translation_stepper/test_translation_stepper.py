"""TranslationStepper, used by its controls as a reader would, against the translator in PyTorch."""

from trials import trials

TestOracle = trials(__file__)
