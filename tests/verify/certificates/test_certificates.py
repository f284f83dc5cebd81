"""Certificates: accepted as written, rejected after any one number is changed, with no compiler needed."""

from __future__ import annotations

import contextlib
import json
import math
import re
import time
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tampering import tampered
from without_numba import replay_without_numba

from boundcheck.errors import UserError
from boundcheck.reports.terminal import listing
from boundcheck.verify import catalog
from boundcheck.verify.certificates import instances
from boundcheck.verify.certificates.make import exact_certificate
from boundcheck.verify.certificates.replay import replay
from boundcheck.verify.claims.gappletron.settings import concealed_settings, gappletron
from boundcheck.verify.outcome import Certificate, digest_of
from boundcheck.verify.setting import Setting
from boundcheck.verify.suite import request as plan
from boundcheck.verify.suite import run as suite

PEEKER = '''
import numpy as np

class Peeker:
    """Reads the labels out of the caller, which no honest learner can."""

    promises = ("game/*",)

    def __init__(self, problem):
        self.n = problem.graph.n_actions
        self.t = 0

    def predict(self, x):
        import sys
        frame = sys._getframe()
        while "label" not in frame.f_locals:
            frame = frame.f_back
        label = frame.f_locals["label"]
        p = np.full(self.n, 0.1 / self.n)
        p[label] += 0.9
        return p

    def update(self, x, action, label):
        self.t += 1

class Stubborn:
    promises = ("gappletron/lemma-1",)
    loss, gamma, rule = "smooth-hinge", 0.125, "threshold"

    def __init__(self, problem):
        self.n = problem.graph.n_actions
        self.weights = np.zeros((problem.n_labels, problem.n_features))

    def predict(self, x):
        return np.eye(self.n)[0]

    def update(self, x, action, label):
        pass
'''


def certificate_of(job: suite.Job) -> Certificate:
    """The smallest certificate that a job yields."""
    found = [row.outcome.certificate for row in suite.judge_job(job, seed=0)]
    return min((c for c in found if c is not None), key=lambda c: len(c.text))


def setting(rule: str, adversary: str, graph: str, horizon: int | None, loss: str) -> Setting:
    learner = gappletron(loss, rule, "stand-still", "2")
    return Setting(learner, adversary, graph, horizon, runs=1)


def sampled_and_enumerated_jobs() -> dict[str, suite.Job]:
    """Refutations of transferred statements about the baselines, whose certificates are games."""
    asks = Setting("label-efficient-perceptron", "sure-mistake", "label-efficient", 400, None, 100)
    learns = Setting("soba:gamma=0.3", "one-hot:n_labels=3", "bandit", 12, None, 1)
    return {
        "statistical": suite.Job(asks, ("label-efficient-perceptron/mistake-bound",)),
        "enumerated": suite.Job(learns, ("soba/identity",)),
    }


