"""The names of what the service tells apart."""

from __future__ import annotations

from typing import Literal

Feature = Literal["landmarks", "attributes", "embedding", "quality"]
"""A part of an analysis that a caller may choose. `attributes` (such as age and gender) and `embedding` each run a
network for every face; the others cost next to nothing."""

Gender = Literal["female", "male"]

QualityIssue = Literal[
    "too_small",
    "low_illumination",
    "incorrect_pose",
    "overexposed",
    "blurred",
    "noisy",
    "eyes_covered",
    "face_covered",
    "doubtful_face",
    "cut_off",
]
"""A reason why a face is unsuited for recognition."""

QualityComponent = Literal[
    "inter_eye_distance",
    "illumination",
    "over_exposure",
    "sharpness",
    "noise",
    "yaw",
    "pitch",
    "roll",
    "eyes_visible",
    "face_occlusion",
    "detection_confidence",
    "crop",
]
"""What is measured of a face to judge its quality."""

Population = Literal[
    "age_0_to_2",
    "age_3_to_9",
    "age_10_to_19",
    "women_20_to_59",
    "men_20_to_59",
    "women_60_and_older",
    "men_60_and_older",
    "adults",
    "age_10_and_older",
]
"""The people for whom a rate holds. Two of them are mistaken for each other more or less often. `adults` are of 20 to 59
years, because the request assumes it, and `age_10_and_older` is the worst of those above, because only embeddings are
known."""

CandidatesReason = Literal["gallery_size", "population"]
"""Why the nearest faces are candidates for a person to judge, and no matches."""
