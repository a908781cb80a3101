"""What a backward pass keeps and what it computes again: `functx.checkpoint` and its kin."""

from ._names import equip as _equip
from ._transforms.checkpointing.checkpoint import checkpoint as checkpoint
from ._transforms.checkpointing.plan import checkpoint_plan as checkpoint_plan
from ._transforms.checkpointing.policies import CheckpointPolicy as CheckpointPolicy
from ._transforms.checkpointing.report import checkpoint_report as checkpoint_report
from ._transforms.checkpointing.sequential import checkpoint_sequential as checkpoint_sequential


_equip(__name__)
