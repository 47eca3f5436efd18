"""Devices for llama.cpp beside the CPU on a machine without any: processes that serve ggml's RPC backend.

Memory that llama.cpp counts for them is laid out as that of other devices; nothing is computed here.
"""

from __future__ import annotations

import ctypes
import socket
import subprocess
import sys
import time
from ctypes import c_char_p, c_size_t, c_void_p

from llama_library import FOLDER, Llama


def rpc_backend():
    library = ctypes.CDLL(str(FOLDER / "libggml-rpc.so"))
    library.ggml_backend_rpc_add_server.restype = c_void_p
    library.ggml_backend_rpc_add_server.argtypes = [c_char_p]
    library.ggml_backend_rpc_start_server.argtypes = [c_char_p, c_char_p, c_size_t, c_size_t, ctypes.POINTER(c_void_p)]
    library.ggml_backend_rpc_start_server.restype = None
    return library


def serve(endpoint: str) -> None:
    llama = Llama()
    devices = (c_void_p * 1)(llama.ggml.ggml_backend_dev_get(0))
    rpc_backend().ggml_backend_rpc_start_server(endpoint.encode(), None, 1, 1, devices)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class RpcDevices:
    """Starts `count` servers, and ends them with the `with` block; `devices` are ggml's."""

    def __init__(self, llama: Llama, count: int):
        self.llama, self.count = llama, count
        self.devices: list[int] = []
        self.servers: list[subprocess.Popen] = []

    def __enter__(self) -> RpcDevices:
        rpc = rpc_backend()
        for _ in range(self.count):
            port = free_port()
            endpoint = f"127.0.0.1:{port}"
            self.servers.append(subprocess.Popen([sys.executable, __file__, endpoint], stdout=subprocess.DEVNULL,
                                                 stderr=subprocess.DEVNULL))  # fmt: skip
            wait_for(port)
            registry = rpc.ggml_backend_rpc_add_server(endpoint.encode())
            if not registry:
                raise RuntimeError(f"llama.cpp finds no server at {endpoint}: {self.llama.log[-300:]}")
            self.devices.append(self.llama.base.ggml_backend_reg_dev_get(registry, 0))
            # Kinds of buffers are named by the place of the device among all: RPC0, RPC1, ...
        return self

    def __exit__(self, *_) -> None:
        for server in self.servers:
            server.kill()
            server.wait()

    def buffer_type(self, device: int) -> int:
        return self.llama.base.ggml_backend_dev_buffer_type(device)

    def name(self, device: int) -> str:
        return self.llama.base.ggml_backend_buft_name(self.buffer_type(device)).decode()


def wait_for(port: int, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"no server at port {port} after {seconds} seconds")


if __name__ == "__main__":
    serve(sys.argv[1])
