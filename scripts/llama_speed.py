"""Tokens a second of llama.cpp on this machine's CPU: prefill of a prompt, and decode after it.

All models are loaded at once and take turns, so that what changes on the machine meanwhile touches all of them.
"""

from __future__ import annotations

import ctypes
import time
from pathlib import Path

from llama_library import Llama

CONTEXT = 1024
PROMPT = 128  # tokens; also the micro-batch
DECODED = 16  # tokens after the prompt
ROUNDS = 12
SECONDS = 400
BUSY = 0.9  # least part of its time that a thread is on a core in runs that count


class Busy(RuntimeError):
    """Other programs took the cores in too many runs."""


class Runs:
    """Prompts and the tokens after them. llama.cpp's threads spin while they wait for each other: one that used less
    time than has passed was put aside for another program, and that run does not count."""

    def __init__(self, llama: Llama, model, threads: int):
        self.llama, self.threads = llama, threads
        self.context = llama.context(model, context=CONTEXT, threads=threads, micro_batch=PROMPT)
        self.vocabulary = llama.api.llama_vocab_n_tokens(llama.api.llama_model_get_vocab(model))
        self.next = 0
        self.prefill: list[float] = []
        self.decode: list[float] = []

    def turn(self, *, counts: bool = True) -> None:
        """A prompt as one micro-batch in an empty cache, and tokens after it."""
        self.llama.api.llama_memory_clear(self.llama.api.llama_get_memory(self.context), False)
        for times, calls, tokens in ((self.prefill, 1, PROMPT), (self.decode, DECODED, 1)):
            seconds, had_cores = self.timed(calls, tokens)
            if counts and had_cores:
                times.append(seconds / calls)

    @property
    def counted(self) -> int:
        return min(len(self.prefill), len(self.decode))

    def least(self) -> dict[str, float]:
        """Seconds of a prompt, and of a token after it. On a virtual machine, other guests slow two threads by a seventh for
        half a minute at a time, which nothing inside it shows; so the fastest runs count."""
        return {"prefill_s": min(self.prefill), "decode_s": min(self.decode)}

    def timed(self, calls: int, tokens: int) -> tuple[float, bool]:
        start, cpu = time.perf_counter(), time.process_time()
        for _ in range(calls):
            batch = (ctypes.c_int32 * tokens)(*(self.token() for _ in range(tokens)))
            if self.llama.api.llama_decode(self.context, self.llama.api.llama_batch_get_one(batch, tokens)):
                raise RuntimeError(f"llama.cpp does not compute: {self.llama.log[-300:]}")
        self.llama.api.llama_synchronize(self.context)
        seconds = time.perf_counter() - start
        return seconds, time.process_time() - cpu >= BUSY * self.threads * seconds

    def token(self) -> int:
        self.next += 1
        return 300 + self.next * 7919 % (self.vocabulary - 300)


def load(llama: Llama, files: dict[str, Path], thread_counts: list[int]) -> dict[tuple[str, int], Runs]:
    # What a process loads first decodes a tenth to a fifth more slowly than the same loaded again, so it is not measured.
    first = Runs(llama, llama.load(next(iter(files.values())), memory_only=False), 1)
    first.turn(counts=False)
    runs = {}
    for name, path in files.items():
        model = llama.load(path, memory_only=False)
        for threads in thread_counts:
            runs[name, threads] = Runs(llama, model, threads)
            runs[name, threads].turn(counts=False)
    return runs


def take_turns(runs: dict[tuple[str, int], Runs]) -> dict[str, dict[str, dict[str, float]]]:
    """The least times of each model and number of threads."""
    end = time.monotonic() + SECONDS
    while min(run.counted for run in runs.values()) < ROUNDS and time.monotonic() < end:
        for run in runs.values():
            run.turn()
    few = [f"{name} with {threads}" for (name, threads), run in runs.items() if run.counted < 3]
    if few:
        raise Busy(f"in {SECONDS} s fewer than 3 runs had the cores for themselves: {', '.join(few)} threads")
    found: dict[str, dict[str, dict[str, float]]] = {}
    for (name, threads), run in runs.items():
        found.setdefault(name, {})[str(threads)] = run.least()
    return found
