from __future__ import annotations

from typing import Any


class Attributed:
    def on_event_v(self, row: Any, state: Any, timers: Any) -> None:
        known = state.visited.get(row.url)
        if known is None or row.at < known.at:
            state.visited[row.url] = {"at": row.at, "referer": row.referer}
        if row.is_goal:
            state.goals.add({"at": row.at, "url": row.url})
            timers.due.start(min(goal.at for goal in state.goals))

    def on_event_i(self, row: Any, state: Any, timers: Any) -> None:
        click = (row.source_url, row.target_url)
        known = state.shown.get(click)
        if known is None or row.at < known.at:
            state.shown[click] = (row.at, row.id)

    def on_timer_due(self, at: Any, state: Any, timers: Any) -> Any:
        for goal in [goal for goal in state.goals if goal.at <= at]:
            yield from self.way(goal, state)
            state.goals.remove(goal)
        if state.goals:
            timers.due.start(min(goal.at for goal in state.goals))

    def way(self, goal: Any, state: Any) -> Any:
        page, pages = goal.url, []
        while page in state.visited and page not in pages:
            pages.insert(0, page)
            click = (state.visited[page].referer, page)
            if click in state.shown:
                yield state.key.user, state.shown[click].id, pages[:-1], goal.url
                del state.shown[click]
                return
            page = click[0]
