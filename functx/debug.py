"""What looks for mistakes in values: exact errors, under `jit` too, and the first NaN."""

from ._names import equip as _equip
from ._transforms.anomaly.detect import detect_anomaly as detect_anomaly
from ._transforms.anomaly.report import AnomalyError as AnomalyError
from ._transforms.checked import checked as checked, checking as checking


_equip(__name__)
