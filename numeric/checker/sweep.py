"""Many checks, on any executor: here one after another, in processes, in threads, or on a Dask cluster.

    from concurrent.futures import ProcessPoolExecutor

    configurations = [
        {"contract": "softmax", "forward": "mine.layers:softmax", "dtype": dtype, "seed": seed}
        for dtype in ("float64", "float32", "bfloat16") for seed in range(10)
    ]
    with ProcessPoolExecutor() as executor:
        for configuration, report in check_many(configurations, executor):
            print(report.verdict, configuration)

With Dask the executor is `distributed.Client(...).get_executor()`. Threads take turns (taking_turns.py); processes run side by side.
"""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from queue import SimpleQueue
from typing import Any

from .report import Finding, Report
from .run import check, name_of
from .targets import loaded, loaded_beside
from .usage import UsageError, unknown
from .verdict import Verdict
from .watch import told

Configuration = Mapping[str, Any]
Result = tuple[Configuration, Report]

ARGUMENTS = tuple(inspect.signature(check).parameters)
MOST_AT_ONCE = 1000  # handed to the executor and not yet back, so that endless configurations do


def check_many(configurations: Iterable[Configuration], executor: Executor | None = None) -> Iterator[Result]:
    """Judges each configuration, a dict of the arguments of `check`; yields (configuration, report) as each is done, in any order.

    `forward` and `backward` are names, "package.module:name", so that they travel to other processes (a backward without a module
    is looked for beside its forward), or callables where the executor can take them. Without an executor the checks run here.

    Nothing is lost: a configuration that is wrong, that cannot travel, or whose process dies, has an error in its report, and the
    others go on; those that a dying process takes along are judged again, one by one. (A Dask cluster that has lost every worker
    waits for new ones, and the sweep with it.) Whoever stops asking (Ctrl-C, `close()`, `break`) keeps what has come; what has not
    begun by then is cancelled.

    Raises UsageError where the configurations are no collection, or the executor is none.
    """
    if isinstance(configurations, Mapping | str) or not isinstance(configurations, Iterable):
        raise UsageError(f"configurations is a {type(configurations).__name__}, needed a list of dicts")
    if executor is None:
        return ((each, judged(each)) for each in configurations)
    if not callable(getattr(executor, "submit", None)):
        raise UsageError(
            f"executor is a {type(executor).__name__}, needed a concurrent.futures.Executor; of a Dask client it is "
            "client.get_executor()"
        )
    return _spread(iter(configurations), executor)


def judged(configuration: Configuration) -> Report:
    """The report of one configuration, whatever happens."""
    try:
        return check(**_arguments(configuration))
    except UsageError as error:
        return _without_run(configuration, "configuration", str(error))
    except Exception as error:
        return _without_run(configuration, "checker", f"the checker itself raised {told(error)}")


def judged_again(configuration: Configuration) -> Report:
    """A Dask cluster takes a call of the same name with the same argument for the same task, and remembers how that ended."""
    return judged(configuration)


def _arguments(configuration: Configuration) -> dict[str, Any]:
    if not isinstance(configuration, Mapping):
        raise UsageError(f"a configuration is a {type(configuration).__name__}, needed a dict of check's arguments")
    for name in configuration:
        if name not in ARGUMENTS:
            raise unknown("argument of check", name, ARGUMENTS)
    for name in ("contract", "forward"):
        if name not in configuration:
            raise UsageError(f"the configuration has no {name!r}, needed at least a contract and a forward")
    arguments, module = dict(configuration), ""
    if isinstance(arguments["forward"], str):
        module, arguments["forward"] = loaded(arguments["forward"])
    if isinstance(arguments.get("backward"), str):
        arguments["backward"] = loaded_beside(arguments["backward"], module)
    return arguments


def _without_run(configuration: Configuration, check_name: str, message: str) -> Report:
    """A report in place of one that there could not be."""
    known = configuration if isinstance(configuration, Mapping) else {}
    forward = known.get("forward", "?")
    return Report(
        str(known.get("contract", "?")),
        forward if isinstance(forward, str) else name_of(forward),
        str(known.get("adapter") or "?"),
        str(known.get("dtype", "float64")),
        str(known.get("precision") or "?"),
        {},
        known["seed"] if isinstance(known.get("seed"), int) else 0,
        (Finding(check_name, Verdict.ERROR, message),),
        {},
    )


# On an executor


def _spread(source: Iterator[Configuration], executor: Executor) -> Iterator[Result]:
    waiting: dict[Future[Report], Configuration] = {}
    done: SimpleQueue[Future[Report]] = SimpleQueue()  # wait() would not hear of what another thread cancels
    suspects: list[Configuration] = []  # a dying process takes others along, so that each is to be tried by itself
    alone = _Alone(executor)
    try:
        while True:
            for configuration in islice(source, max(0, MOST_AT_ONCE - len(waiting) - len(suspects))):
                try:
                    future = executor.submit(judged, configuration)
                    waiting[future] = configuration
                    future.add_done_callback(done.put)
                except BrokenProcessPool:
                    suspects.append(configuration)
                except Exception as error:
                    yield configuration, _lost(configuration, error)
            if waiting:
                future = done.get()
                configuration = waiting.pop(future)
                if future.cancelled():
                    yield configuration, _lost(configuration, Cancelled())
                elif future.exception() is None:
                    yield configuration, future.result()
                else:
                    suspects.append(configuration)
            elif suspects:
                configuration = suspects.pop(0)
                yield configuration, alone.judged(configuration)
            else:
                return
    finally:
        for future in waiting:
            future.cancel()
        alone.end()


class Cancelled(Exception):
    def __str__(self) -> str:
        return "the executor was shut down, or the task cancelled"


class _Alone:
    """One configuration at a time, so that the one whose process dies is known. A pool that died is replaced by one of a process."""

    def __init__(self, executor: Executor) -> None:
        self._given = executor
        self._own: ProcessPoolExecutor | None = None

    def judged(self, configuration: Configuration) -> Report:
        try:
            return (self._own or self._given).submit(judged_again, configuration).result()
        except BrokenProcessPool as error:
            was_given = self._own is None
            self.end()
            self._own = ProcessPoolExecutor(1)
            return self.judged(configuration) if was_given else _lost(configuration, error)
        except Exception as error:
            return _lost(configuration, error)
        except BaseException:  # Ctrl-C: nobody waits for what is running
            if self._own is not None:
                self._own.shutdown(wait=False, cancel_futures=True)
                self._own = None
            raise

    def end(self) -> None:
        if self._own is not None:
            self._own.shutdown()


def _lost(configuration: Configuration, error: BaseException) -> Report:
    """The report of a configuration for which the executor has none."""
    hint = ""
    if isinstance(error, BrokenProcessPool):
        hint = "; its process died: it crashed, or was killed for want of memory"
    elif isinstance(configuration, Mapping) and any(callable(each) for each in configuration.values()):
        hint = '; callables may not travel between processes: name them, "package.module:name"'
    return _without_run(configuration, "worker", f"the executor gave no report: {told(error)}{hint}")
