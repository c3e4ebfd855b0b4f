/** The alarms, with the explanation and history of the selected one; alarms that need action come first. */
import { useRef, useState } from 'preact/hooks'
import type { Alarm } from '#services/alarms/contract'
import { now } from '../connection.ts'
import { useKeys } from '../keys.ts'
import { useLoad } from '../loading.ts'
import { alarmRound, alarmsError, loadAlarms, openAlarms, openTotal } from '../open-alarms.ts'
import { Age, Answer, Empty, Problem } from '../parts/layout.tsx'
import { AlarmState, Severity } from '../parts/marks.tsx'
import { go, path, query, setQuery, to, withQuery } from '../router.ts'
import { api, may } from '../session.ts'
import { alarmsAnswer, bySeverity, holdOf, needsAction } from '../words/alarms.ts'
import { countText } from '../words/numbers.ts'
import { AlarmDetail, COMMENT_TEXT, SHELVE_REASON } from './alarm-detail.tsx'
import { assignToMe, changeStatus } from './change-alarm.ts'

const TABS = ['action', 'active', 'shelved', 'cleared'] as const
type Tab = (typeof TABS)[number]
const NAMES: Readonly<Record<Tab, string>> = {
  action: 'Need action',
  active: 'Active',
  shelved: 'Held back',
  cleared: 'Cleared',
}
const CLEARED = 100
const HINTS = [
  ['j', 'next'],
  ['k', 'previous'],
  ['a', 'acknowledge'],
  ['m', 'assign to me'],
  ['s', 'shelve'],
  ['c', 'comment'],
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
  const aside = all.filter((alarm) => holdOf(alarm, now.value) !== undefined)
  const handled = all.filter((alarm) => !action.includes(alarm) && !aside.includes(alarm))
  const lists: Readonly<Record<Tab, readonly Alarm[]>> = {
    action,
    active: [...action, ...handled, ...aside],
    shelved: aside,
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
  const act = (run: (alarm: Alarm) => void) => () => {
    if (chosen !== undefined && may('operate') && chosen.status !== 'CLEARED') run(chosen)
  }
  useKeys([
    { keys: 'j', does: 'next alarm', run: () => choose(shown[Math.min(shown.length - 1, index + 1)]) },
    { keys: 'k', does: 'previous alarm', run: () => choose(shown[Math.max(0, index - 1)]) },
    { keys: 'a', does: 'acknowledge', run: act((alarm) => void changeStatus(alarm, 'ACKNOWLEDGED')) },
    { keys: 'm', does: 'assign to me', run: act((alarm) => void assignToMe(alarm)) },
    { keys: 's', does: 'shelve: write the reason', run: act(() => focusOn(SHELVE_REASON)) },
    { keys: 'c', does: 'comment', run: () => focusOn(COMMENT_TEXT) },
    { keys: 'x', does: 'clear', run: act((alarm) => void changeStatus(alarm, 'CLEARED')) },
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
            <Empty
              title={
                tab === 'cleared'
                  ? 'No alarm was cleared yet'
                  : tab === 'shelved'
                    ? 'No alarm is held back'
                    : 'No alarm is active'
              }
            >
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
                          ? 'Held back'
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
        {(chosen !== undefined || isElsewhere) && <AlarmDetail id={chosen?.id ?? chosenId ?? ''} />}
      </div>
    </>
  )
}

function focusOn(id: string): void {
  document.getElementById(id)?.focus()
}

interface RowProps {
  readonly alarm: Alarm
  readonly isChosen: boolean
  readonly heading: string | undefined
  choose(): void
}

function Row({ alarm, isChosen, heading, choose }: RowProps) {
  const { severity, text, type, source, count, timestamp, assignee } = alarm
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
        <AlarmState alarm={alarm} />
        <span class="age">
          <Age at={Date.parse(timestamp)} />
        </span>
      </li>
    </>
  )
}
