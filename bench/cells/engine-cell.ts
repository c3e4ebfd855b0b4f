/** Engine of a cell: its rules, its subscribers, and the checks of their events. */
import { EMPTY } from 'rxjs'
import { builtins } from '../../plugins/index.ts'
import { Firings, stampOf, weightOf } from '../../src/bench/firings.ts'
import type { Engine } from '../../src/core/engine/api.ts'
import type { Rule } from '../../src/core/rule/rule.ts'
import { createEngine, definePlug, type EngineEvent, type EventType, type FiringWhy } from '../../src/index.ts'
import { nextSeed, randomOf } from '../../src/kernel/random.ts'
import { KEPT_EVENTS } from '../../src/services/rules/durable/durable-runner.ts'
import { TaskEventHistory } from '../../src/services/rules/tasks/task-event-history.ts'
import { type BenchEvent, type Clock, START_MS, STEP_MS } from '../events.ts'
import { chainRule, thresholdRule } from '../subjects/bench-rules.ts'
import { clockScheduler } from '../subjects/clock-scheduler.ts'
import { chainStep } from '../subjects/plugs.ts'
import type { Workload } from '../workload.ts'
import { type Answer, type CellRow, type Data, type Delivery, PLANS, type Time } from './targets.ts'

export interface CellParts {
  readonly row: CellRow
  readonly answer: Answer
  readonly time: Time
  readonly delivery: Delivery
  readonly clock: Clock
  readonly firings: Firings
}

export interface RunningCell {
  handle(this: void, event: OddEvent): void
  /** Checks each event closely from here on. */
  beginCheck(): void
  /** Throws when the received events do not match the firings. */
  finish(total: number): Promise<void>
}

export async function engineCell(workload: Workload, parts: CellParts): Promise<RunningCell> {
  const { clock, time } = parts
  const scheduler = clockScheduler(clock)
  const engine = createEngine({
    plugs: [...builtins, chainStep, countPlug(parts)],
    ...(time === 'variable' && { scheduler }),
    ...(parts.row === 'history' && { history: KEPT_EVENTS }),
  })
  for (const [i, { rule, resource }] of rulesOf(workload).entries()) {
    await engine.start(rule, { id: `task-${i}`, resource })
  }
  const listener = listenTo(engine, workload, parts)
  return {
    handle: (event) => void engine.receive(event),
    beginCheck: () => listener?.beginCheck(),
    async finish(total) {
      await engine.settled()
      if (scheduler.overdue() > 0) throw new Error(`${scheduler.overdue()} timers of the engine are overdue`)
      listener?.finish(total)
      await engine.close()
    },
  }
}

export function rulesOf(workload: Workload): readonly { rule: Rule; resource: string }[] {
  const counting = (rule: Rule, weight: number): Rule => {
    return { ...rule, actuators: [{ label: 'count', name: 'count', properties: { weight } }] }
  }
  if (workload.kind === 'chain')
    return [{ rule: counting(chainRule(workload), weightOf(0)), resource: workload.resource }]
  return workload.limits.map((limits, i) => {
    return { rule: counting(thresholdRule(limits, workload), weightOf(i)), resource: limits.resource }
  })
}

export function countPlug({ answer, firings }: Pick<CellParts, 'answer' | 'firings'>) {
  const input = { weight: { type: 'integer', mandatory: true } } as const
  const plug = { name: 'count', version: '1.0.0', kind: 'actuator', input } as const
  switch (answer) {
    case 'nothing':
      return definePlug({ ...plug, execute: ({ properties }) => firings.add(properties.weight) })
    case 'object':
      return definePlug({
        ...plug,
        execute({ properties }) {
          firings.add(properties.weight)
          return { rawData: { weight: properties.weight } }
        },
      })
    case 'message':
      return definePlug({
        ...plug,
        execute({ properties }) {
          firings.add(properties.weight)
          return { message: 'counted' }
        },
      })
  }
}

interface Listener {
  beginCheck(): void
  finish(total: number): void
}

function listenTo(engine: Engine, workload: Workload, parts: CellParts): Listener | undefined {
  switch (PLANS[parts.row].subscribes) {
    case 'none':
      return undefined
    case 'fired':
      return subscriber(engine, workload, parts, { types: ['fired'], why: false })
    case 'all':
      return subscriber(engine, workload, parts, { types: undefined, why: false })
    case 'why':
      return subscriber(engine, workload, parts, { types: ['fired'], why: true })
    case 'history':
      return history(engine, parts.clock)
  }
}

interface Hears {
  readonly types: readonly EventType[] | undefined
  readonly why: boolean
}

