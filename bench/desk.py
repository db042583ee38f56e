"""``python -m bench.desk``: how long the desk takes to open on the demo day, and until a saved template is told to the browser."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.conftest import DAY, ROOT


def main() -> int:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        shutil.copytree(ROOT / "examples", folder / "examples")
        shutil.copy(ROOT / "feeds.yaml", folder)
        path = folder / "examples" / "feeds.yaml"
        subprocess.run(
            [sys.executable, "-m", "digest", "run", "--config", str(path), "--date", DAY, "--quiet"], cwd=ROOT, stderr=subprocess.DEVNULL, check=False
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        began = time.perf_counter()
        command = [sys.executable, "-m", "digest", "preview", "--config", str(path), "--no-browser", "--port", str(port)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=os.environ | {"MAIL_KEY": "k" * 30}) as desk:
            assert desk.stdout
            token = desk.stdout.readline().strip().partition("token=")[2]
            cookie = {"Cookie": f"digest-desk={token}"}
            while not _answers(port, cookie):
                time.sleep(0.01)
            print(f"open with the picture of the day        {time.perf_counter() - began:5.2f} s")
            live = http.client.HTTPConnection("127.0.0.1", port)
            live.request("GET", "/live", headers=cookie)
            stream = live.getresponse()
            while b"revision" not in stream.readline():
                pass  # what stands is told first
            time.sleep(1)
            own = folder / "examples" / "templates" / "web"
            own.mkdir(parents=True)
            began = time.perf_counter()
            shutil.copy(ROOT / "templates" / "web" / "issue.html", own)
            while b"revision" not in stream.readline():
                pass
            told = time.perf_counter() - began
            assert _answers(port, cookie)
            print(f"a saved template is told to the browser {told:5.2f} s, its picture is made {time.perf_counter() - began:5.2f} s after the save")
            began = time.perf_counter()
            path.write_text(path.read_text(encoding="utf-8").replace("Training Digest (demo)", "Another name"), encoding="utf-8")
            while b"revision" not in stream.readline():
                pass
            assert _answers(port, cookie)
            print(f"a saved feeds.yaml                      {time.perf_counter() - began:5.2f} s until its picture is made")
            live.close()
            desk.terminate()
    return 0


def _answers(port: int, cookie: dict[str, str]) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", f"/view/mail?day={DAY}&lang=zh", headers=cookie)
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
