"""Programs ahead of time: see what a function computes, change it, divide it, ship it."""

from __future__ import annotations

from ._aot.compiling.cache import cache_counts as cache_counts, CacheCounts as CacheCounts
from ._aot.compiling.compilers import interpret_graph as interpret_graph, xla as xla
from ._aot.compiling.functions import (
    aot_function as aot_function,
    aot_module as aot_module,
    Compilation as Compilation,
)
from ._aot.exporting.files import load as load, save as save
from ._aot.exporting.programs import (
    export as export,
    export_joint as export_joint,
    export_module as export_module,
    ExportedProgram as ExportedProgram,
)
from ._aot.exporting.signature import Signature as Signature
from ._aot.functionalizing.functionalize import functionalize as functionalize
from ._aot.functionalizing.mutable_array import mutable as mutable, MutableArray as MutableArray
from ._aot.graphs.graph import Graph as Graph
from ._aot.graphs.tracing import trace as trace
from ._aot.joint.joint import joint_graph as joint_graph, JointGraph as JointGraph
from ._aot.joint.partitions import (
    default_partition as default_partition,
    GraphPartition as GraphPartition,
    min_cut_partition as min_cut_partition,
    partition_saving as partition_saving,
)
from ._aot.rolling.roll import (
    repeated_layers as repeated_layers,
    RepeatedLayers as RepeatedLayers,
    roll as roll,
)
from ._names import equip as _equip


_equip(__name__)