/** Counts events; near the end it examines each, which would otherwise cost more than the engine. */
function subscriber(engine: Engine, workload: Workload, parts: CellParts, { types, why }: Hears): Listener {
  const { firings, clock, delivery } = parts
  const all = types === undefined
  let received = 0
  let fired = 0
  let read = 0
  let check: ((event: EngineEvent) => void) | undefined
  let before: { count: number; sum: number } | undefined
  let mine: Firings | undefined
  const at = { stamp: 0 }
  const look = (event: EngineEvent): void => {
    if (why && event.type === 'fired' && event.why !== undefined) read += readWhy(event.why)
    if (check !== undefined) check(event)
  }
  if (delivery === 'each') {
    engine.events({ ...(types && { types }), why }).subscribe((event) => {
      received++
      if (event.type === 'fired') fired++
      look(event)
    })
  } else {
    engine.eventBatches({ ...(types && { types }), why: all || why }).subscribe((batch) => {
      received += batch.length
      fired += all ? batch.count('fired') : batch.length
      if (why && !all) {
        for (const firing of batch.firings()) {
          const { why: own } = firing
          if (own !== undefined) read += readWhy(own)
        }
      }
      if (check !== undefined) for (const event of batch) check(event)
    })
  }
  return {
    beginCheck() {
      before = { count: firings.count, sum: firings.sum }
      const own = (mine = new Firings(at))
      check = (event) => {
        if (event.type !== 'fired' || event.node !== 'count') return
        at.stamp = stampOf((event.time - START_MS) / STEP_MS - 1)
        own.add(weightOf(Number(event.task.slice('task-'.length))))
        if (why && event.why?.input.time !== event.time)
          throw new Error(`the why of ${event.effect} is of another message`)
      }
    },
    finish(total) {
      if (before === undefined || mine === undefined) throw new Error('the close check did not run')
      const count = firings.count - before.count
      const sum = (firings.sum - before.sum) | 0
      if (mine.count !== count || mine.sum !== sum) {
        throw new Error(`${count} firings in total (sum ${sum}), but events report ${mine.count} (sum ${mine.sum})`)
      }
      const inner = workload.kind === 'chain' ? (workload.steps.length - 1) * total : 0
      if (fired > firings.count + inner || fired < firings.count) {
        throw new Error(`${firings.count} firings, but ${fired} events of firings`)
      }
      if (received < fired || (all && received <= total) || (why && read < fired)) {
        throw new Error(`${received} events received, ${read} read, in ${total} messages at ${clock.now}`)
      }
    },
  }
}

function readWhy({ trigger, sensors, gates, input }: Omit<FiringWhy, 'toJSON' | 'also' | 'via'>): number {
  let read = trigger.to === null ? 0 : 1
  for (const { state } of sensors) if (state !== null) read++
  for (const { row } of gates) for (const parent in row) if (row[parent] !== null) read++
  return read + (input.values === undefined ? 0 : 1)
}

function history(engine: Engine, clock: Clock): Listener {
  const reports = {
    history: (id: string, after: number) => engine.history(id, after),
    lifecycle$: EMPTY,
    ended$: EMPTY,
    watch: () => EMPTY,
  }
  const kept = new TaskEventHistory(reports, 'bench', () => clock.now)
  return {
    beginCheck: () => undefined,
    finish() {
      const tasks = [...engine.tasks.values()].filter((task) => task.info().lastExecutionTime !== undefined)
      const known = tasks.filter(({ id }) => kept.events(id).length > 0)
      if (known.length === 0) throw new Error('the history is empty')
      for (const task of known) {
        const last = kept.events(task.id).at(-1)?.event.time
        const { lastExecutionTime } = task.info()
        if (last !== lastExecutionTime)
          throw new Error(`${task.id}: last at ${lastExecutionTime}, its history ends at ${last}`)
      }
      kept.close()
    },
  }
}

/*
 * Events of the workloads with irregularities of real data: fields that come and go, and values that are not numbers.
 */

/** As `BenchEvent`; a missing field is absent, null and NaN are values. */
export type OddEvent = {
  readonly resource: string
  readonly temperature?: number | null
  readonly humidity?: number | null
  readonly battery?: number
}

const SEED = 7_130_522
const RARE = 100

/** Equal on every call. Parsed from JSON text one by one, as regular ones; NaN, which JSON lacks, is set afterwards. */
export function oddEvents(events: readonly BenchEvent[], data: Data): readonly OddEvent[] {
  if (data === 'smooth') return events
  let seed = SEED
  const random = (below: number) => {
    seed = nextSeed(seed)
    return Math.floor(randomOf(seed) * below)
  }
  return events.map((event) => {
    const written = JSON.parse(JSON.stringify(changed(event, data, random))) as OddEvent
    return data === 'nulls' ? withNaN(written, random) : written
  })
}

function changed(event: BenchEvent, data: Data, random: (below: number) => number): OddEvent {
  const { resource, temperature, humidity } = event
  const isRare = data === 'carried' || data === 'orders' || random(RARE) === 0
  if (!isRare) return event
  switch (data) {
    case 'extra':
      return { resource, temperature, humidity, battery: 90 }
    case 'missing':
    case 'carried':
      return random(2) === 0 ? { resource, temperature } : { resource, humidity }
    case 'nulls':
      return random(2) === 0 ? { resource, temperature: null, humidity } : { resource, temperature, humidity: null }
    case 'orders':
      return [
        { resource, temperature, humidity },
        { resource, humidity, temperature },
        { temperature, resource, humidity },
        { humidity, temperature, resource },
      ][random(4)] as OddEvent
    case 'smooth':
      return event
  }
}

/** Replaces half of the nulls. */
function withNaN(event: OddEvent, random: (below: number) => number): OddEvent {
  if ((event.temperature !== null && event.humidity !== null) || random(2) === 0) return event
  if (event.temperature === null) return { ...event, temperature: Number.NaN }
  return { ...event, humidity: Number.NaN }
}
