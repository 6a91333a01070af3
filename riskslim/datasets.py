"""Data sets that need no file and no network."""

from __future__ import annotations

import numpy as np

from riskslim.data.training_data import TrainingData

__all__ = ["load_breast_cancer_binary"]


def load_breast_cancer_binary() -> TrainingData:
    r"""Load the breast cancer data of scikit-learn with every feature cut at its median.

    The Wisconsin Diagnostic Breast Cancer data describe n = 569 fine needle aspirates of breast
    masses by d = 30 measurements of the cell nuclei. Feature j becomes
    :math:`x_{ij} = 1` if the measurement is greater than the median over all rows, else 0. The
    label is 1 for a benign and 0 for a malignant mass, as in scikit-learn.

    Returns
    -------
    TrainingData
        ``feature_names`` are in scikit-learn's order and state the condition, for example
        "worst radius > 14.97", with the median rounded to four significant digits (the exact
        median decides). ``outcome_name`` is "benign".

    Notes
    -----
    Source: W. N. Street, W. H. Wolberg, O. L. Mangasarian, "Nuclear feature extraction for breast
    tumor diagnosis", 1993; UCI Machine Learning Repository,
    https://doi.org/10.24432/C5DW2B (CC BY 4.0), as shipped with scikit-learn
    (:func:`sklearn.datasets.load_breast_cancer`).

    Examples
    --------
    >>> from riskslim.datasets import load_breast_cancer_binary
    >>> data = load_breast_cancer_binary()
    >>> data  # doctest: +NORMALIZE_WHITESPACE
    TrainingData(n_samples=569, n_features=30 (30 integer, 0 real), outcome='benign',
                 classes=(0, 1), weighted=False)
    >>> data.feature_names[20]
    'worst radius > 14.97'
    """
    from sklearn.datasets import load_breast_cancer

    source = load_breast_cancer()
    medians = np.median(source.data, axis=0)
    names = [
        f"{name} > {median:.4g}" for name, median in zip(source.feature_names, medians, strict=True)
    ]
    return TrainingData(
        source.data > medians, source.target, feature_names=names, outcome_name="benign"
    )
