/** Replays a task from one of its kept inputs with other values, or without it, and compares what would have fired. */
import { useState } from 'preact/hooks'
import type { InputEntry, Rehearsal, TaskEntity } from '#services/rules/contract'
import { now } from '../connection.ts'
import { showAt } from '../instant.ts'
import { useLoad } from '../loading.ts'
import { Panel, Problem, Time } from '../parts/layout.tsx'
import { settled } from '../rehearse.ts'
import { api } from '../session.ts'
import { zone } from '../settings.ts'
import { fieldText, readField } from '../words/field-text.ts'
import { messageOf } from '../words/errors.ts'
import { differenceText, replayAnswer } from '../words/task.ts'

type Json = Readonly<Record<string, unknown>>

const MINUTE = 60_000
const OWN = new Set(['resource', 'timestamp'])
const MOST = 20
const MANY = 1_000

/** Returns the last message at the instant or in the hour before. */
async function inputAt(task: string, at: number): Promise<InputEntry | undefined> {
  for (const length of [MINUTE, 10 * MINUTE, 60 * MINUTE]) {
    let last: InputEntry | undefined
    let after: number | undefined
    do {
      const range = { from: at - length, until: at, limit: MANY }
      const page = await api.rules.inspection.inputs(task, after === undefined ? range : { ...range, after })
      last = page.values.findLast(({ kind }) => kind === 'message') ?? last
      after = page.values.length < MANY ? undefined : page.next
    } while (after !== undefined)
    if (last !== undefined) return last
  }
  return undefined
}

export function WhatIf({ task, at }: { readonly task: TaskEntity; readonly at: number }) {
  const { data: input, error } = useLoad(() => inputAt(task.ID, at), [task.ID, at])
  return (
    <Panel as="aside" title="What if" aside="change one input and compare">
      <div class="pad stack">
        <Problem text={error} />
        {input === undefined ? (
          <p class="second">No message was kept in the hour before this instant.</p>
        ) : (
          <Change key={input.position} task={task.ID} input={input} />
        )}
      </div>
    </Panel>
  )
}

function Change({ task, input }: { readonly task: string; readonly input: InputEntry }) {
  const message = ([input.message].flat()[0] ?? {}) as Json
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const [replayed, setReplayed] = useState<{ readonly done?: Rehearsal; readonly error?: string } | undefined>()
  const [isBusy, setBusy] = useState(false)
  const replay = async (change: { readonly message: Json } | { readonly remove: true }): Promise<void> => {
    setBusy(true)
    try {
      const first = await api.rules.rehearsals.replay(task, { at: input.position, ...change })
      setReplayed({ done: await settled(first, new AbortController().signal) })
    } catch (thrown) {
      setReplayed({ error: messageOf(thrown) })
    }
    setBusy(false)
  }
  const changed = {
    ...message,
    ...Object.fromEntries(Object.entries(typed).map(([name, text]) => [name, readField(text, 'any')])),
  }
  const isSame = Object.keys(typed).length === 0
  return (
    <>
      <p class="second">
        The message of <Time at={input.time} withSeconds />. The task is replayed from there to the present; nothing is
        called.
      </p>
      <div class="controls">
        {Object.entries(message)
          .filter(([name]) => !OWN.has(name))
          .map(([name, value]) => (
            <label key={name}>
              {name}
              <input
                class={name in typed ? 'typed' : ''}
                value={typed[name] ?? fieldText(value, 'any')}
                onInput={({ currentTarget }) => setTyped({ ...typed, [name]: currentTarget.value })}
              />
            </label>
          ))}
      </div>
      <div class="row">
        <button
          type="button"
          class="primary"
          aria-disabled={isSame || isBusy}
          title={isSame ? 'Change a value first' : undefined}
          onClick={() => !isSame && !isBusy && void replay({ message: changed })}
        >
          Replay with this
        </button>
        <button type="button" disabled={isBusy} onClick={() => void replay({ remove: true })}>
          Replay without it
        </button>
      </div>
      {isBusy && <p class="dim">Replaying …</p>}
      <Problem text={replayed?.error} />
      {!isBusy && replayed?.done?.comparison !== undefined && <Compared {...replayed.done.comparison} />}
    </>
  )
}

function Compared({ added, removed, moved, counts }: NonNullable<Rehearsal['comparison']>) {
  const rows = [
    ...added.map((one) => ({ ...one, kind: 'added' as const })),
    ...removed.map((one) => ({ ...one, kind: 'removed' as const })),
    ...moved.map((one) => ({ ...one, kind: 'moved' as const })),
  ].toSorted((a, b) => a.time - b.time)
  return (
    <div role="status">
      <p class="strong">{replayAnswer(counts)}</p>
      <ul class="history">
        {rows.slice(0, MOST).map((row) => (
          <li key={`${row.kind} ${row.node} ${row.time}`}>
            <button type="button" class="link" onClick={() => showAt(row.time)}>
              <Time at={row.time} withSeconds />
            </button>
            <span>{differenceText(row, zone.value, now.value)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
