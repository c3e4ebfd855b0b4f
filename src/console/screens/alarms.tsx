/** The alarms, with the explanation and history of the selected one; alarms that need action come first. */
import { useEffect, useState } from 'preact/hooks'
import type { Alarm } from '#services/alarms/contract'
import type { ExplanationText } from '#services/rules/contract'
import { now } from '../connection.ts'
import { useKeys } from '../keys.ts'
import { useLoad } from '../loading.ts'
import { alarmRound, alarmsError, loadAlarms, openAlarms, openTotal } from '../open-alarms.ts'
import { Age, Answer, Empty, Panel, Problem, Time } from '../parts/layout.tsx'
import { AlarmState, Severity, severityWord } from '../parts/marks.tsx'
import { go, path, query, setQuery, to, withQuery } from '../router.ts'
import { api, may } from '../session.ts'
import { nameCrumb } from '../shell/crumb-names.ts'
import { alarmsAnswer, bySeverity, historyLine, whySentence } from '../words/alarms.ts'
import { countText } from '../words/numbers.ts'
import { lengthText } from '../words/times.ts'
import { changeStatus } from './acknowledge.ts'
import { Why } from './why.tsx'

const TABS = ['action', 'active', 'cleared'] as const
type Tab = (typeof TABS)[number]
const NAMES: Readonly<Record<Tab, string>> = { action: 'Need action', active: 'Active', cleared: 'Cleared' }
const CLEARED = 100

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
  const all = [...(open ?? [])].sort(bySeverity)
  const action = all.filter(({ status }) => status === 'ACTIVE')
  const handled = all.filter(({ status }) => status !== 'ACTIVE')
  const lists: Readonly<Record<Tab, readonly Alarm[]>> = {
    action,
    active: [...action, ...handled],
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
  const change = (alarm: Alarm | undefined, status: Alarm['status']): void => {
    if (alarm === undefined || !may('operate') || alarm.status === status) return
    void changeStatus(alarm, status)
  }
  useKeys(
    [
      { keys: 'j', does: 'next alarm', run: () => choose(shown[Math.min(shown.length - 1, index + 1)]) },
      { keys: 'k', does: 'previous alarm', run: () => choose(shown[Math.max(0, index - 1)]) },
      { keys: 'a', does: 'acknowledge', run: () => change(chosen, 'ACKNOWLEDGED') },
      { keys: 'x', does: 'clear', run: () => change(chosen, 'CLEARED') },
    ],
    [shown.map(({ id, status }) => id + status).join(' '), index, asked],
  )
  return (
    <>
      <Answer
        title={open === undefined ? 'Alarms' : alarmsAnswer(open)}
        more={
          openTotal.value > all.length
            ? `The newest ${all.length} of ${openTotal.value.toLocaleString('en')} are shown.`
            : ''
        }
      />
      <Problem text={alarmsError.value ?? cleared.error} retry={() => void loadAlarms()} />
      <div class="split">
        <section class="panel" aria-label="Alarm list">
          <div class="tabs" role="group" aria-label="Show">
            {TABS.map((one) => (
              <button type="button" key={one} aria-pressed={one === tab} onClick={() => setQuery({ show: one })}>
                {NAMES[one]} {one !== 'cleared' && <small>{lists[one].length}</small>}
              </button>
            ))}
          </div>
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
                      : at === action.length
                        ? 'Being handled'
                        : undefined
                }
                choose={() => choose(alarm)}
              />
            ))}
          </ul>
          <p class="key-hints" aria-hidden="true">
            <span>
              <kbd>j</kbd> next
            </span>
            <span>
              <kbd>k</kbd> previous
            </span>
            <span>
              <kbd>a</kbd> acknowledge
            </span>
            <span>
              <kbd>x</kbd> clear
            </span>
            <span>
              <kbd>z</kbd> undo
            </span>
          </p>
        </section>
        {(chosen !== undefined || isElsewhere) && <Detail id={chosen?.id ?? chosenId ?? ''} change={change} />}
      </div>
    </>
  )
}

interface RowProps {
  readonly alarm: Alarm
  readonly isChosen: boolean
  readonly heading: string | undefined
  choose(): void
}

function Row({ alarm, isChosen, heading, choose }: RowProps) {
  const { severity, status, text, type, source, count, timestamp } = alarm
  return (
    <>
      {heading !== undefined && <li class="section">{heading}</li>}
      <li class={`alarm${status === 'ACTIVE' ? ' unack' : ''}${isChosen ? ' chosen' : ''}`}>
        <Severity of={severity} isQuiet={status !== 'ACTIVE'} />
        <div>
          <button type="button" class="title" aria-current={isChosen} onClick={choose}>
            {text}
          </button>
          <div class="sub">
            {source.id} · {type}
            {count > 1 && ` · ${countText(count, 'time')}`}
          </div>
        </div>
        <AlarmState status={status} />
        <span class="age">
          <Age at={Date.parse(timestamp)} />
        </span>
      </li>
    </>
  )
}

interface DetailProps {
  readonly id: string
  change(alarm: Alarm, status: Alarm['status']): void
}

function Detail({ id, change }: DetailProps) {
  const { data: alarm, error } = useLoad(() => api.alarms.get(id), [id])
  const fresh = useLoad(() => api.alarms.get(id), [id, alarmRound.value]).data ?? alarm
  const known = openAlarms.value?.find((one) => one.id === id)
  useEffect(() => {
    if (fresh !== undefined) nameCrumb(id, fresh.text)
  }, [fresh?.text])
  if (fresh === undefined) return error === undefined ? <div /> : <Problem text={error} />
  const { severity, text, source, type, count, creationTime, lastTriggeredTime, assignee, history } = fresh
  const status = known?.status ?? fresh.status
  const alarmNow = { ...fresh, status }
  return (
    <Panel
      as="aside"
      title={
        <span class="row">
          <Severity of={severity} isQuiet={status !== 'ACTIVE'} /> {severityWord(severity)}
        </span>
      }
      aside={<AlarmState status={status} />}
    >
      <div class="pad stack">
        <p class="why-sentence strong">{text}</p>
        {may('operate') && status !== 'CLEARED' && (
          <div class="triage">
            {status === 'ACTIVE' && (
              <button type="button" class="primary" onClick={() => change(alarmNow, 'ACKNOWLEDGED')}>
                Acknowledge <kbd>a</kbd>
              </button>
            )}
            <button type="button" onClick={() => change(alarmNow, 'CLEARED')}>
              Clear <kbd>x</kbd>
            </button>
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
