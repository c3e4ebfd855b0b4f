/** The overview: what needs a person now, the rate of alarms, and the flow of messages. */
import type { TaskEntity } from '#services/rules/contract'
import { now } from '../connection.ts'
import { useLoad } from '../loading.ts'
import { alarmRound, alarmsError, loadAlarms, openAlarms, unacknowledged } from '../open-alarms.ts'
import { Icon } from '../parts/icons.tsx'
import { Age, Answer, Empty, Panel, Problem } from '../parts/layout.tsx'
import { Severity } from '../parts/marks.tsx'
import { RateBars } from '../plot/rate-bars.tsx'
import { to, withQuery } from '../router.ts'
import { api, may } from '../session.ts'
import { zone } from '../settings.ts'
import { countBySlot, FLOOD } from '../words/alarms.ts'
import { countText } from '../words/numbers.ts'
import { overviewAnswer } from '../words/overview.ts'
import { healthText } from '../words/task.ts'
import { changeStatus } from './change-alarm.ts'

const HOUR = 3_600_000
const SLOT = 600_000
const SLOTS = 36
const MOST = 8
const FRESH = 10 * 60_000

export function Overview() {
  const tasks = useLoad(
    () =>
      api.rules.tasks.list(
        { where: { status: 'failed' }, hits: 20, startIndex: 0 },
        { format: 'simplified', includeHealth: true, withoutGraph: true },
      ),
    [],
    15_000,
  )
  const running = useLoad(
    () =>
      api.rules.tasks.list(
        { where: { status: 'running' }, hits: 100, startIndex: 0 },
        { format: 'simplified', includeHealth: true, withoutGraph: true },
      ),
    [],
    15_000,
  )
  const resources = useLoad(() => api.resources.resources.list({ limit: 500 }), [], 15_000)
  const raised = useLoad(
    () =>
      api.alarms.list({
        size: 1000,
        history: false,
        lastTriggeredFrom: new Date(now.value - SLOTS * SLOT).toISOString(),
      }),
    [alarmRound.value],
    60_000,
  )
  const today = useLoad(
    () =>
      api.alarms.list({ size: 1000, history: false, lastTriggeredFrom: new Date(now.value - 24 * HOUR).toISOString() }),
    [alarmRound.value],
    60_000,
  )
  const bad = [
    ...(tasks.data?.values ?? []),
    ...(running.data?.values ?? []).filter((task) => healthText(task.health) !== undefined),
  ]
  const dead = useLoad(() => api.rules.inspection.allDeliveries({ status: 'dead', limit: 100 }), [], 15_000)
  const failed = (dead.data?.values ?? []).filter(({ createTime }) => createTime > now.value - 24 * HOUR)
  const action = unacknowledged.value
  const isLoaded = openAlarms.value !== undefined && tasks.data !== undefined && resources.data !== undefined
  if (isLoaded && running.data?.total === 0 && tasks.data?.total === 0 && resources.data?.total === 0)
    return <FirstMinute />
  const times = (raised.data?.alarms ?? []).map(({ lastTriggeredTime }) => Date.parse(lastTriggeredTime))
  const counts = countBySlot(times, now.value, SLOT, SLOTS)
  const all = resources.data?.values ?? []
  const fresh = all.filter(({ lastMessageTimestamp: last }) => typeof last === 'number' && now.value - last < FRESH)
  const seen = all.filter(({ lastMessageTimestamp: last }) => typeof last === 'number')
  return (
    <>
      <Answer
        title={isLoaded ? overviewAnswer(action.length, bad.length, failed.length) : 'Overview'}
        more={
          isLoaded
            ? `${countText(running.data?.total ?? 0, 'task')} at work on ${countText(resources.data?.total ?? 0, 'resource')}.`
            : ' '
        }
      >
        {action.length > 0 && (
          <a class="button" href={to('alarms')}>
            Triage alarms
          </a>
        )}
      </Answer>
      <Problem
        text={alarmsError.value ?? tasks.error ?? resources.error}
        retry={() => (void loadAlarms(), tasks.reload(), resources.reload())}
      />
      <div class="split">
        <Panel title="Needs action" aside="most severe first, then oldest">
          {isLoaded && action.length + bad.length + failed.length === 0 && (
            <Empty title="Nothing needs a person">
              <p>
                Active alarms that no user has acknowledged, tasks that fail or lag, and calls that failed appear here.
              </p>
            </Empty>
          )}
          <ul class="items">
            {action.slice(0, MOST).map((alarm) => (
              <li key={alarm.id} class="item">
                <Severity of={alarm.severity} />
                <div>
                  <div class="title">
                    <a href={to('alarms', alarm.id)}>{alarm.text}</a>
                  </div>
                  <div class="sub">
                    {alarm.source.id} · for <Age at={Date.parse(alarm.creationTime)} />
                    {alarm.count > 1 && ` · ${countText(alarm.count, 'time')}`}
                  </div>
                </div>
                <div class="actions">
                  <a class="button small" href={to('alarms', alarm.id)}>
                    Why
                  </a>
                  {may('operate') && (
                    <button type="button" class="small" onClick={() => void changeStatus(alarm, 'ACKNOWLEDGED')}>
                      Acknowledge
                    </button>
                  )}
                </div>
              </li>
            ))}
            {bad.slice(0, MOST).map((task) => (
              <BadTask key={task.ID} task={task} />
            ))}
            {failed.length > 0 && (
              <li class="item">
                <Icon name="problem" />
                <div>
                  <div class="title">
                    <a href={to('operations', 'deliveries')}>
                      {countText(failed.length, 'call')} of actuators failed in the last 24 hours
                    </a>
                  </div>
                  <div class="sub">{failed[0]?.error}</div>
                </div>
              </li>
            )}
          </ul>
          {action.length > MOST && (
            <div class="more">
              <span>{countText(action.length - MOST, 'more alarm')}</span>
              <a href={to('alarms')}>All alarms</a>
            </div>
          )}
        </Panel>
        <div class="stack">
          <Panel title="Alarm rate" aside="last 6 hours, each 10 minutes">
            <div class="pad stack">
              <RateBars counts={counts} until={now.value} slot={SLOT} zone={zone.value} limit={FLOOD} />
              <div class="figure-grid">
                <Figure
                  value={today.data?.total}
                  text="alarms in 24 hours, limit 150"
                  isBad={(today.data?.total ?? 0) > 150}
                />
                <Figure
                  value={Math.max(0, ...counts)}
                  text={`peak in 10 minutes, limit ${FLOOD}`}
                  isBad={Math.max(0, ...counts) > FLOOD}
                />
              </div>
            </div>
          </Panel>
          <Panel title="Noisiest in 24 hours" aside={countText(today.data?.total ?? 0, 'alarm')}>
            <Noisiest alarms={today.data?.alarms ?? []} />
          </Panel>
          <Panel title="Messages" aside={`from ${countText(seen.length, 'resource')}`}>
            <div class="pad figure-grid">
              <div class="figure">
                <b>{fresh.length}</b>
                <span>sent something in the last 10 minutes</span>
              </div>
              <div class="figure">
                <b>{seen.length - fresh.length}</b>
                <span>are silent for longer</span>
              </div>
            </div>
          </Panel>
        </div>
      </div>
    </>
  )
}

