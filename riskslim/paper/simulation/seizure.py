r"""Simulated data of the shape of the ICU seizure application (Ustun & Rudin 2019, section 6).

The paper's data, recordings of continuous electroencephalography (cEEG) from 41 hospitals, are
not public. Here patients are simulated whose variables have the names, values and signs of the
appendix's table and hang together as they have to: a pattern has a frequency only where it is
present, thresholds follow from frequencies, and "any pattern" from the single ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from statistics import NormalDist
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["seizure_columns", "seizure_outcomes", "seizure_signs"]

Values: TypeAlias = "NDArray[np.int8] | NDArray[np.float64]"
_Number = TypeVar("_Number", np.int8, np.float64)

# Thresholds of the frequencies, in Hz.
_FREQUENCIES = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)

# 2HELPS2B: points of the risk score that outcomes come from, and its intercept.
_POINTS = {
    "MaxFrequencyAnyPattern >= 2.0Hz": 1,
    "EpileptiformDischarges": 1,
    "PatternsInclude_BiPD_or_LRDA_or_LPD": 1,
    "PatternIsSuperImposedAny": 1,
    "PriorSeizure": 1,
    "BriefRhythmicDischarge": 2,
}
_INTERCEPT = -3


class _Pattern(NamedTuple):
    """A cEEG pattern: how often it is present, and what it is like where it is."""

    prevalence: float
    irritability: float  # correlation of its presence with the cortex's irritability
    mean_frequency: float  # in Hz, before rounding to halves
    stimulus_induced: float
    superimposed: float


_PATTERNS = {
    "BiPD": _Pattern(0.025, 0.5, 1.0, 0.10, 0.20),
    "GPD": _Pattern(0.13, 0.3, 1.1, 0.25, 0.12),
    "GRDA": _Pattern(0.17, 0.0, 1.2, 0.15, 0.08),
    "LPD": _Pattern(0.10, 0.6, 1.0, 0.10, 0.25),
    "LRDA": _Pattern(0.07, 0.5, 1.2, 0.10, 0.20),
}

# Prevalence of a finding, and its correlation with the cortex's irritability.
_FINDINGS = {
    "PriorSeizure": (0.17, 0.25),
    "PosteriorDominantRhythmPresent": (0.40, -0.30),
    "BriefRhythmicDischarge": (0.025, 0.60),
    "NoReactivityToStimulation": (0.20, 0.10),
    "EpileptiformDischarges": (0.14, 0.55),
}

# Prevalence of a diagnosis, and its correlation with bleeding into the brain's cavities, which
# brings some of them together.
_DIAGNOSES = {
    "MentalStatusFirst": (0.35, -0.3),
    "CNSInfection": (0.05, 0.0),
    "CNSInflammatoryDisease": (0.02, 0.0),
    "CNSNeoplasm": (0.09, 0.0),
    "HypoxisIschemicEncephalopathy": (0.10, -0.2),
    "IntracerebralHemorrhage": (0.12, 0.5),
    "IntraventricularHemorrhage": (0.06, 0.8),
    "MetabolicEncephalopathy": (0.16, -0.3),
    "IschemicStroke": (0.11, -0.1),
    "SubarachnoidHemmorage": (0.12, 0.6),
    "SubduralHematoma": (0.10, 0.1),
    "TraumaticBrainInjury": (0.07, 0.1),
    "Hydrocephalus": (0.05, 0.7),
}


def seizure_columns(random: np.random.Generator, n: int) -> dict[str, Values]:
    """Draw the 87 variables of n patients, in the order of the table."""
    irritability, bleeding = random.standard_normal(n), random.standard_normal(n)
    male = (random.random(n) < 0.52).astype(np.int8)
    X: dict[str, Values] = {"Male": male, "Female": 1 - male}
    for name, (prevalence, correlation) in _FINDINGS.items():
        X[name] = _present(random, prevalence, correlation, irritability)
    for name, (prevalence, correlation) in _DIAGNOSES.items():
        X[f"SecondaryDXIncludes{name}"] = _present(random, prevalence, correlation, bleeding)
    return X | _pattern_columns(random, irritability)


def seizure_outcomes(random: np.random.Generator, X: Mapping[str, Values]) -> NDArray[np.int8]:
    """Draw outcomes with the risks that 2HELPS2B has for the patients."""
    score = sum(points * X[name].astype(np.float64) for name, points in _POINTS.items())
    risk = 1 / (1 + np.exp(-(_INTERCEPT + score)))
    return (random.random(len(risk)) < risk).astype(np.int8)


def _pattern_columns(
    random: np.random.Generator, irritability: NDArray[np.float64]
) -> dict[str, Values]:
    """Columns about the cEEG patterns, in the order of the table."""
    n = len(irritability)
    present: dict[str, NDArray[np.int8]] = {}
    stimulus: dict[str, NDArray[np.int8]] = {}
    superimposed: dict[str, NDArray[np.int8]] = {}
    frequency: dict[str, NDArray[np.float64]] = {}
    for name, pattern in _PATTERNS.items():
        there = _present(random, pattern.prevalence, pattern.irritability, irritability)
        present[name] = there
        stimulus[name] = there * (random.random(n) < pattern.stimulus_induced)
        superimposed[name] = there * (random.random(n) < pattern.superimposed)
        # An irritable cortex discharges faster.
        hertz = random.normal(pattern.mean_frequency + 0.2 * irritability, 0.6)
        halves = np.rint(2 * hertz).clip(1, 6) / 2
        frequency[name] = np.where(there == 1, halves, 0.0)

    columns: dict[str, Values] = {}
    for what, kind in (("StimulusInduced", stimulus), ("SuperImposed", superimposed)):
        columns[f"PatternIs{what}Any"] = _maximum(kind)
        columns |= {f"PatternIs{what}{name}": values for name, values in kind.items()}
    columns |= {f"PatternsInclude_{name}": values for name, values in present.items()}
    for names in (("GRDA", "GPD"), ("BiPD", "LRDA", "LPD")):
        columns[f"PatternsInclude_{'_or_'.join(names)}"] = _maximum(
            {name: present[name] for name in names}
        )
    frequency = {"AnyPattern": _maximum(frequency), **frequency}
    columns |= {f"MaxFrequency{name}": values for name, values in frequency.items()}
    for name, values in frequency.items():
        columns |= _frequency_items(name, values)
    return columns


def _frequency_items(name: str, values: NDArray[np.float64]) -> dict[str, NDArray[np.int8]]:
    zero = f"MaxFrequency{name} = 0.0" + ("Hz" if name == "AnyPattern" else "")
    return {zero: (values == 0).astype(np.int8)} | {
        f"MaxFrequency{name} >= {hertz}Hz": (values >= hertz).astype(np.int8)
        for hertz in _FREQUENCIES
    }


def _present(
    random: np.random.Generator,
    prevalence: float,
    correlation: float,
    latent: NDArray[np.float64],
) -> NDArray[np.int8]:
    """Say where a normal variable, correlated with the latent one, exceeds its quantile."""
    own = random.standard_normal(len(latent))
    tendency = correlation * latent + math.sqrt(1 - correlation**2) * own
    return (tendency > NormalDist().inv_cdf(1 - prevalence)).astype(np.int8)


def _maximum(columns: dict[str, NDArray[_Number]]) -> NDArray[_Number]:
    largest: NDArray[_Number] = np.maximum.reduce(list(columns.values()))
    return largest


def seizure_signs(names: Iterable[str]) -> dict[str, str]:
    """Signs of the table: none for sex, diagnoses, stimuli, reactivity, and a frequency of 0."""
    prefixes = ("PatternIsSuperImposed", "PatternsInclude_", "MaxFrequency")
    findings = {"PriorSeizure", "BriefRhythmicDischarge", "EpileptiformDischarges"}
    signs = {
        name: "+"
        for name in names
        if name in findings or (name.startswith(prefixes) and " = " not in name)
    }
    return signs | {"PosteriorDominantRhythmPresent": "-"}
