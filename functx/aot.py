"""Programs ahead of time: see what a function computes, change it, divide it, ship it."""

from __future__ import annotations

from ._aot.graphs.graph import Graph as Graph
from ._aot.graphs.tracing import trace as trace
from ._aot.joint.joint import JointGraph as JointGraph, joint_graph as joint_graph
from ._aot.joint.partitions import (
    default_partition as default_partition,
    min_cut_partition as min_cut_partition,
    Partition as Partition,
    partition_saving as partition_saving,
)
from ._names import equip as _equip


_equip(__name__)
