/** One alarm: what people can do about it, why it was raised, its comments and its history. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Alarm } from '#services/alarms/contract'
import type { ExplanationText } from '#services/rules/contract'
import { now } from '../connection.ts'
import { useLoad } from '../loading.ts'
import { alarmRound, openAlarms } from '../open-alarms.ts'
import { Panel, Problem, Time } from '../parts/layout.tsx'
import { AlarmState, Severity, severityWord } from '../parts/marks.tsx'
import { to, withQuery } from '../router.ts'
import { api, may, session } from '../session.ts'
import { nameCrumb } from '../shell/crumb-names.ts'
import { historyLine, holdOf, needsAction, whySentence } from '../words/alarms.ts'
import { countText } from '../words/numbers.ts'
import { lengthText } from '../words/times.ts'
import { assignToMe, changeStatus, comment, shelve, unshelve } from './change-alarm.ts'
import { Why } from './why.tsx'

/** ids of the fields that keys lead to */
export const SHELVE_REASON = 'shelve-reason'
export const COMMENT_TEXT = 'comment-text'

const HOUR = 3_600_000
const TIMES = [
  ['30 min', HOUR / 2],
  ['1 h', HOUR],
  ['8 h', 8 * HOUR],
  ['24 h', 24 * HOUR],
] as const

export function AlarmDetail({ id }: { readonly id: string }) {
  const { data: alarm, error } = useLoad(() => api.alarms.get(id), [id])
  const fresh = useLoad(() => api.alarms.get(id), [id, alarmRound.value]).data ?? alarm
  const known = openAlarms.value?.find((one) => one.id === id)
  useEffect(() => {
    if (fresh !== undefined) nameCrumb(id, fresh.text)
  }, [fresh?.text])
  if (fresh === undefined) return error === undefined ? <div /> : <Problem text={error} />
  const { severity, text, source, type, count, creationTime, lastTriggeredTime, history } = fresh
  const shown = known ?? fresh
  const { status, assignee } = shown
  return (
    <Panel
      as="aside"
      title={
        <span class="row">
          <Severity of={severity} isQuiet={!needsAction(shown, now.value)} /> {severityWord(severity)}
        </span>
      }
      aside={<AlarmState alarm={shown} />}
    >
      <div class="pad stack">
        <p class="why-sentence strong">{text}</p>
        <Held alarm={shown} />
        {may('operate') && status !== 'CLEARED' && <Triage key={id} alarm={shown} />}
        <Advice type={type} />
        <dl class="facts">
          <dt>Source</dt>
          <dd>
            <a href={to('resources', source.id)}>{source.id}</a>
          </dd>
          <dt>Type</dt>
          <dd>{type}</dd>
          <dt>Since</dt>
          <dd>
            <Time at={Date.parse(creationTime)} />, {lengthText(now.value - Date.parse(creationTime))} ago
          </dd>
          <dt>Raised</dt>
          <dd>
            {countText(count, 'time')}
            {count > 1 && (
              <>
                , last <Time at={Date.parse(lastTriggeredTime)} />
              </>
            )}
          </dd>
          {assignee !== undefined && (
            <>
              <dt>Assigned to</dt>
              <dd>{assignee}</dd>
            </>
          )}
        </dl>
        <AlarmWhy id={id} />
        <Comments key={id} alarm={shown} />
        <div>
          <h3>History</h3>
          <ol class="history">
            {history.map((entry) => (
              <li key={entry.id}>
                <Time at={Date.parse(entry.timestamp)} />
                <span>
                  {historyLine(entry.text, entry.type, entry.changes)}
                  {entry.comment !== undefined && `: ${entry.comment}`}
                  {entry.user !== undefined && <small class="dim"> {entry.user}</small>}
                </span>
              </li>
            ))}
          </ol>
        </div>
      </div>
    </Panel>
  )
}

/** What keeps the alarm from people, and until when. */
function Held({ alarm }: { readonly alarm: Alarm }) {
  const hold = holdOf(alarm, now.value)
  if (hold === undefined) return null
  const { by, until, reason, suppression } = hold
  const isShelved = suppression === 'shelved'
  return (
    <div class="row">
      <p class="second">
        {isShelved ? 'Shelved' : 'Held back'}
        {by !== undefined && ` by ${by}`}
        {until !== undefined && (
          <>
            {' '}
            until <Time at={Date.parse(until)} />
          </>
        )}
        {reason !== undefined && `: ${reason}`}
      </p>
      {isShelved && may('operate') && (
        <button type="button" onClick={() => void unshelve(alarm)}>
          Unshelve
        </button>
      )}
    </div>
  )
}

