"""PyTorch's names that are no operators here, and what does their work."""

from __future__ import annotations

import re


_NO_COMPLEX32 = "XLA has no complex32; functx.cfloat, which is complex64, casts and is a dtype"
_NO_CAST = "nothing is cast of itself; x.astype and dtype= cast"
_STRICT = "no mode to set; errors are raised, and XLA chooses its algorithms for a platform"

REMEDIES = {
    "GradientEdge": "functx.tap(x, name) names a point, functx.tap_grads differentiates there",
    "Tensor": "arrays are plain jax.Array's",
    "backward": "functx.grad differentiates functions",
    "chalf": _NO_COMPLEX32,
    "choose_qparams_optimized": "quantized numbers are out of scope; AQT has them for JAX",
    "compile": "functx.jit compiles",
    "complex32": _NO_COMPLEX32,
    "cond": "jax.lax.cond, or functx.where on arrays",
    "contiguous": "arrays have no strides; the array itself does",
    "cuda": "jax.devices('gpu') lists devices, jax.device_put moves arrays",
    "detach_": "arrays are immutable: x = functx.detach(x)",
    "detach_copy": "functx.detach",
    "device": "device= takes 'cpu', 'gpu', 'cuda:0' or a jax.Device",
    "empty_permuted": "arrays have no strides; functx.empty makes one",
    "empty_strided": "arrays have no strides; functx.empty makes one",
    "fork": "jax.jit runs what is independent side by side",
    "from_file": "numpy.memmap reads a file, functx.from_numpy takes it",
    "frobenius_norm": "functx.norm",
    "func": "its functions are functx's own: functx.grad, functx.vmap",
    "get_default_device": "jax.config.jax_default_device",
    "get_default_dtype": "it is float32; dtype= says otherwise",
    "get_device": "x.devices() says where an array lives",
    "get_device_module": "jax.devices lists devices",
    "get_gradient_edge": "functx.tap(x, name) names a point, functx.tap_grads differentiates there",
    "get_rng_state": "functx.random.Generator holds a key and a counter",
    "hash_tensor": "hash(x.tobytes()) of numpy.asarray(x)",
    "init_num_threads": "XLA_FLAGS set XLA's threads",
    "initial_seed": "functx.random.Generator holds a key and a counter",
    "is_conj": "no array is lazily conjugated: it would be False",
    "is_distributed": "x.sharding says how an array is spread",
    "is_inference": "an array does not say; functx.is_inference_mode_enabled says it of a region",
    "is_neg": "no array is lazily negated: it would be False",
    "is_storage": "arrays have no storage that can be reached",
    "item": "x.item() gives a Python number",
    "load": "numpy.load, or Orbax for trees of arrays",
    "make_functional": "functx.functional_call calls a model with other parameters",
    "native_norm": "functx.norm",
    "norm_except_dim": "functx.linalg.vector_norm over the other dimensions",
    "nuclear_norm": "functx.linalg.svdvals, and functx.sum over the last dimension",
    "optim": "Optax has optimizers for JAX",
    "range": "functx.arange, which leaves the end out",
    "register_hook": "functx.tap(x, on_grad=hook)",
    "register_multi_grad_hook": "functx.tap_group((x, y), hook)",
    "register_post_accumulate_grad_hook": "functx.fused_update steps in the backward pass",
    "resize_": "functx.reshape, or functx.nn.functional.pad for another number of elements",
    "resize_as_": "functx.reshape, or functx.nn.functional.pad for another number of elements",
    "resolve_conj": "no array is lazily conjugated: the array itself does",
    "resolve_neg": "no array is lazily negated: the array itself does",
    "retain_grad": "functx.tap(x, name), and functx.tap_grads gives its gradient",
    "save": "numpy.save, or Orbax for trees of arrays",
    "seed": "functx.manual_seed",
    "set_default_device": "jax.config.update('jax_default_device', device)",
    "set_default_dtype": "the default is float32; dtype= says otherwise",
    "set_default_tensor_type": "the default is float32; dtype= says otherwise",
    "set_detect_anomaly": "functx.detect_anomaly(f), around the function that is in doubt",
    "set_flush_denormal": "XLA's arithmetic flushes subnormal numbers, what compares keeps them",
    "set_printoptions": "numpy.set_printoptions, which JAX's arrays obey",
    "set_rng_state": "functx.random.Generator takes a key",
    "slice_copy": "functx.narrow, or x[start:end]",
    "slice_inverse": "functx.slice_scatter into zeros",
    "stack_module_state": "functx.stack_trees stacks the parameters of an ensemble",
    "testing": "import functx.testing",
    "thread_safe_generator": "functx.random.Generator holds a key and a counter",
    "to": "jax.device_put moves arrays, x.astype converts them",
    "to_dlpack": "the array itself: what takes DLPack takes it, and functx.asarray the other way",
    "typename": "type(x).__name__",
    "unsafe_chunk": "nothing is a view; functx.chunk",
    "unsafe_split": "nothing is a view; functx.split",
    "unsafe_split_with_sizes": "nothing is a view; functx.split_with_sizes",
    "utils": "PyTorch's; trees are in jax.tree",
    "wait": "jax.block_until_ready waits",
    "while_loop": "jax.lax.while_loop, or jax.lax.fori_loop for reverse mode",
    "zero_": "arrays are immutable: functx.zeros_like(x)",
}
_BY_FAMILY = {
    r"(sparse_|to_sparse|resize_as_sparse_|hsmm|hspmm|dsmm|spmm|smm$|s+p?addmm|ccol_|col_ind|crow_|row_ind|indices_copy"
    r"|values_copy)": "sparse arrays are out of scope; jax.experimental.sparse has them",
    r"(quantize|dequantize|quantized|empty_quantized|fake_quant|fused_moving_avg|int_repr"
    r"|q_per_|q_scale|q_zero|fbgemm_)": "quantized numbers are out of scope; AQT has them for JAX",
    r"(cudnn|miopen|mkldnn)_": "XLA chooses the library; the operator without the prefix",
    r"batch_norm_(\w+)$": "a part of PyTorch's kernels; functx.nn.functional.batch_norm_with_stats",
    r"(convolution|conv_tbc|native_dropout"
    r"|native_channel_shuffle|max_pool1d_with_indices|feature_dropout)": "a part of PyTorch's "
    "kernels; functx.nn.functional has the operator",
    r"(get_|set_|is_)?autocast|clear_autocast|(get|set|is)_autocast": _NO_CAST,
    r"(assert_int_or_pair|boolean_dispatch|handle_torch_function|has_torch_function)": "a part of "
    "PyTorch's own calls, not of what they compute",
    r"scaled_(grouped_)?mm$": "jax.nn.scaled_matmul, for numbers of 8 bits with their scales",
    r"embedding_renorm_": "arrays are immutable: functx.nn.functional.embedding(max_norm=)",
    r"(masked_tensor|as_masked_tensor|is_masked_tensor)$": "masks are arguments, mask=, and no "
    "part of an array",
    r"symeig$": "PyTorch has taken it out; functx.linalg.eigh",
    r"sym_": "shapes are Python ints while tracing; Python's own functions do",
    r"(is_|set_)?(anomaly|warn_always|deterministic)|(get|use|are|set|is)_\w*(determin|anomaly|warn)"
    r"|(get|set)_float32_matmul": _STRICT + "; jax.default_matmul_precision for products",
    r"(get|set)_num_(interop_)?threads": "XLA_FLAGS set XLA's threads",
    r"(parse_|import_ir|merge_type|unify_type|get_file_path|compiled_with|classproperty"
    r"|prepare_multi|profiler_|is_vulkan)": "about PyTorch's own build and compiler",
}
_COMPILED = {re.compile(pattern): remedy for pattern, remedy in _BY_FAMILY.items()}


def remedy_of_family(name: str) -> str:
    """What does the work of a family of PyTorch's functions, "" where `name` is of none."""
    return next((remedy for pattern, remedy in _COMPILED.items() if pattern.match(name)), "")