function Figure({
  value,
  text,
  isBad,
}: {
  readonly value: number | undefined
  readonly text: string
  readonly isBad: boolean
}) {
  return (
    <div class="figure">
      <b>
        {value?.toLocaleString('en') ?? '–'}
        <small class={isBad ? 'bad' : 'good'}>
          <Icon name={isBad ? 'problem' : 'check'} size={14} /> {isBad ? 'over' : 'good'}
        </small>
      </b>
      <span>{text}</span>
    </div>
  )
}

function BadTask({ task }: { readonly task: TaskEntity }) {
  return (
    <li class="item">
      <Icon name="task" />
      <div>
        <div class="title">
          <a href={to('tasks', task.ID)}>
            {task.name} {task.status === 'failed' ? 'has failed' : 'is not well'}
          </a>
        </div>
        <div class="sub">{task.error ?? healthText(task.health)}</div>
      </div>
      <div class="actions">
        <a class="button small" href={to('tasks', task.ID)}>
          Open
        </a>
      </div>
    </li>
  )
}

interface Noisy {
  readonly type: string
  readonly count: number
  readonly additionalProperties?: Readonly<Record<string, unknown>>
}

function Noisiest({ alarms }: { readonly alarms: readonly Noisy[] }) {
  const byType = new Map<string, { count: number; task: string | undefined }>()
  for (const { type, count, additionalProperties } of alarms) {
    const known = byType.get(type) ?? { count: 0, task: undefined }
    const task = additionalProperties?.['task']
    byType.set(type, { count: known.count + count, task: known.task ?? (typeof task === 'string' ? task : undefined) })
  }
  const worst = [...byType].toSorted(([, a], [, b]) => b.count - a.count).slice(0, 5)
  if (worst.length === 0) return <p class="pad second">No alarm was raised.</p>
  return (
    <table class="tight">
      <thead>
        <tr>
          <th scope="col">Type</th>
          <th scope="col" class="num">
            Raised
          </th>
          <th scope="col">
            <span class="unseen">Action</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {worst.map(([type, { count, task }]) => (
          <tr key={type}>
            <td>{type}</td>
            <td class="num">{count.toLocaleString('en')}</td>
            <td class="num">
              {task === undefined ? (
                <span class="dim">no rule</span>
              ) : (
                <a href={withQuery(to('rehearsal'), { task })}>Rehearse</a>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const FIRST = `curl -u KEY -H 'content-type: application/json' \\
  ${new URL('..', document.baseURI).href}resources/boiler-1/events \\
  -d '{"temperature": 93, "pump": false}'`

function FirstMinute() {
  return (
    <>
      <Answer
        title="Nothing has arrived yet. Send one reading and watch a rule decide."
        more="This host is empty. A start without --empty brings a simulated plant."
      />
      <Panel title="Your first alarm">
        <ol class="steps">
          <li>
            <h3>Write a rule</h3>
            <p class="second">It compares a reading with a limit, and raises an alarm. The editor begins with one.</p>
            {may('author') && (
              <a class="button small" href={to('editor')}>
                New rule
              </a>
            )}
          </li>
          <li>
            <h3>Send a reading</h3>
            <pre class="snippet">{FIRST}</pre>
          </li>
          <li>
            <h3>See why it fired</h3>
            <p class="second">
              The task shows each state, and why. Until then all states are unknown, which is not the same as false.
            </p>
            <a class="button small" href={to('tasks')}>
              Tasks
            </a>
          </li>
        </ol>
      </Panel>
    </>
  )
}
