"""Many checks: the same reports on every executor, and nothing that goes wrong with one of them costs another."""

import pickle
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from flint import ctx

from numeric.checker import Probe, UsageError, check, check_many
from numeric.checker.sweep import judged

HERE = Path(__file__).parent
FEW = ("generic*draw 0", "shift invariance")
pytestmark = pytest.mark.filterwarnings(
    "ignore:os.fork", "ignore:This process .* is multi-threaded"
)  # other tests' threads
ONE = ("generic (3, 5, 7), axis=-1, temperature=0.5, draw 0",)


@pytest.fixture(autouse=True)
def subjects(monkeypatch):
    monkeypatch.syspath_prepend(HERE)
    yield
    sys.modules.pop("sweep_subjects", None)


def configuration(name="softmax", **more):
    return {"contract": "softmax", "forward": f"sweep_subjects:{name}", "adapter": "numpy", "probes": FEW, **more}


MIXED = [
    configuration(dtype="float32", seed=1),
    configuration("first_axis"),
    configuration(backward="backward", dtype="bfloat16"),
    configuration(contract="log_softmax"),
]
VERDICTS = ["pass", "fail", "pass", "fail"]


def in_order(results, configurations):
    found = list(results)
    assert len(found) == len(configurations)
    return [next(report for each, report in found if each is wanted) for wanted in configurations]


def test_here_one_after_another():
    results = check_many(MIXED)
    assert next(results)[0] is MIXED[0]
    assert [str(report.verdict) for _, report in results] == VERDICTS[1:]


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_gives_the_same_reports(kind):
    expected = [judged(each).as_dict() for each in MIXED]
    bits = ctx.prec
    with kind(4) as executor:
        reports = in_order(check_many(MIXED, executor), MIXED)
    assert [report.as_dict() for report in reports] == expected
    assert ctx.prec == bits


def test_runs_in_threads_take_turns():
    running, most = [], []

    def watched(z, axis=-1, temperature=1.0):
        running.append(1)
        most.append(len(running))
        time.sleep(0.005)
        running.pop()
        return z

    with ThreadPoolExecutor(4) as executor:
        list(check_many([{"contract": "softmax", "forward": watched, "probes": ONE}] * 4, executor))
    assert max(most) == 1 and len(most) > 4


def test_a_check_within_a_check_does_not_wait_for_itself():
    def nested(z, axis=-1, temperature=1.0):
        if not inner:
            inner.append(check("softmax", lambda z: z.copy(), probes=("ties",), adapter="numpy"))
        return z.copy()

    inner = []
    assert check("softmax", nested, probes=ONE, adapter="numpy").verdict == "fail"
    assert inner[0].verdict == "fail"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"contract": "softmx", "forward": "sweep_subjects:softmax"},
            "unknown contract 'softmx'; did you mean 'softmax'",
        ),
        ({"contract": "softmax"}, "the configuration has no 'forward', needed at least a contract and a forward"),
        (3, "a configuration is a int, needed a dict of check's arguments"),
        ({"contract": "softmax", "forwards": "x:y"}, "unknown argument of check 'forwards'; did you mean 'forward'?"),
        ({"contract": "softmax", "forward": "sweep_subjects:sofmax"}, "did you mean 'softmax'"),
        ({"contract": "softmax", "forward": "sweep_subjects.py"}, "is no PACKAGE.MODULE:NAME"),
        ({"contract": "softmax", "forward": "sweep_subjects:softmax", "seed": -1}, "seed is -1"),
    ],
)
def test_a_wrong_configuration_is_an_error_in_its_place(wrong, message):
    [(_, bad), (_, good)] = check_many([wrong, configuration(probes=ONE)])
    assert (bad.verdict, good.verdict) == ("error", "pass")
    assert message in bad.finding("configuration").message


def test_a_fault_of_the_checker_is_an_error_in_its_place(monkeypatch):
    def breaks(**arguments):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("numeric.checker.sweep.check", breaks)
    [(_, report)] = check_many([configuration()])
    assert report.verdict == "error"
    assert report.finding("checker").message.startswith("the checker itself raised ZeroDivisionError: division by zero")


def test_what_cannot_travel_is_told_in_its_place():
    configurations = [
        configuration(probes=ONE),
        {"contract": "softmax", "forward": lambda z: z},
        configuration("first_axis"),
    ]
    with ProcessPoolExecutor(1) as executor:
        reports = in_order(check_many(configurations, executor), configurations)
    assert [str(each.verdict) for each in reports] == ["pass", "error", "fail"]
    message = reports[1].finding("worker").message
    assert "ickl" in message and 'name them, "package.module:name"' in message


