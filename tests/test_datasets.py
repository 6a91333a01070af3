import re

import numpy as np
import sklearn.datasets

from riskslim.datasets import load_breast_cancer_binary


def test_breast_cancer_binary():
    data = load_breast_cancer_binary()
    source = sklearn.datasets.load_breast_cancer()
    assert (data.n_samples, data.n_features) == (569, 30)
    assert data.classes == (0, 1)
    assert data.outcome_name == "benign"
    np.testing.assert_array_equal(data.labels, np.where(source.target == 1, 1, -1))
    np.testing.assert_array_equal(
        data.integer_columns, source.data > np.median(source.data, axis=0)
    )
    assert data.sample_weight is None
    assert data.constant_features.size == 0
    # Half of the rows or less are above the median.
    ones = data.integer_columns.sum(axis=0, dtype=np.int64)
    assert ones.max() <= 284
    assert ones.min() >= 280


def test_names_state_the_condition():
    data = load_breast_cancer_binary()
    source = sklearn.datasets.load_breast_cancer()
    for j, name in enumerate(data.feature_names):
        feature, cut = re.fullmatch(r"(.+) > ([0-9.e-]+)", name).groups()
        assert feature == source.feature_names[j]
        np.testing.assert_allclose(float(cut), np.median(source.data[:, j]), rtol=5e-4)
    assert data.feature_names[20] == "worst radius > 14.97"
    assert max(map(len, data.feature_names)) <= 40
