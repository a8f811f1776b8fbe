"""Rules of the one step that mutants leave out: chain, evidence, speaking."""

from __future__ import annotations

from simulation.mutations.mutant import (
    DECIDE,
    DECIDE_TESTS,
    EVIDENCE,
    EVIDENCE_TESTS,
    HISTORY,
    IDENTITY,
    JOBS,
    SCALER,
    STEP,
    STEP_TESTS,
    STORE,
    TIMES,
    Mutant,
    TextEdit,
    left_out,
)

CHAIN = (
    left_out(
        "no parent check",
        STEP,
        "if record.parent != one.last.get(chain, ROOT):",
        "if False:",
    ),
    Mutant(
        "a counter instead of a parent",
        (
            # Checkers count as well, or they would find nothing that stands.
            TextEdit(IDENTITY, 'ROOT = "root"', 'ROOT = "0"'),
            TextEdit(
                STEP, "one.last[chain] = record.id", "one.last[chain] = str(int(record.parent) + 1)"
            ),
            TextEdit(STEP, "parent = name", "parent = str(int(parent) + 1)"),
            TextEdit(HISTORY, 'ROOT = "root"', 'ROOT = "0"'),
            TextEdit(
                HISTORY,
                "last[record.key] = record.id",
                "last[record.key] = str(int(record.parent) + 1)",
            ),
            TextEdit(
                EVIDENCE,
                "state.last[read.topic] = record.id",
                "state.last[read.topic] = str(int(record.parent) + 1)",
            ),
            TextEdit(EVIDENCE, "parent = again", "parent = str(int(parent) + 1)"),
        ),
    ),
    left_out(
        "unreadable decisions are skipped",
        STEP,
        "        if record.parent:\n",
        "        if record.parent and record.body is not None:\n",
    ),
    left_out(
        "unreadable decisions do not freeze the key",
        STEP,
        "one.frozen = one.frozen or (record.body is None and moves)",
        "pass",
    ),
    left_out(
        "frozen keys are never rebuilt",
        STORE,
        "if any(one.frozen and (other or key in late) for",
        "if any(False for",
    ),
    left_out(
        "a deleted job rises again: its last decision is forgotten",
        STEP,
        "            one.row = self.component.fold(one.row, read)\n",
        "            one.row = self.component.fold(one.row, read)\n"
        '            if record.kind == "JobDeleted":\n'
        "                one.last.pop(read.topic)\n",
    ),
    left_out(
        "a deleted job rises again: its versions are forgotten",
        JOBS,
        "layers = tuple(LayerState(version) for version in _numbers(body.versions))",
        "layers = (LayerState(),) * 4",
    ),
    left_out(
        "a deleted job stays alive",
        JOBS,
        "return Job(job.name, layers=layers, ingress=ingress, ",
        "return Job(job.name, alive=True, layers=layers, ingress=ingress, ",
    ),
)

EVIDENCE_CLOSED = (
    Mutant(
        "no causal order: folded as soon as read",
        (
            TextEdit(
                STEP,
                "unread = ours and seen < offset and one.vector.get(place, 0) < offset\n",
                "unread = False\n",
            ),
            TextEdit(STEP, "early = one.early.get(place) if ours else None", "early = None"),
        ),
    ),
    left_out(
        "evidence is not closed: own positions only",
        STEP,
        "            if offset > vector.get(place, 0):\n",
        "            if False:\n",
    ),
    left_out(
        "effects carry no evidence",
        STEP,
        "evidence=evidence,",
        "evidence=evidence if parent else {},",
    ),
    left_out(
        "what came earlier about the key may be held back",
        STEP,
        "if early is not None and early[0].offset < offset:",
        "if False:",
    ),
    left_out(
        "evidence beyond the end is accepted",
        STEP,
        "if possible is False or (possible is None and self.now_ms > by_ms + SKEW_MS):",
        "if False:",
    ),
    left_out(
        "evidence that never comes is waited for",
        STEP,
        "if possible is False or (possible is None and self.now_ms > by_ms + SKEW_MS):",
        "if possible is False:",
    ),
    left_out(
        "impossible evidence is judged by today's end",
        STEP,
        "possible = self._possible(place, offset, by_ms)",
        "possible = self._possible(place, offset, 1 << 62)",
    ),
    left_out(
        "a record may name itself as evidence",
        STEP,
        " or evidence.get(read.place, 0) > read.offset:",
        ":",
        aimed=EVIDENCE_TESTS + "test_a_record_that_names_itself_or_what_follows_it_is_void",
        why="a forgery must guess how many records follow it within the clocks' difference",
    ),
    left_out(
        "forgeries that name each other are waited for",
        STEP,
        "for place in [] if moved else self._forged_together(one):",
        "for place in []:",
    ),
    left_out(
        "an heir takes what it has not read for old",
        TIMES,
        "        if offset > notes.start:\n",
        "        if True:\n",
        aimed=EVIDENCE_TESTS + "test_an_heir_finds_the_same_impossible",
        why="a forgery must lie just where a restart begins to read; the laws of keeping find it",
    ),
    left_out(
        "a tick of the future is accepted",
        STEP,
        "if read.record.tick_ms > by_ms or",
        "if",
    ),
    left_out(
        "redelivered records are folded again",
        STEP,
        "if offset < (queue[-1].offset + 1 if queue else one.vector.get(place, 0)):",
        "if False:",
    ),
)

