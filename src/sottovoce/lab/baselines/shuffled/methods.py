"""The compared methods by the names of the paper, each made for a central target and a domain.

Source: Wang 2021, section 9.6.
"""

from collections.abc import Callable

from sottovoce.lab.baselines.shuffle_bounds.solh import PublishedTarget
from sottovoce.lab.baselines.shuffled.appended_unary import aue
from sottovoce.lab.baselines.shuffled.base import FrequencyMethod
from sottovoce.lab.baselines.shuffled.direct import sh
from sottovoce.lab.baselines.shuffled.fragmented_unary import rap, rap_removal
from sottovoce.lab.baselines.shuffled.hashed import had, olh, solh
from sottovoce.lab.baselines.shuffled.yardsticks import CentralLaplace, UniformGuess

METHODS: dict[str, Callable[[PublishedTarget, int], FrequencyMethod]] = {
    "SOLH": solh,
    "SH": sh,
    "RAP": rap,
    "RAP_R": rap_removal,
    "AUE": aue,
    "OLH": lambda target, size: olh(target.central, size),
    "Had": lambda target, size: had(target.central, size),
    "Lap": lambda target, size: CentralLaplace(target.central),
    "Base": lambda target, size: UniformGuess(),
}
SHUFFLED = ("SOLH", "SH", "RAP", "RAP_R", "AUE")  # the others are unshuffled or central
