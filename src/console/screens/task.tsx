/** One task at one instant: its graph, why its nodes are as they are, its day, its timers and its history. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ExplanationText, TaskEntity } from '#services/rules/contract'
import { now } from '../connection.ts'
import { instant, past, showAt } from '../instant.ts'
import { useKeys } from '../keys.ts'
import { useLoad } from '../loading.ts'
import { coolsUntil, edgesOf, type NodeStates, withBeginnings } from '../graph/node-states.ts'
import { StateLegend } from '../graph/legend.tsx'
import { readRule, type RuleView } from '../graph/rule-view.ts'
import { RuleGraph } from '../graph/rule-graph.tsx'
import { Icon } from '../parts/icons.tsx'
import { Age, Answer, Empty, Panel, Problem, Waiting } from '../parts/layout.tsx'
import { done } from '../parts/undo.tsx'
import { useIsNarrow } from '../parts/narrow.ts'
import { query, setQuery, to, withQuery } from '../router.ts'
import { api, may } from '../session.ts'
import { zone } from '../settings.ts'
import { useUnits } from '../units.ts'
import { nameCrumb } from '../shell/crumb-names.ts'
import { messageOf } from '../words/errors.ts'
import { healthText, lastFiring, taskAnswer, timerText } from '../words/task.ts'
import { countdownText, lengthText, timeText } from '../words/times.ts'
import { TaskDay } from './task-day.tsx'
import { useCourse, useRange } from './task-course.ts'
import { TaskHistory } from './task-history.tsx'
import { useTaskStates } from './task-live.ts'
import { WhatIf } from './what-if.tsx'
import { Why } from './why.tsx'

export function Task({ id }: { readonly id: string }) {
  const {
    data: task,
    error,
    reload,
  } = useLoad(() => api.rules.tasks.get(id, { format: 'simplified', includeHealth: true }), [id], 10_000)
  const name = task?.name
  useEffect(() => {
    if (name !== undefined) nameCrumb(id, name)
  }, [id, name])
  if (task === undefined) return <Waiting title="Task" error={error} retry={reload} />
  return <Loaded task={task} reload={reload} error={error} />
}

function Loaded({
  task,
  reload,
  error,
}: {
  readonly task: TaskEntity
  readonly error: string | undefined
  reload(): void
}) {
  const network = JSON.stringify(task.network)
  const rule = useMemo(() => readRule(task.network), [network])
  const live = useTaskStates(task.ID)
  const range = useRange()
  const course = useCourse(task, range.from, range.until)
  const states = useMemo(
    () => withBeginnings(live.states, course?.bands, instant.value),
    [live.states, course, past.value],
  )
  const isNarrow = useIsNarrow()
  const units = useUnits(task.resource)
  const chosen =
    query.value.get('node') ??
    lastFiring(rule, states)?.label ??
    rule.nodes.find(({ kind }) => kind === 'actuator')?.label ??
    rule.nodes[0]?.label
  const node = rule.nodes.find(({ label }) => label === chosen)
  const { value: at } = past
  const selectNext = (step: number): void => {
    const index = rule.nodes.findIndex(({ label }) => label === chosen)
    const next = rule.nodes[(index + step + rule.nodes.length) % rule.nodes.length]
    if (next) setQuery({ node: next.label })
  }
  useKeys([
    { keys: 'j', does: 'next node', run: () => selectNext(1) },
    { keys: 'k', does: 'previous node', run: () => selectNext(-1) },
    { keys: '.', does: 'back to now', run: () => showAt(null) },
  ])
  // while events arrive, only what they change is drawn
  const { from, until } = range
  const held = rule.triggers.map((trigger) => coolsUntil(trigger, states, until) ?? Infinity)
  const next = Math.min(...held)
  const day = useMemo(
    () => <TaskDay task={task} rule={rule} next={next} keptSince={live.keptSince} range={range} course={course} />,
    [task, rule, next, live.keptSince, range.name, from, until, course],
  )
  const history = useMemo(() => <TaskHistory task={task} round={live.round} />, [task, live.round])
  const trouble = task.error ?? healthText(task.health)
  return (
    <>
      <Answer
        title={
          at === null ? taskAnswer({ ...task, rule, states, instant: instant.value }) : pastAnswer(rule, states, at)
        }
        more={<About task={task} />}
      >
        <a class="button" href={withQuery(to('rehearsal'), { task: task.ID })}>
          Rehearse
        </a>
        {may('author') && (
          <a
            class="button"
            href={withQuery(
              to('editor'),
              task.template === undefined ? { task: task.ID } : { template: task.template },
            )}
          >
            Edit rule
          </a>
        )}
        {may('operate') && <StartStop task={task} reload={reload} />}
      </Answer>
      <Problem text={live.error ?? error ?? trouble} retry={reload} />
      <div class="split task">
        <div class="stack">
          <Panel title="Rule" aside={<StateLegend />}>
            <div class="graph-frame">
              {rule.nodes.length === 0 ? (
                <Empty title="The rule has no nodes" />
              ) : (
                <RuleGraph
                  rule={rule}
                  states={states}
                  instant={instant.value}
                  zone={zone.value}
                  isNarrow={isNarrow}
                  selected={chosen}
                  units={units}
                  onSelect={(label) => setQuery({ node: label })}
                />
              )}
            </div>
          </Panel>
          {day}
          {history}
        </div>
        <div class="stack">
          {node !== undefined && (
            <Panel
              as="aside"
              title={
                <>
                  {at === null ? 'Why ' : 'Then: '}
                  <code>{node.label}</code>
                </>
              }
              aside={node.kind}
            >
              <div class="pad">
                <NodeWhy id={task.ID} node={node.label} at={at} round={live.round} />
              </div>
            </Panel>
          )}
          {at !== null && live.keptSince !== undefined && <WhatIf task={task} at={at} />}
          <Timers rule={rule} states={states} timers={live.timers} />
        </div>
      </div>
    </>
  )
}

function pastAnswer(rule: RuleView, states: NodeStates, at: number): string {
  return `At ${timeText(at, zone.value, now.value, true)}: ${taskAnswer({ status: 'running', rule, states, instant: at })}`
}

function About({ task }: { readonly task: TaskEntity }) {
  const { resource, template, templateVersion, lastExecutionTime, invocationCount } = task
  return (
    <>
      {resource !== undefined && (
        <>
          On <a href={to('resources', resource)}>{resource}</a>
          {template === undefined ? '. ' : ', '}
        </>
      )}
      {template !== undefined && (
        <>
          {resource === undefined ? 'By ' : 'by '}
          <a href={withQuery(to('editor'), { template })}>{template}</a> version {templateVersion}.{' '}
        </>
      )}
      {lastExecutionTime === undefined ? (
        'It has processed no input.'
      ) : (
        <>
          Input {invocationCount.toLocaleString('en')} was <Age at={Math.min(lastExecutionTime, now.value)} /> ago.
        </>
      )}
    </>
  )
}

function StartStop({ task, reload }: { readonly task: TaskEntity; reload(): void }) {
  const isRunning = task.status === 'running'
  const [isBusy, setBusy] = useState(false)
  const act = async (): Promise<void> => {
    setBusy(true)
    try {
      await (isRunning ? api.rules.tasks.stop(task.ID) : api.rules.tasks.start(task.ID))
      done(isRunning ? 'The task is stopped' : 'The task runs')
    } catch (thrown) {
      done(messageOf(thrown))
    }
    setBusy(false)
    reload()
  }
  return (
    <button type="button" disabled={isBusy} onClick={() => void act()}>
      {isRunning ? 'Stop' : 'Start'}
    </button>
  )
}

interface NodeWhyProps {
  readonly id: string
  readonly node: string
  /** null: now */
  readonly at: number | null
  readonly round: number
}