function Triage({ alarm }: { readonly alarm: Alarm }) {
  const { status, assignee, lifecycle } = alarm
  return (
    <>
      <div class="triage">
        {status === 'ACTIVE' && (
          <button type="button" class="primary" onClick={() => void changeStatus(alarm, 'ACKNOWLEDGED')}>
            Acknowledge <kbd>a</kbd>
          </button>
        )}
        {lifecycle !== 'returned' && (
          <button type="button" onClick={() => void changeStatus(alarm, 'CLEARED')}>
            Clear <kbd>x</kbd>
          </button>
        )}
        {assignee !== session.value?.user && (
          <button type="button" onClick={() => void assignToMe(alarm)}>
            Assign to me <kbd>m</kbd>
          </button>
        )}
      </div>
      <Shelve alarm={alarm} />
    </>
  )
}

interface RemarkProps {
  readonly id: string
  readonly label: string
  readonly action: string
  /** letter that leads to the field */
  readonly letter: string
  readonly children?: ComponentChildren
  send(text: string): Promise<void>
}

/** A line of text that acts on the alarm. */
function Remark({ id, label, action, letter, children, send }: RemarkProps) {
  const [text, setText] = useState('')
  const isEmpty = text.trim() === ''
  const submit = (event: Event): void => {
    event.preventDefault()
    if (isEmpty) return
    void send(text.trim())
    setText('')
    // letters are keys again
    document.getElementById(id)?.blur()
  }
  return (
    <form class="one-line" onSubmit={submit}>
      <input
        id={id}
        aria-label={label}
        placeholder={label}
        maxLength={2_000}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      {children}
      <button type="submit" disabled={isEmpty}>
        {action} <kbd>{letter}</kbd>
      </button>
    </form>
  )
}

function Shelve({ alarm }: { readonly alarm: Alarm }) {
  const [ms, setMs] = useState(HOUR)
  const send = (reason: string): Promise<void> => shelve(alarm, ms, reason)
  return (
    <Remark id={SHELVE_REASON} label="Reason for shelving" action="Shelve" letter="s" send={send}>
      <select aria-label="Shelve for" value={ms} onChange={({ currentTarget }) => setMs(Number(currentTarget.value))}>
        {TIMES.map(([name, length]) => (
          <option key={name} value={length}>
            {name}
          </option>
        ))}
      </select>
    </Remark>
  )
}

/** Texts of the type of the alarm for operators. */
function Advice({ type }: { readonly type: string }) {
  const { data: types } = useLoad(() => api.alarms.types.list(), [])
  const texts = types?.find((one) => one.type === type)?.texts
  if (texts === undefined) return null
  const lines = [
    ['Cause', texts.cause],
    ['If ignored', texts.consequence],
    ['What to do', texts.action],
  ] as const
  return (
    <dl class="facts">
      {lines.map(
        ([name, text]) =>
          text !== undefined && (
            <>
              <dt>{name}</dt>
              <dd>{text}</dd>
            </>
          ),
      )}
    </dl>
  )
}

function Comments({ alarm }: { readonly alarm: Alarm }) {
  const { data, reload } = useLoad(() => api.alarms.comments(alarm.id), [alarm.id])
  useEffect(() => {
    if (alarmRound.value > 0) reload()
  }, [alarmRound.value])
  const all = data?.comments ?? []
  if (all.length === 0 && !may('operate')) return null
  return (
    <div>
      <h3>Comments</h3>
      <ol class="history">
        {all.map((one) => (
          <li key={one.id}>
            <Time at={Date.parse(one.time)} />
            <span>
              {one.text} <small class="dim">{one.user}</small>
            </span>
          </li>
        ))}
      </ol>
      {may('operate') && (
        <Remark id={COMMENT_TEXT} label="Comment" action="Comment" letter="c" send={(text) => comment(alarm, text)} />
      )}
    </div>
  )
}

/** As it was stored with the alarm; older ones have no sentences. */
interface StoredExplanation {
  readonly text?: ExplanationText
  readonly fired?: { readonly time: number; readonly why: Parameters<typeof whySentence>[0] } | null
}

function AlarmWhy({ id }: { readonly id: string }) {
  const [shown, setShown] = useState<
    { readonly id: string; readonly why: Awaited<ReturnType<typeof api.alarms.why>> } | undefined
  >()
  useEffect(() => {
    let isCurrent = true
    api.alarms.why(id).then(
      (why) => isCurrent && setShown({ id, why }),
      () => {},
    )
    return () => void (isCurrent = false)
  }, [id])
  if (shown?.id !== id) return null
  const { cause, explanation, raisedBy } = shown.why
  if (cause === null) return <p class="second">Raised by {raisedBy}, not by a rule.</p>
  const { fired = null, text } = (explanation ?? {}) as StoredExplanation
  const href = withQuery(to('tasks', cause.task), { node: cause.node, at: fired?.time })
  return (
    <div>
      <h3>Why</h3>
      {text !== undefined ? (
        <Why text={{ ...text, whyNot: [], notes: [] }} />
      ) : (
        fired !== null && <p>{whySentence(fired.why)}</p>
      )}
      <a href={href}>See it on the graph</a>
    </div>
  )
}