def exact_jobs() -> dict[str, suite.Job]:
    crafted = "crafted-scores:n_labels=3"
    descent = Setting(
        gappletron("smooth-hinge", "printed", "unprojected", "1"), "alternation", "full", 64, 1.0, 1
    )
    short = Setting(gappletron("hinge", "printed", "projected", "1"), "random-labels", "full", 2)
    return {
        "round-lemma-1": suite.Job(
            setting("printed", crafted, "full", 400, "logistic-K"), ("gappletron/lemma-1",)
        ),
        "round-bound-9": suite.Job(
            setting("printed", crafted, "filtering", 900, "smooth-hinge"), ("gappletron/bound-9",)
        ),
        "round-label-efficient": suite.Job(
            setting("printed", crafted, "label-efficient", 900, "smooth-hinge"),
            ("gappletron/bound-9",),
        ),
        "scores": suite.Job(
            setting("printed", crafted, "full", 400, "logistic-K"), ("gappletron/condition-2",)
        ),
        "descent": suite.Job(descent, ("gappletron/guarantee-4",)),
        "horizon": suite.Job(short, ("gappletron/theorem-7",)),
        "renamed": suite.Job(
            Setting("bandit-bbm:learners=1,rho=0.1", "one-hot:n_labels=4", "bandit", 4, runs=1),
            ("boosting/cost-estimate-bounded",),
        ),
        "concealed": suite.Job(
            replace(concealed_settings()[0], horizon=30_000), ("gappletron/theorem-4b",)
        ),
    }


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A certificate of every kind, as files."""
    folder = tmp_path_factory.mktemp("certificates")
    (folder / "learners.py").write_text(PEEKER, encoding="utf-8")
    jobs = exact_jobs() | sampled_and_enumerated_jobs()
    found = {name: certificate_of(job) for name, job in jobs.items()}
    for name, claim, learner in (
        ("played", "gappletron/lemma-1", "Stubborn"),
        ("audit", "game/no-peeking", "Peeker"),
    ):
        request = plan.Request(
            (claim,), f"{folder}/learners.py:{learner}", graph="bandit", scale="quick"
        )
        found[name] = certificate_of(plan.jobs_for(request)[0])
    foreseeing = Setting(
        f"{folder}/learners.py:Peeker", "segments:n=3", "filtering:revealing=1", None, runs=1
    )
    found["foreseen"] = certificate_of(suite.Job(foreseeing, ("gappletron/theorem-6",)))
    return {name: certificate.write(folder) for name, certificate in found.items()}


NAMES = (*exact_jobs(), *sampled_and_enumerated_jobs(), "played", "audit", "foreseen")


@pytest.mark.parametrize("name", NAMES)
def test_accepted_as_written_and_quickly(name: str, certificates: dict[str, Path]) -> None:
    started = time.process_time()
    found = replay(certificates[name], trust=True)
    assert time.process_time() - started < 5
    assert (found.observed > found.envelope) == (name != "horizon")
    games = ("played", "audit", "statistical")
    kind = "audit" if name in ("enumerated", "foreseen") else name if name in games else "exact"
    assert found.content["kind"] == kind


@pytest.mark.parametrize("name", NAMES)
def test_rejected_after_any_one_number_is_changed(
    name: str, certificates: dict[str, Path], tmp_path: Path
) -> None:
    content = json.loads(certificates[name].read_text(encoding="utf-8"))
    digest = content.pop("digest")
    file = tmp_path / "tampered.json"
    accepted, tried = [], 0
    # descents and games are replayed as a whole each time: a sample of their many numbers will do
    stride = {
        "descent": 23,
        "played": 5,
        "audit": 3,
        "statistical": 61,
        "enumerated": 3,
        "foreseen": 3,
    }.get(name, 1)
    for i, change in enumerate(tampered(content, lambda new: None)):
        if i % stride or change.startswith("/game/learner"):  # the name of a file is no number
            continue
        for stamp in (
            (digest_of(content), digest) if i % (7 * stride) == 0 else (digest_of(content),)
        ):
            file.write_text(json.dumps(content | {"digest": stamp}), encoding="utf-8")
            tried += 1
            with contextlib.suppress(UserError):
                replay(file, trust=True)
                accepted.append(change)
    assert not accepted
    assert tried > 10
    file.write_text(json.dumps(content | {"digest": digest}), encoding="utf-8")
    replay(file, trust=True)  # everything was put back


def test_the_digest_alone_gives_a_change_away(
    certificates: dict[str, Path], tmp_path: Path
) -> None:
    content = json.loads(certificates["scores"].read_text(encoding="utf-8"))
    content["digest"] = "0" * 64
    file = tmp_path / "stale.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(UserError, match="digest does not fit"):
        replay(file, trust=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not JSON"),
        ("", "is not JSON"),
        ("[1, 2]", "is not a certificate"),
        ('{"kind": "exact"}', "is not a certificate"),
        ('{"schema": 4}', "has schema 4: expected 3"),
        ('{"schema": 0}', "has schema 0: expected 3"),
        ('{"schema": true}', "has schema True: expected 3"),
        ('{"schema": "2"}', "has schema '2': expected 3"),
        ('{"schema": "1"}', "has schema '1': expected 3"),
        ('{"schema": 3}', "the field 'kind' is missing"),
        (
            '{"schema": 1}',
            "was written by boundcheck 0.1, .* only its exact certificates can be replayed",
        ),
        ('{"schema": 1, "kind": "exact"}', "the field 'claim' is missing"),
    ],
)
def test_files_that_are_no_certificates(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=words):
        replay(file, trust=True)
    with pytest.raises(UserError, match="cannot be read"):
        replay(tmp_path / "absent.json", trust=True)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("claim", "gappletron/lemma-9", "is unknown"),
        ("claim", "gappletron/condition-3", "does not have: expected one of derived"),
        ("form", "mended", "expected one of printed"),
        ("form", "repaired", "is rejected"),
        ("kind", "played", "is damaged"),
        ("kind", "audit", "is damaged: KeyError\\('replicate'\\)"),
        ("kind", "statistical", "is damaged: KeyError\\('replicates'\\)"),
        ("kind", "rumour", "expected one of exact"),
        ("instance_kind", "round", "kind 'round': expected one of scores"),
        ("instance_kind", "rumour", "expected one of scores"),
        ("instance", {}, "malformed"),
        ("instance", None, "malformed"),
        ("instance", {"loss": "logistic-K", "scores": ["1/0", "0"], "label": 0}, "malformed"),
        ("instance", {"loss": "logistic-K", "scores": ["0", "0"], "label": 7}, "label 7"),
        ("derived", None, "'derived' is not what follows"),
    ],
)
def test_damage_is_one_sentence_also_under_a_fitting_digest(
    field: str, value: Any, words: str, certificates: dict[str, Path], tmp_path: Path
) -> None:
    content = json.loads(certificates["scores"].read_text(encoding="utf-8"))
    del content["digest"]
    for damaged in (content | {field: value}, {k: v for k, v in content.items() if k != field}):
        file = tmp_path / "damaged.json"
        file.write_text(json.dumps(damaged | {"digest": digest_of(damaged)}), encoding="utf-8")
        with pytest.raises(UserError, match=words if field in damaged else "certificate") as raised:
            replay(file, trust=True)
        assert "\n" not in str(raised.value)


EARLIER = "93b68ad9efa429c5f4e93c71f942b28faccf66271cc07beb24096ee73b5faca3"
"""The digest of a certificate of boundcheck 0.1."""


def test_an_exact_certificate_of_boundcheck_0_1_is_read(tmp_path: Path) -> None:
    file = tmp_path / "earlier.json"

    def write(content: dict[str, Any]) -> Path:
        file.write_text(json.dumps(content | {"digest": digest_of(content)}), encoding="utf-8")
        return file

    claim = catalog.claims()["gappletron/condition-2"]
    scores = {"loss": "logistic-K", "scores": ["0", "0", "-8"], "label": 1}
    instance = instances.from_json("scores", scores, claim.judge.instances)
    certificate = exact_certificate(claim, claim.form("printed"), instance, schema=1)
    assert certificate is not None
    earlier = certificate.content
    assert certificate.digest == EARLIER
    found = replay(write(earlier), trust=True)
    assert (found.claim.id, found.form.name) == ("gappletron/condition-2", "printed")
    assert found.observed == 1
    assert found.envelope == pytest.approx(math.log(2 + math.exp(-8), 3))
    content: dict[str, Any] = deepcopy(earlier)
    accepted = []
    for change in tampered(content, lambda new: None):
        with contextlib.suppress(UserError):
            replay(write(content), trust=True)
            accepted.append(change)
    # all describe instances alike
    assert accepted == ["/schema: 1 -> 2", "/schema: 1 -> 3"]
    for words in ("statement", "source"):
        with pytest.raises(UserError, match=r"written by boundcheck 0\.1 .* other words.*again\.$"):
            replay(write(earlier | {words: "in other words"}), trust=True)
    with pytest.raises(UserError, match="'statement' is not what follows"):
        replay(write(earlier | {"schema": 3, "statement": "in other words"}), trust=True)


def test_a_certificate_of_a_form_that_has_another_name_now_is_refused(
    certificates: dict[str, Path], tmp_path: Path
) -> None:
    """The forms that rest on displays that our copy lacks were once called printed."""
    content = json.loads(certificates["renamed"].read_text(encoding="utf-8")) | {"form": "printed"}
    del content["digest"]
    file = tmp_path / "earlier.json"
    for schema in (1, 2):
        content["schema"] = schema
        file.write_text(json.dumps(content | {"digest": digest_of(content)}), encoding="utf-8")
        with pytest.raises(
            UserError,
            match=r"this version does not have: expected one of reconstructed, .*again\.$",
        ):
            replay(file, trust=True)


def test_replay_says_which_side_is_larger(certificates: dict[str, Path]) -> None:
    """Of lower bounds too: fewer mistakes than are claimed, or probabilities that change though nothing was seen."""
    for name, path in certificates.items():
        told = listing.replayed(path, True)[-1]
        observed, relation, envelope = re.search(
            r" (\S+) lies (above|below) .* (\S+)\.$", told
        ).groups()
        assert relation == ("below" if name == "horizon" else "above")
        assert (float(observed) < float(envelope)) == (relation == "below")


@pytest.mark.parametrize("schema", [1, 2])
@pytest.mark.parametrize("kind", ["played", "audit", "statistical"])
def test_a_game_of_an_earlier_version_is_refused(
    kind: str, schema: int, certificates: dict[str, Path], tmp_path: Path
) -> None:
    """0.1 described games otherwise, and 0.2 let the norm of projected weights drift."""
    content = json.loads(certificates[kind].read_text(encoding="utf-8")) | {"schema": schema}
    del content["digest"]
    file = tmp_path / "earlier.json"
    file.write_text(json.dumps(content | {"digest": digest_of(content)}), encoding="utf-8")
    words = rf"written by boundcheck 0\.{schema}, .* only its exact"
    with pytest.raises(UserError, match=words) as raised:
        replay(file, trust=True)
    assert "\n" not in str(raised.value)


def test_replay_needs_no_numba(certificates: dict[str, Path]) -> None:
    assert len(replay_without_numba(certificates.values())) == len(NAMES)


def test_certificates_are_small(certificates: dict[str, Path]) -> None:
    sizes = {name: path.stat().st_size for name, path in certificates.items()}
    assert max(size for name, size in sizes.items() if name != "descent") < 12_000
    assert sizes["descent"] < 40_000


def test_the_base_k_certificate_has_the_smallest_scores(certificates: dict[str, Path]) -> None:
    """Two equal top scores and one far below, in numbers anyone can check by hand."""
    content = json.loads(certificates["scores"].read_text(encoding="utf-8"))
    assert sorted(map(Fraction, content["instance"]["scores"]))[1:] == [0, 0]
    claim = catalog.claims()["gappletron/condition-2"]
    assert content["statement"] == claim.form("printed").statement
