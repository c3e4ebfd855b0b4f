/** The alarms, with the explanation and history of the selected one; alarms that need action come first. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Alarm } from '#services/alarms/contract'
import type { ExplanationText } from '#services/rules/contract'
import { now } from '../connection.ts'
import { useKeys } from '../keys.ts'
import { useLoad } from '../loading.ts'
import { alarmRound, alarmsError, loadAlarms, openAlarms, openTotal } from '../open-alarms.ts'
import { Age, Answer, Empty, Panel, Problem, Time } from '../parts/layout.tsx'
import { AlarmState, Severity, severityWord } from '../parts/marks.tsx'
import { go, path, query, setQuery, to, withQuery } from '../router.ts'
import { api, may, session } from '../session.ts'
import { nameCrumb } from '../shell/crumb-names.ts'
import { alarmsAnswer, bySeverity, historyLine, isSnoozed, needsAction, whySentence } from '../words/alarms.ts'
import { countText } from '../words/numbers.ts'
import { lengthText } from '../words/times.ts'
import { assignToMe, changeStatus, snooze } from './change-alarm.ts'
import { Why } from './why.tsx'

const TABS = ['action', 'active', 'cleared'] as const
type Tab = (typeof TABS)[number]
const NAMES: Readonly<Record<Tab, string>> = { action: 'Need action', active: 'Active', cleared: 'Cleared' }
const CLEARED = 100
const HOUR = 3_600_000
const SNOOZES = [
  ['30 min', HOUR / 2],
  ['1 h', HOUR],
  ['8 h', 8 * HOUR],
  ['24 h', 24 * HOUR],
] as const
const HINTS = [
  ['j', 'next'],
  ['k', 'previous'],
  ['a', 'acknowledge'],
  ['m', 'assign to me'],
  ['s', 'snooze'],
  ['x', 'clear'],
  ['z', 'undo'],
] as const

/** Hides alarms that appear while `isHeld`, so that no row moves under the pointer. */
function useHeld(list: readonly Alarm[] | undefined, isHeld: boolean) {
  const known = useRef<ReadonlySet<string>>(new Set())
  const [, released] = useState(0)
  if (!isHeld || known.current.size === 0) known.current = new Set((list ?? []).map(({ id }) => id))
  const shown = (list ?? []).filter(({ id }) => known.current.has(id))
  return {
    shown,
    waiting: (list ?? []).length - shown.length,
    release: () => {
      known.current = new Set((list ?? []).map(({ id }) => id))
      released((round) => round + 1)
    },
  }
}

export function Alarms() {
  const { value: open } = openAlarms
  const asked = query.value.get('show')
  const tab = TABS.find((one) => one === asked) ?? 'active'
  const cleared = useLoad(
    async () =>
      tab === 'cleared'
        ? await api.alarms.list({ status: ['CLEARED'], size: CLEARED, sort: 'lastUpdateTime', history: false })
        : undefined,
    [tab, alarmRound.value],
  )
  const [isHeld, setHeld] = useState(false)
  const { shown: visible, waiting, release } = useHeld(open, isHeld)
  const all = [...visible].sort(bySeverity)
  const action = all.filter((alarm) => needsAction(alarm, now.value))
  const aside = all.filter(({ snoozeUntil }) => isSnoozed(snoozeUntil, now.value))
  const handled = all.filter((alarm) => !action.includes(alarm) && !aside.includes(alarm))
  const lists: Readonly<Record<Tab, readonly Alarm[]>> = {
    action,
    active: [...action, ...handled, ...aside],
    cleared: cleared.data?.alarms ?? [],
  }
  const shown = lists[tab]
  const [, chosenId] = path.value
  const index = Math.max(
    0,
    shown.findIndex(({ id }) => id === chosenId),
  )
  const isElsewhere = chosenId !== undefined && open !== undefined && !shown.some(({ id }) => id === chosenId)
  const chosen = isElsewhere ? undefined : shown[index]
  const choose = (alarm: Alarm | undefined): void => {
    if (alarm !== undefined) go(withQuery(to('alarms', alarm.id), { show: asked ?? undefined }))
  }
  const change: Change = {
    status: (alarm, status) => alarm.status !== status && void changeStatus(alarm, status),
    assign: (alarm) => void assignToMe(alarm),
    snooze: (alarm, ms) => void snooze(alarm, ms),
  }
  const act = (run: (alarm: Alarm) => void) => () => {
    if (chosen !== undefined && may('operate') && chosen.status !== 'CLEARED') run(chosen)
  }
  useKeys([
    { keys: 'j', does: 'next alarm', run: () => choose(shown[Math.min(shown.length - 1, index + 1)]) },
    { keys: 'k', does: 'previous alarm', run: () => choose(shown[Math.max(0, index - 1)]) },
    { keys: 'a', does: 'acknowledge', run: act((alarm) => change.status(alarm, 'ACKNOWLEDGED')) },
    { keys: 'm', does: 'assign to me', run: act(change.assign) },
    { keys: 's', does: 'snooze for an hour', run: act((alarm) => change.snooze(alarm, HOUR)) },
    { keys: 'x', does: 'clear', run: act((alarm) => change.status(alarm, 'CLEARED')) },
    { keys: 'n', does: 'show new alarms', run: release },
  ])
  return (
    <>
      <Answer
        title={open === undefined ? 'Alarms' : alarmsAnswer(open, now.value)}
        more={
          openTotal.value > all.length
            ? `The newest ${all.length} of ${openTotal.value.toLocaleString('en')} are shown.`
            : ''
        }
      />
      <Problem text={alarmsError.value ?? cleared.error} retry={() => void loadAlarms()} />
      <div class="split">
        <section
          class="panel"
          aria-label="Alarm list"
          onPointerEnter={() => setHeld(true)}
          onPointerLeave={() => setHeld(false)}
        >
          <div class="tabs" role="group" aria-label="Show">
            {TABS.map((one) => (
              <button type="button" key={one} aria-pressed={one === tab} onClick={() => setQuery({ show: one })}>
                {NAMES[one]} {one !== 'cleared' && <small>{lists[one].length}</small>}
              </button>
            ))}
          </div>
          {waiting > 0 && (
            <button type="button" class="quiet fresh" onClick={release}>
              {waiting} new <kbd>n</kbd>
            </button>
          )}
          {open !== undefined && shown.length === 0 && (
            <Empty title={tab === 'cleared' ? 'No alarm was cleared yet' : 'No alarm is active'}>
              <p>A rule raises an alarm with the actuator createAlarm; a program raises one by POST /alarm/alarms.</p>
            </Empty>
          )}
          <ul class="alarms">
            {shown.map((alarm, at) => (
              <Row
                key={alarm.id}
                alarm={alarm}
                isChosen={at === index && !isElsewhere}
                heading={
                  tab !== 'active'
                    ? undefined
                    : at === 0 && action.length > 0
                      ? 'Need action'
                      : at === action.length && handled.length > 0
                        ? 'Being handled'
                        : at === action.length + handled.length
                          ? 'Set aside'
                          : undefined
                }
                choose={() => choose(alarm)}
              />
            ))}
          </ul>
          <p class="key-hints" aria-hidden="true">
            {HINTS.map(([key, does]) => (
              <span key={key}>
                <kbd>{key}</kbd> {does}
              </span>
            ))}
          </p>
        </section>
        {(chosen !== undefined || isElsewhere) && <Detail id={chosen?.id ?? chosenId ?? ''} change={change} />}
      </div>
    </>
  )
}

