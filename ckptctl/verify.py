"""Whether an experiment holds, after an apply, what its plan says."""

from __future__ import annotations

from ckptctl.journal.course import Course, course_of
from ckptctl.journal.scene import Scene
from ckptctl.model.plan import Plan
from ckptctl.storage.store import Reader


def verify(store: Reader, plan: Plan) -> list[str]:
    """What is not as it should be after all steps of a plan; one short sentence each."""
    return unlike(Scene(store), course_of(plan), done=True)


def unlike(scene: Scene, course: Course, *, done: bool) -> list[str]:
    """What is not as it should be after all steps, or before the first."""
    scene.fetch(course.records(-1 if done else 0))
    return sorted(
        complaint
        for strand in course.strands
        for complaint in scene.complaints(course, strand, len(strand.steps) if done else 0)
    )