/** ms of a drag before the host is asked for the reason at that instant */
const SETTLED = 150

function NodeWhy({ id, node, at, round }: NodeWhyProps) {
  const of = `${node} ${at}`
  const [shown, setShown] = useState<
    { readonly of: string; readonly text?: ExplanationText; readonly error?: string } | undefined
  >()
  useEffect(() => {
    let isCurrent = true
    const ask = (): void =>
      void api.rules.inspection.explain(id, node, at ?? undefined).then(
        ({ text }) => isCurrent && setShown({ of, text }),
        (thrown: unknown) => isCurrent && setShown({ of, error: messageOf(thrown) }),
      )
    const timer = setTimeout(ask, at === null ? 0 : SETTLED)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [id, of, at === null ? round : 0])
  if (shown === undefined) return null
  if (shown.of !== of) return at === null ? null : <p class="dim">Replaying the inputs until then …</p>
  if (shown.error !== undefined) return <Problem text={shown.error} />
  return shown.text === undefined ? null : <Why text={shown.text} isPast={at !== null} />
}

interface TimersProps {
  readonly rule: RuleView
  readonly states: NodeStates
  readonly timers: readonly { readonly kind: string; readonly node?: string; readonly at: number }[]
}

function Timers({ rule, states, timers }: TimersProps) {
  const { value: at } = instant
  const held = edgesOf(rule, states, at).filter(({ state }) => state === 'held')
  const coolDowns = rule.triggers.flatMap((trigger) => {
    const until = coolsUntil(trigger, states, at)
    const isHeld = held.some(({ from, to }) => from === trigger.source && to === trigger.destination)
    return until === undefined
      ? []
      : [
          {
            node: trigger.destination,
            at: until,
            of: trigger.coolDown,
            does: isHeld ? 'may fire again' : 'ends its cool-down',
          },
        ]
  })
  const others = timers.filter((timer) => timer.at > at).slice(0, 6)
  const all = [
    ...coolDowns,
    ...others.map(({ kind, node = 'the task', at }) => ({ node, at, of: undefined, does: timerText(kind) })),
  ]
  return (
    <Panel as="aside" title="Timers" aside={all.length === 0 ? 'none pending' : 'the next one first'}>
      <div class="pad">
        {all.length === 0 && <p class="second">Nothing waits for time: no cool-down, no clock, no expiry.</p>}
        {all
          .toSorted((a, b) => a.at - b.at)
          .map((timer) => (
            <div class="timer" key={`${timer.node} ${timer.does} ${timer.at}`}>
              <Icon name="timer" />
              <span>
                <code class="strong">{timer.node}</code> {timer.does}
              </span>
              <span class="left">{countdownText(timer.at - at)}</span>
              {timer.of !== undefined && (
                <progress
                  aria-label={`Cool-down of ${timer.node}`}
                  value={Math.max(0, timer.of - (timer.at - at))}
                  max={timer.of}
                />
              )}
              <p class="second">
                at {timeText(timer.at, zone.value, at, true)}
                {timer.of !== undefined && ` · ${lengthText(timer.of)} in all`}
              </p>
            </div>
          ))}
      </div>
    </Panel>
  )
}
