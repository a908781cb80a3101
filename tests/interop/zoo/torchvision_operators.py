"""torchvision beside a PyTorch for which its compiled part was not built.

Its import registers shapes for operators of that part, which must be declared before. No model of
the list calls one.
"""

import importlib.util
from pathlib import Path

import torch


_OF_BOXES = "Tensor input, Tensor rois, float spatial_scale"
_SIZE = "int pooled_height, int pooled_width"
_BACK = "Tensor grad, Tensor rois"
_SCHEMAS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    f"roi_align({_OF_BOXES}, SymInt pooled_height, SymInt pooled_width, int ratio, bool aligned)"
    " -> Tensor",
    f"_roi_align_backward({_BACK}, float s, {_SIZE}, int a, int b, int c, int d, int e, bool f)"
    " -> Tensor",
    f"roi_pool({_OF_BOXES}, SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)",
    f"_roi_pool_backward({_BACK}, Tensor argmax, float s, {_SIZE}, int a, int b, int c, int d)"
    " -> Tensor",
    f"ps_roi_align({_OF_BOXES}, {_SIZE}, int sampling_ratio) -> (Tensor, Tensor)",
    f"_ps_roi_align_backward({_BACK}, Tensor m, float s, {_SIZE}, int r, int a, int b, int c,"
    " int d) -> Tensor",
    f"ps_roi_pool({_OF_BOXES}, {_SIZE}) -> (Tensor, Tensor)",
    f"_ps_roi_pool_backward({_BACK}, Tensor m, float s, {_SIZE}, int a, int b, int c, int d)"
    " -> Tensor",
    "deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt a,"
    " SymInt b, SymInt c, SymInt d, SymInt e, SymInt f, SymInt g, SymInt h, bool i) -> Tensor",
    "_deform_conv2d_backward(Tensor grad, Tensor input, Tensor weight, Tensor offset, Tensor mask,"
    " Tensor bias, SymInt a, SymInt b, SymInt c, SymInt d, SymInt e, SymInt f, SymInt g, SymInt h,"
    " bool i) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
)


def _declared():
    """The library that declares them; None where the compiled part loads, or is not there."""
    found = importlib.util.find_spec("torchvision")
    if found is None or not found.submodule_search_locations:
        return None
    try:
        for path in Path(found.submodule_search_locations[0]).glob("_C.*"):
            torch.ops.load_library(path)
            return None
    except OSError:
        pass
    library = torch.library.Library("torchvision", "DEF")
    for schema in _SCHEMAS:
        library.define(schema)
    return library


DECLARED = _declared()