def test_a_process_that_dies_costs_its_own_configuration_only():
    configurations = [configuration(seed=k, probes=ONE) for k in range(3)]
    configurations.insert(1, configuration("dies"))
    with ProcessPoolExecutor(2) as executor:
        reports = in_order(check_many(configurations, executor), configurations)
    assert [str(each.verdict) for each in reports] == ["pass", "error", "pass", "pass"]
    assert "its process died" in reports[1].finding("worker").message
    assert reports[1].subject == "sweep_subjects:dies"


class Manual(Executor):
    """Runs only the first of what it is given; the others wait."""

    def __init__(self):
        self.futures = []

    def submit(self, call, *arguments):
        self.futures.append(Future())
        if len(self.futures) == 1:
            self.futures[0].set_result(call(*arguments))
        return self.futures[-1]


def test_who_stops_asking_keeps_what_came_and_cancels_the_rest():
    executor = Manual()
    results = check_many([configuration(probes=ONE)] * 5, executor)
    assert next(results)[1].verdict == "pass"
    assert [each.cancelled() for each in executor.futures] == [False] * 5
    results.close()
    assert [each.cancelled() for each in executor.futures] == [False, True, True, True, True]


def test_what_others_cancelled_is_an_error_in_its_place():
    executor = Manual()
    results = check_many([configuration(probes=ONE)] * 2, executor)
    next(results)
    executor.futures[1].cancel()
    assert "the executor was shut down, or the task cancelled" in next(results)[1].finding("worker").message


def test_an_executor_that_was_shut_down_is_told():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    [(_, report)] = check_many([configuration()], executor)
    assert "cannot schedule new futures after shutdown" in report.finding("worker").message


def test_endless_configurations_are_taken_as_needed():
    def endless():
        while True:
            yield configuration(probes=ONE)

    with ThreadPoolExecutor(1) as executor:
        results = check_many(endless(), executor)
        assert next(results)[1].verdict == "pass"
        results.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({"contract": "softmax"},), "configurations is a dict, needed a list of dicts"),
        (([], 4), "executor is a int, needed a concurrent.futures.Executor"),
    ],
)
def test_wrong_use_is_told_at_once(arguments, message):
    with pytest.raises(UsageError, match=message):
        check_many(*arguments)


def test_reports_travel():
    report = check("softmax", lambda z: z, options={"axis": 0}, probes=[Probe("mine", (np.eye(3),))], accept=())
    again = pickle.loads(pickle.dumps(report))
    assert again.as_dict() == report.as_dict()
    assert again.to_html() == report.to_html()


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_reports():
    distributed = pytest.importorskip("distributed")
    dies = [*MIXED, {"contract": "softmax", "forward": lambda z: z, "probes": ONE}]
    expected = [judged(each).as_dict() for each in dies]
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None, host="127.0.0.1"
    )
    with cluster, distributed.Client(cluster) as client:
        client.register_plugin(distributed.diagnostics.plugin.UploadFile(str(HERE / "sweep_subjects.py")))
        reports = in_order(check_many(dies, client.get_executor()), dies)
    assert [report.as_dict() for report in reports] == expected


@pytest.mark.slow
def test_a_dask_worker_that_dies_costs_its_own_configuration_only():
    distributed = pytest.importorskip("distributed")
    configurations = [configuration("dies"), *(configuration(seed=k, probes=ONE) for k in range(3))]
    dask = pytest.importorskip("dask")
    settings = {"distributed.scheduler.allowed-failures": 0}  # one death is enough, for those who stand beside it too
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.register_plugin(distributed.diagnostics.plugin.UploadFile(str(HERE / "sweep_subjects.py")))
        reports = in_order(check_many(configurations, client.get_executor()), configurations)
    assert [str(each.verdict) for each in reports] == ["error", "pass", "pass", "pass"]
    assert "KilledWorker" in reports[0].finding("worker").message


@pytest.mark.slow
def test_the_script_of_the_documentation_runs(tmp_path):
    script = tmp_path / "many.py"
    script.write_text(
        "from concurrent.futures import ProcessPoolExecutor\n"
        "from numeric.checker import check_many\n"
        "if __name__ == '__main__':\n"
        "    each = {'contract': 'softmax', 'forward': 'sweep_subjects:softmax', 'probes': ['generic*draw 0']}\n"
        "    with ProcessPoolExecutor(2) as executor:\n"
        "        print(*(str(r.verdict) for _, r in check_many([each, each], executor)))\n"
    )
    environment = {"PYTHONPATH": f"{HERE}:{Path(__file__).parents[3]}", "PATH": ""}
    ran = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("pass pass\n", "")
