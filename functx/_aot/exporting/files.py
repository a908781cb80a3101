"""Exported programs in files: a zip archive of JAX's bytes and a description, without pickle."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import zipfile
import zlib
from typing import Any, NoReturn

import jax
import jax.export

from functx._core import describe, fail

from .programs import ExportedProgram
from .signature import Signature


__all__ = ["load", "save"]

FORMAT = 1  # raised whenever an older functx could not read the file
_PROGRAM, _DESCRIPTION = "program.jax_export", "functx.json"


def save(program: ExportedProgram, path: str | os.PathLike[str]) -> None:
    """Writes an exported program to a file.

    - `program`: what `functx.aot.export` and its kin return.
    - `path`: the file, which is replaced once all is written.

    The file is a zip archive; its member `program.jax_export` is what `jax.export.deserialize`
    reads, so that a process without functx can run it; `functx.json` holds the signature, versions
    and a digest.

    Errors: TypeError for another program, ImportError without the package `flatbuffers`, OSError.

    >>> import os, tempfile
    >>> program = functx.aot.export(functx.sin, jnp.ones(2, "float32"), platforms=["cpu"])
    >>> path = os.path.join(tempfile.mkdtemp(), "sin.functx")
    >>> functx.aot.save(program, path)
    >>> functx.aot.load(path)(jnp.zeros(2, "float32"))
    Array([0., 0.], dtype=float32)
    """
    if not isinstance(program, ExportedProgram):
        message = f"`program` must be an exported program, got {describe(program)}"
        fail("save", message, hint="functx.aot.export makes one", error=TypeError)
    try:
        data = bytes(program.exported.serialize(vjp_order=program.vjp_order))
    except ImportError:
        _need_flatbuffers("save")
    about = {
        "format": FORMAT,
        "functx": sys.modules["functx"].__version__,
        "jax": jax.__version__,
        "platforms": list(program.exported.platforms),
        "vjp_order": program.vjp_order,
        "signature": program.signature.as_data(),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    there = os.fspath(path)
    beside = f"{there}.{os.getpid()}.part"
    try:
        with zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(_PROGRAM, data)
            archive.writestr(_DESCRIPTION, json.dumps(about, indent=2))
        os.replace(beside, there)
    finally:
        if os.path.exists(beside):
            os.remove(beside)


def load(path: str | os.PathLike[str]) -> ExportedProgram:
    """Reads a program that `functx.aot.save` wrote. Nothing in the file is run by reading it.

    - `path`: the file.

    Errors: ValueError for a file that is none of functx's, is damaged, or is of a newer format;
    ImportError without the package `flatbuffers`; OSError.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            data, about = archive.read(_PROGRAM), json.loads(archive.read(_DESCRIPTION))
    except (
        zipfile.BadZipFile,
        KeyError,
        ValueError,
        EOFError,
        NotImplementedError,
        zlib.error,
    ) as error:
        _refuse(path, f"is damaged, or no program of functx ({error})")
    if not isinstance(about, dict) or not isinstance(about.get("format"), int):
        _refuse(path, "does not say what format it has")
    if about["format"] > FORMAT:
        _refuse(path, f"has format {about['format']}, this functx reads up to {FORMAT}")
    if hashlib.sha256(data).hexdigest() != about.get("sha256"):
        _refuse(path, "is damaged: the program does not have the digest that was written")
    try:
        exported = jax.export.deserialize(bytearray(data))
    except ImportError:
        _need_flatbuffers("load")
    return ExportedProgram(exported, Signature.of_data(about["signature"]), about["vjp_order"])


def _refuse(path: Any, what: str) -> NoReturn:
    fail("load", f"the file {os.fspath(path)!r} {what}", error=ValueError)


def _need_flatbuffers(who: str) -> NoReturn:
    hint = "pip install flatbuffers"
    fail(who, "JAX needs the package `flatbuffers` for this", hint=hint, error=ImportError)
