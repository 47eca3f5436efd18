"""Memory that the processes of a PyTorch placement share, through which they hand each other tensors: gloo needs a thread
of its own for that, which waits for the core until the op that runs there has ended."""

import mmap
import os
import time

import numpy
import torch

LINE = 64  # bytes of a cache line: each flag has one, each buffer begins with one
SPINS = 1000  # looks at a flag before the core is offered to others


class Exchange:
    """A flag for each process and each tensor, and a buffer for each tensor. The flag of a tensor is the number of the
    last step in which it was made. Each step begins with meet(), so that no buffer is written before all have read it."""

    def __init__(self, file, rank, ranks, tensors, barrier):
        """`tensors`: {value: (elements, dtype)}, in the same order in all processes, which call barrier() together."""
        self.rank, self.step = rank, 0
        begins, size = {}, LINE * (ranks + len(tensors))
        for value, (elements, dtype) in tensors.items():
            begins[value] = size
            size += -(-elements * dtype.itemsize // LINE) * LINE
        if rank == 0:
            with open(file, "wb") as made:
                os.posix_fallocate(made.fileno(), 0, size)
        barrier()
        with open(file, "r+b") as made:
            memory = mmap.mmap(made.fileno(), size)
        flags = numpy.frombuffer(memory, numpy.int64, LINE // 8 * (ranks + len(tensors)))[::LINE // 8]
        self.met, made = flags[:ranks], flags[ranks:]
        self.made = {value: made[number:number + 1] for number, value in enumerate(tensors)}
        self.buffers = {value: torch.frombuffer(memory, dtype=dtype, count=elements, offset=begins[value]) if elements else
                        torch.empty(0, dtype=dtype) for value, (elements, dtype) in tensors.items()}
        barrier()
        if rank == 0:
            os.unlink(file)

    def meet(self):
        """Returns when all processes have called it as often as this one."""
        self.step += 1
        self.met[self.rank] = self.step
        wait_until(lambda: self.met.min() >= self.step)

    def hand_over(self, value, flat):
        self.buffers[value].copy_(flat)
        self.made[value][0] = self.step

    def wait_for(self, value):
        flag = self.made[value]
        wait_until(lambda: flag[0] == self.step)


def wait_until(ready):
    """Looks again and again, because a sleep would take longer than most ops."""
    spins = 0
    while not ready():
        spins += 1
        if spins % SPINS == 0:
            time.sleep(0)