SPEAKING = (
    left_out(
        "own decisions are folded when they are said",
        STEP,
        "            out = self.would_emit(key, now_ms)\n",
        "            out = self.would_emit(key, now_ms)\n"
        "            for topic, said in out:\n"
        "                if said.parent:\n"
        '                    read = Read("", topic, 0, now_ms, said)\n'
        "                    one.row = self.component.fold(one.row, read)\n",
    ),
    left_out(
        "effects are sent with the decision",
        STEP,
        "            parent = name\n",
        "            parent = name\n"
        '            read = Read("", component.output, 0, now_ms, out[-1][1])\n'
        "            for owed in component.effects(component.fold(row, read)):\n"
        "                if owed.id not in [record.id for _, record in out]:\n"
        '                    effect = say(owed.id, owed.body, "", encode(owed.body))\n'
        "                    out.append((owed.topic, effect))\n",
    ),
    Mutant(
        "effects are sent once a life",
        (
            TextEdit(
                STEP,
                "        self._armed: dict[str, int] = {}\n",
                "        self._armed: dict[str, int] = {}\n"
                "        rows = [one.row for one in self.held.values() if one.row is not None]\n"
                "        self.once = {e.id for row in rows for e in component.effects(row)}\n",
            ),
            TextEdit(
                STEP,
                "for effect in islice(component.effects(row), AT_ONCE)\n",
                "for effect in component.effects(row)\n"
                "            if not (effect.id in self.once or self.once.add(effect.id))\n",
            ),
        ),
    ),
    left_out(
        "effects are lost in a crash",
        SCALER,
        "for owed in row.owed],",
        "for owed in ()],",
    ),
    left_out(
        "speaks once its own topic is read",
        STEP,
        "{place: ends.get(place, 0) for place in self.places} if ends",
        "{p: n for p, n in ends.items() if p.startswith(component.output)} if ends",
    ),
    Mutant(
        "decides before a tick",
        (
            TextEdit(STEP, "return bool(self.now_ms) and all(", "return all("),
            TextEdit(
                STEP,
                "for p, n in self.ends.items())",
                'for p, n in self.ends.items() if not p.startswith("clock"))',
            ),
        ),
    ),
    left_out(
        "now forgets the ticks that were folded",
        STEP,
        "now_ms = max(self.now_ms, one.tick_ms)",
        "now_ms = self.now_ms",
    ),
    left_out("any number of records at once", STEP, "AT_ONCE - len(out)", "10**9"),
    left_out("no wake-ups", STEP, "heapq.heappush(self._wakes, (at_ms, key))", "pass"),
    left_out(
        "a wake-up is not armed again",
        STEP,
        "                del self._armed[key]\n",
        "",
    ),
    left_out(
        "wakes at an instant that is past",
        SCALER,
        "return row.retry_ms if row.retry_ms > now_ms else None",
        "return row.retry_ms or None",
    ),
    left_out(
        "an expiry that is past is waited for",
        DECIDE,
        "due if at_ms > now_ms),",
        "due),",
        aimed=DECIDE_TESTS + "test_the_next_look_is_later_than_now",
        why="what is due is said at once, and who has something to say sets no alarm",
    ),
    left_out(
        "no wake-up for what is unread",
        STEP,
        "self._arm(key, look_ms if look_ms > now_ms else now_ms + UNREAD_MS)",
        "pass",
    ),
    left_out(
        "what is unread is waited for without end",
        STEP,
        "if one.unread and self._lost(one, now_ms):",
        "if False:",
    ),
    left_out(
        "decides while what it said is unread",
        STEP,
        "        if not one.unread:\n            out",
        "        if True:\n            out",
        aimed=STEP_TESTS + "test_one_decision_in_flight",
        why="the parent rule voids what is said twice; the rule saves records, not truth",
    ),
    left_out(
        "speaks about a key that is held back",
        STEP,
        "if one.row is None or one.frozen or one.early:",
        "if one.row is None or one.frozen:",
        aimed=EVIDENCE_TESTS + "test_a_key_that_is_held_back_is_silent",
        why="its evidence is closed without what waits, so what it says is right or loses",
    ),
)