interface Change {
  status(alarm: Alarm, status: 'ACKNOWLEDGED' | 'CLEARED'): void
  assign(alarm: Alarm): void
  snooze(alarm: Alarm, ms: number): void
}

interface RowProps {
  readonly alarm: Alarm
  readonly isChosen: boolean
  readonly heading: string | undefined
  choose(): void
}

function Row({ alarm, isChosen, heading, choose }: RowProps) {
  const { severity, status, text, type, source, count, timestamp, assignee, snoozeUntil } = alarm
  const isWaiting = needsAction(alarm, now.value)
  return (
    <>
      {heading !== undefined && <li class="section">{heading}</li>}
      <li class={`alarm${isWaiting ? ' unack' : ''}${isChosen ? ' chosen' : ''}`}>
        <Severity of={severity} isQuiet={!isWaiting} />
        <div>
          <button type="button" class="title" aria-current={isChosen} onClick={choose}>
            {text}
          </button>
          <div class="sub">
            {source.id} · {type}
            {count > 1 && ` · ${countText(count, 'time')}`}
            {assignee !== undefined && ` · ${assignee}`}
          </div>
        </div>
        <AlarmState status={status} snoozed={snoozeUntil} />
        <span class="age">
          <Age at={Date.parse(timestamp)} />
        </span>
      </li>
    </>
  )
}

interface DetailProps {
  readonly id: string
  readonly change: Change
}

function Detail({ id, change }: DetailProps) {
  const { data: alarm, error } = useLoad(() => api.alarms.get(id), [id])
  const fresh = useLoad(() => api.alarms.get(id), [id, alarmRound.value]).data ?? alarm
  const known = openAlarms.value?.find((one) => one.id === id)
  useEffect(() => {
    if (fresh !== undefined) nameCrumb(id, fresh.text)
  }, [fresh?.text])
  if (fresh === undefined) return error === undefined ? <div /> : <Problem text={error} />
  const { severity, text, source, type, count, creationTime, lastTriggeredTime, history } = fresh
  const { status, assignee, snoozeUntil } = known ?? fresh
  const alarmNow = known ?? fresh
  const isAside = isSnoozed(snoozeUntil, now.value)
  return (
    <Panel
      as="aside"
      title={
        <span class="row">
          <Severity of={severity} isQuiet={!needsAction(alarmNow, now.value)} /> {severityWord(severity)}
        </span>
      }
      aside={<AlarmState status={status} snoozed={snoozeUntil} />}
    >
      <div class="pad stack">
        <p class="why-sentence strong">{text}</p>
        {may('operate') && status !== 'CLEARED' && (
          <div class="triage">
            {status === 'ACTIVE' && (
              <button type="button" class="primary" onClick={() => change.status(alarmNow, 'ACKNOWLEDGED')}>
                Acknowledge <kbd>a</kbd>
              </button>
            )}
            <select
              aria-label="Snooze"
              value=""
              onChange={({ currentTarget }) => {
                change.snooze(alarmNow, Number(currentTarget.value))
                currentTarget.value = ''
              }}
            >
              <option value="">{isAside ? 'Snooze again' : 'Snooze'} …</option>
              {SNOOZES.map(([name, ms]) => (
                <option key={name} value={ms}>
                  for {name}
                </option>
              ))}
            </select>
            <button type="button" onClick={() => change.status(alarmNow, 'CLEARED')}>
              Clear <kbd>x</kbd>
            </button>
            {assignee !== session.value?.user && (
              <button type="button" onClick={() => change.assign(alarmNow)}>
                Assign to me <kbd>m</kbd>
              </button>
            )}
          </div>
        )}
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
        <div>
          <h3>History</h3>
          <ol class="history">
            {history.map((entry) => (
              <li key={entry.id}>
                <Time at={Date.parse(entry.timestamp)} />
                <span>{historyLine(entry.text, entry.type, entry.changes)}</span>
              </li>
            ))}
          </ol>
        </div>
      </div>
    </Panel>
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
