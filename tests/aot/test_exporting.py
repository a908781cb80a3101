"""Exported programs: sizes left open, platforms, files, and processes that have JAX alone."""

import json
import subprocess
import sys
import textwrap
import zipfile

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.aot import export, export_joint, export_module, ExportedProgram, load, save


W = jnp.asarray(np.cos(np.arange(12.0)).reshape(3, 4), "float32")
ROWS = jax.ShapeDtypeStruct(jax.export.symbolic_shape("b, 3"), jnp.float32)


def model(parameters, x):
    return functx.softmax(functx.tanh(x @ parameters["w"] + parameters["b"]), dim=1)


def loss(parameters, x):
    return functx.mean(model(parameters, x) ** 2)


PARAMETERS = {"w": W, "b": jnp.ones(4, "float32")}


def rows(n):
    return jnp.asarray(np.sin(np.arange(3.0 * n)).reshape(n, 3), "float32")


class TestPrograms:
    def test_any_batch_and_all_platforms(self):
        program = export(model, PARAMETERS, ROWS)
        for n in (1, 5):
            np.testing.assert_allclose(
                program(PARAMETERS, rows(n)), model(PARAMETERS, rows(n)), rtol=1e-5
            )
        assert program.exported.platforms == ("cpu", "cuda", "tpu")
        assert program.signature.user_inputs == ("args[0]['b']", "args[0]['w']", "args[1]")
        assert program.signature.user_outputs == ("output",)
        assert str(program) == "(f32[4], f32[3,4], f32[b,3]) -> (f32[b,4]) for cpu, cuda, tpu"

    def test_gradients_of_a_loss(self):
        program = export_joint(loss, PARAMETERS, ROWS, argnums=0)
        value, gradients = program(PARAMETERS, rows(5))
        np.testing.assert_allclose(value, loss(PARAMETERS, rows(5)), rtol=1e-5)
        want = functx.grad(loss)(PARAMETERS, rows(5))
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-7), gradients, want
        )
        assert program.signature.gradients_to_user_inputs == ("args[0]['b']", "args[0]['w']")
        assert not program.signature.takes_cotangents

    def test_cotangents_of_an_output(self):
        program = export_joint(model, PARAMETERS, ROWS)
        x = rows(5)
        y, pull = functx.vjp(model, PARAMETERS, x)
        got, gradients = program(PARAMETERS, x, jnp.ones_like(y))
        assert program.signature.takes_cotangents
        np.testing.assert_allclose(got, y, rtol=1e-5)
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6),
            gradients,
            tuple(pull(jnp.ones_like(y))),
        )

    def test_modules(self):
        def with_mean(parameters, x):
            mean = 0.9 * parameters["mean"] + 0.1 * functx.mean(x, dim=0)
            return functx.sum(functx.tanh((x - mean) @ parameters["w"])), {"mean": mean}

        parameters, buffers = {"w": W}, {"mean": jnp.zeros(3, "float32")}
        program = export_module(
            with_mean, parameters, ROWS, buffers=buffers, updates_buffers=True, gradients=True
        )
        value, updated, gradients = program(parameters, buffers, rows(4))
        want, want_buffers = with_mean({**parameters, **buffers}, rows(4))
        np.testing.assert_allclose(value, want, rtol=1e-5)
        np.testing.assert_allclose(updated["mean"], want_buffers["mean"], rtol=1e-5)
        want = functx.grad(lambda w: with_mean({"w": w, **buffers}, rows(4))[0])(W)
        np.testing.assert_allclose(gradients["w"], want, rtol=1e-4)
        signature = program.signature
        assert signature.parameters == ("w",) and signature.buffers == ("mean",)
        assert signature.buffers_to_mutate == ("mean",) and signature.user_inputs == ("args[0]",)
        assert signature.gradients_to_parameters == ("w",)

    def test_errors(self):
        with pytest.raises(TypeError, match="export: `func` must be callable"):
            export(1)
        with pytest.raises(ValueError, match="`vjp_order` must be an int from 0, got -1"):
            export(functx.sin, rows(2), vjp_order=-1)
        with pytest.raises(TypeError, match="`platforms` must be a sequence of names"):
            export(functx.sin, rows(2), platforms="cpu")
        with pytest.raises(TypeError, match="argument 1 must be of floating.*i32"):
            export_joint(lambda x, n: functx.mul(functx.sum(x), n), rows(2), jnp.int32(2))
        with pytest.raises(TypeError, match="it returns i32"):
            export_joint(lambda x: functx.argmax(x).astype("int32"), rows(2))
        with pytest.raises(TypeError, match="must return one real number, it returns f32"):
            export_module(model, PARAMETERS, rows(2), gradients=True)


