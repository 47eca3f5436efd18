"""The processes that run a PyTorch program: one for each device, on a core of its own. They are started once and run one
placement after the other. Parts hand tensors over in shared memory; pipelines of torch.distributed do so by gloo."""

import functools
import io
import os
import tempfile
import time
from datetime import timedelta
from multiprocessing.connection import wait

import torch
import torch.distributed as dist

import timing
from placed import Differs, keep_memory
from torch_exchange import Exchange
from torch_parts import Cut, Process, Stage, flat, load, value_of


class Processes:
    def __init__(self, ranks, file, inputs, threads):
        self.ended = False
        self.folder = tempfile.TemporaryDirectory(prefix="emplace-run-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        context = torch.multiprocessing.get_context("spawn")
        self.pipes, self.processes = [], []
        for rank in range(ranks):
            pipe, other_end = context.Pipe()
            self.pipes.append(pipe)
            self.processes.append(context.Process(target=work, daemon=True, args=(
                rank, ranks, self.folder.name, file, inputs, threads, other_end)))
            self.processes[-1].start()
            other_end.close()

    def prepare(self, segments, microbatches):
        """Cuts the program and runs a step; what each process did in it."""
        return self.ask("prepare", segments, microbatches)

    def time(self, runs, warm_up, with_reference):
        """When each step of each process began and ended, on the clock that all processes of the machine share."""
        return self.ask("time", runs, warm_up, with_reference)

    def ask(self, *request):
        """The answer of each process. If one fails, all are ended."""
        answers = {}
        try:
            for pipe in self.pipes:
                pipe.send(request)
            while len(answers) < len(self.pipes):
                for pipe in wait([pipe for pipe in self.pipes if pipe not in answers]):
                    answers[pipe] = torch.load(io.BytesIO(pipe.recv_bytes()), weights_only=False)
                    if isinstance(answers[pipe], str):
                        raise Differs(f"a process failed: {answers[pipe]}")
        except (EOFError, OSError):
            self.end()
            raise Differs("a process failed: it has ended")
        except BaseException:
            self.end()
            raise
        return [answers[pipe] for pipe in self.pipes]

    def end(self):
        self.ended = True
        for process in self.processes:
            process.kill()
            process.join()
        self.folder.cleanup()


def work(rank, ranks, folder, file, inputs, threads, pipe):
    """One of the processes: answers requests until there are no more."""
    def answer(content):
        packed = io.BytesIO()
        torch.save(content, packed)
        pipe.send_bytes(packed.getbuffer())

    try:
        join(rank, ranks, folder, threads)
        program, placed = load(file), None
        unplaced = functools.partial(program.module(check_guards=False), *inputs)
        while True:
            what, *arguments = pipe.recv()
            with torch.no_grad():
                if what == "prepare":
                    placed = Placed(program, rank, ranks, folder, inputs, *arguments)
                    answer(placed.done)
                else:
                    answer(placed.time(*arguments, unplaced if rank == 0 else None))
    except (EOFError, KeyboardInterrupt):
        pass
    except Exception as error:
        answer(f"{type(error).__name__}: {error}")


def join(rank, ranks, folder, threads):
    """Makes this one of the processes, on its core."""
    keep_memory()
    os.sched_setaffinity(0, {timing.CORES[rank % len(timing.CORES)]})
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(threads)
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=ranks,
                            timeout=timedelta(seconds=120))


class Placed:
    """What this process does of a placement."""

    def __init__(self, program, rank, ranks, folder, inputs, segments, microbatches):
        cut = Cut(program, segments, inputs)
        self.done = {"core": min(os.sched_getaffinity(0))}
        if microbatches:
            self.meet = dist.barrier
            self.step, self.done["results"] = stage_of(cut, rank, inputs, microbatches)
            self.done.update(ops=[], parts=1, sent=0)
        else:
            process, ops = Process(cut, rank, lambda tensors: Exchange(f"{folder}/exchange", rank, ranks, tensors, dist.barrier)), []
            self.meet = process.exchange.meet
            self.meet()
            values = process.step(lambda part, values: ops.extend(cut.ops_of(part, values)))
            self.step = lambda: process.step(cut.run)
            self.done.update(results={position: value_of(values, value) for position, value in process.results.items()},
                             ops=ops, parts=len(process.own), sent=sum(map(len, process.sends.values())))

    def time(self, runs, warm_up, with_reference, unplaced):
        for _ in range(warm_up):
            self.meet()
            self.step()
        for _ in range(timing.MOST_REPETITIONS):
            times, reference, seconds, waiting = [], [], [], timing.Waiting()
            for _ in range(runs):
                self.meet()
                begin = time.perf_counter()
                self.step()
                times.append((begin, time.perf_counter()))
                self.meet()
                seconds.append(time.perf_counter() - begin)
                if with_reference and unplaced:
                    reference.append(timing.seconds_of(unplaced))
            waited = waiting.share()
            steady = torch.tensor([timing.is_steady(timing.summary(seconds))])
            dist.broadcast(steady, 0)
            if steady:
                break
        return {"times": times, "reference": reference, "waited": waited}


def stage_of(cut, rank, inputs, microbatches):
    """A step of GPipe's schedule on the stage of this process, and the results if it is the last one."""
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

    stage, stages = Stage(cut, rank), len(cut.rank_of)
    takes, gives = stage.examples()
    schedule = ScheduleGPipe(PipelineStage(stage, rank, stages, torch.device("cpu"), input_args=takes, output_args=gives),
                             microbatches)
    batch = [torch.cat([cut.fixed[value]] * microbatches) for value in stage.takes] if rank == 0 else []

    def step():
        return schedule.eval(*batch)

    made = step()
    return step, dict(enumerate(flat([made]))) if rank == stages - 1 else {}
