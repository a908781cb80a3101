"""The tour's parts on a handful of digits, and the whole of it in short."""

import json
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.cli import tour
from functx.cli.tour import tour_folder
from functx.cli.usage import UsageError
from functx.testing.checks.programs import cheaper_flags


sys.path.insert(0, str(tour_folder()))

from curvature import lanczos
from net import Digits, init, loss, net
from per_sample import norms, per_sample_gradients, private_gradient


@pytest.fixture(scope="module")
def params():
    return init(jax.random.key(0))


@pytest.fixture(scope="module")
def few():
    rng = np.random.default_rng(0)
    images = jnp.asarray(rng.uniform(0, 1, (6, 1, 8, 8)), "float32")
    return Digits(images, jnp.asarray(rng.integers(0, 10, 6), "int32"))


def test_a_batch_and_one_image_agree(params, few):
    scores = net(params, few.images)
    assert scores.shape == (6, 10)
    assert np.allclose(net(params, few.images[2]), scores[2], atol=1e-5)


def test_per_sample_gradients_average_to_the_gradient(params, few):
    each = jax.jit(per_sample_gradients)(params, few.images, few.labels)
    whole = jax.jit(functx.grad(loss))(params, few.images, few.labels)
    for name, g in whole.items():
        assert np.allclose(each[name].mean(0), g, atol=1e-5)


def test_private_gradients_are_clipped(params, few):
    each = norms(jax.jit(per_sample_gradients)(params, few.images, few.labels))
    assert each.shape == (6,) and each.min() > 0.01
    private = private_gradient(params, few.images, few.labels, jax.random.key(0), 0.01, 0.0)
    length = np.sqrt(sum(float((g**2).sum()) for g in private.values()))
    assert 0 < length <= 0.01 + 1e-6


def test_ritz_values_grow_toward_the_largest_eigenvalue(params, few):
    ritz = lanczos(params, few, steps=4)
    assert np.isnan(ritz[0, 1:]).all() and np.isfinite(ritz[-1]).all()
    assert (np.diff(ritz[:, 0]) >= -1e-6).all(), "Cauchy interlacing"
    assert (np.diff(ritz[-1]) <= 0).all(), "largest first"


def test_the_examples_are_found_in_an_installed_package_and_in_a_checkout(monkeypatch, tmp_path):
    package = tmp_path / "functx"
    monkeypatch.setattr(tour, "PACKAGE", package)
    with pytest.raises(UsageError, match="the tour is not installed with"):
        tour_folder()
    for base in (tmp_path, package):  # what is installed comes before what lies beside it
        (base / "examples" / "tour").mkdir(parents=True)
        (base / "examples" / "tour" / "whole_tour.py").touch()
        assert tour_folder() == base / "examples" / "tour"


def test_a_script_of_the_tour_runs_by_itself(tmp_path):
    command = [sys.executable, str(tour_folder() / "net.py")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1898 parameters" in done.stdout and "untrained net" in done.stdout


def test_the_tour_in_short(tmp_path):
    command = [sys.executable, "-m", "functx", "tour", "--quick", "--out", str(tmp_path)]
    flags = cheaper_flags() or "--xla_backend_optimization_level=0"
    quickly = {**os.environ, "XLA_FLAGS": flags}  # compiled
    done = subprocess.run(command, capture_output=True, text=True, env=quickly)
    assert done.returncode == 0, done.stderr
    assert "curvature" in done.stdout and str(tmp_path) in done.stdout
    pictures = ("training", "gradient_norms", "ensemble", "saliency", "spectrum")
    for name in pictures:
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "checks.json").read_text())["totals"]["fail"] == 0
    assert (tmp_path / "checks.html").exists()