class TestFiles:
    @pytest.fixture
    def path(self, tmp_path):
        save(export(loss, PARAMETERS, ROWS, vjp_order=2), tmp_path / "loss.functx")
        return tmp_path / "loss.functx"

    def test_what_is_read_is_what_was_written(self, path):
        program = load(path)
        assert isinstance(program, ExportedProgram) and program.vjp_order == 2
        assert program.signature == export(loss, PARAMETERS, ROWS).signature
        np.testing.assert_allclose(
            program(PARAMETERS, rows(7)), loss(PARAMETERS, rows(7)), rtol=1e-5
        )

    def test_it_differentiates_twice(self, path):
        program, x = load(path), rows(4)
        got, want = (functx.grad(f)(PARAMETERS, x)["w"] for f in (program, loss))
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-7)
        second = lambda f: functx.grad(
            lambda w: functx.sum(functx.grad(f)({**PARAMETERS, "w": w}, x)["w"] ** 2)
        )(W)
        np.testing.assert_allclose(second(program), second(loss), rtol=1e-3, atol=1e-7)

    def test_a_process_with_jax_alone_serves_it(self, path):
        script = f"""
            import sys, zipfile, jax, jax.export, jax.numpy as jnp
            sys.modules["functx"] = None  # whoever imports it fails
            program = zipfile.ZipFile({str(path)!r}).read("program.jax_export")
            loss = jax.export.deserialize(bytearray(program)).call
            parameters = {{"w": jnp.ones((3, 4), "float32"), "b": jnp.ones(4, "float32")}}
            print(float(loss(parameters, jnp.ones((2, 3), "float32"))))
        """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert float(done.stdout) == pytest.approx(1 / 16, rel=1e-5)

    def test_nothing_is_left_beside_it(self, path):
        assert [p.name for p in path.parent.iterdir()] == ["loss.functx"]

    def test_damage_is_refused(self, path, tmp_path):
        data = bytearray(path.read_bytes())
        for name, broken in {"cut": data[: len(data) // 2], "none": b"no archive"}.items():
            (tmp_path / name).write_bytes(broken)
            with pytest.raises(ValueError, match="load: the file .* is damaged, or no program"):
                load(tmp_path / name)
        data[len(data) // 3] ^= 255
        (tmp_path / "flipped").write_bytes(data)
        with pytest.raises(ValueError, match="is damaged"):
            load(tmp_path / "flipped")

    def test_other_digests_and_formats_are_refused(self, path, tmp_path):
        with zipfile.ZipFile(path) as archive:
            program, about = (
                archive.read("program.jax_export"),
                json.loads(archive.read("functx.json")),
            )

        def written(**changes):
            with zipfile.ZipFile(tmp_path / "other", "w") as archive:
                archive.writestr("program.jax_export", program)
                archive.writestr("functx.json", json.dumps({**about, **changes}))
            return tmp_path / "other"

        with pytest.raises(ValueError, match="does not have the digest"):
            load(written(sha256="0" * 64))
        with pytest.raises(ValueError, match="has format 2, this functx reads up to 1"):
            load(written(format=2))
        with pytest.raises(ValueError, match="does not say what format"):
            load(written(format=None))

    def test_bad_programs_are_refused(self, tmp_path):
        with pytest.raises(TypeError, match="save: `program` must be an exported program"):
            save(functx.sin, tmp_path / "sin")
        with pytest.raises(OSError):
            load(tmp_path / "missing")
