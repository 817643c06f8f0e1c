"""What the models of the stories share: the task, and training rows that are drawn once for all."""

from common import UNFINISHED
from pieces.tasks import Stories
from pool import Pool

TASK = Stories()
POOL = Pool(TASK, UNFINISHED)
