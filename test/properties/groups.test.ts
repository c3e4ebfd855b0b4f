/** Compares rules over groups with a fold per member, over streams with late, repeated and missing messages. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { createEngine, VirtualClock, type EngineEvent, type Rule, type SavedTask } from '../../src/index.ts'
import { runs } from '../support/arbitraries/runs.ts'

const MINUTE = 60_000
const GROUP = { type: 'pump' }

interface Counting {
  readonly type: 'COUNT' | 'SHARE'
  readonly atLeast: number
  /** minutes */
  readonly within?: number
  readonly fresh?: number
}

function ruleOf({ type, atLeast, within, fresh }: Counting): Rule {
  return {
    sensors: [
      { label: 'hot', name: 'streamingDataSensor', group: GROUP, properties: { parameter: 't', threshold: 50 } },
    ],
    relations: [
      {
        label: 'many',
        type,
        parentLabels: ['hot'],
        combinations: [['Above']],
        atLeast,
        ...(within !== undefined && { within: `${within}m` }),
        ...(fresh !== undefined && { fresh: `${fresh}m` }),
      },
    ],
    actuators: ['one', 'all', 'end'].map((label) => ({ label, name: 'log', properties: { message: '{{RESOURCE}}' } })),
    triggers: [
      { sourceLabel: 'hot', destinationLabel: 'one', begins: ['Above'], each: true, invocationPolicy: 180 },
      { sourceLabel: 'many', destinationLabel: 'all', begins: ['TRUE'] },
      { sourceLabel: 'many', destinationLabel: 'end', ends: ['TRUE'] },
    ],
    task: { type: 'reactive' },
  }
}

/** A reading at a minute, or a resource that joins or leaves. */
interface Step {
  readonly minute: number
  readonly id: string
  readonly what: 'reading' | 'late' | 'again' | 'join' | 'leave'
  readonly t: number
}

const ids = ['a', 'b', 'c', 'd']

/** Times of fractions of a minute that no wait ends at, so that a fold need not order equal times. */
const steps = fc
  .array(
    fc.record({
      wait: fc.nat(3),
      id: fc.constantFrom(...ids),
      what: fc.constantFrom('reading', 'reading', 'reading', 'reading', 'reading', 'late', 'again', 'join', 'leave'),
      t: fc.constantFrom(40, 49, 51, 60),
    }),
    { maxLength: 40 },
  )
  .map((list): readonly Step[] => {
    let minute = 0
    return list.map(({ wait, ...step }, i) => ({ ...step, minute: (minute += wait) + i / 1000 }))
  })

const counting = fc
  .record(
    {
      type: fc.constantFrom('COUNT' as const, 'SHARE' as const),
      atLeast: fc.constantFrom(1, 2),
      within: fc.constantFrom(3, 5),
      fresh: fc.constantFrom(4, 7),
    },
    { requiredKeys: ['type', 'atLeast'] },
  )
  .map((one) => (one.type === 'SHARE' ? { ...one, atLeast: one.atLeast / 2 } : one))

const timeOf = ({ minute }: Step) => Math.round(minute * MINUTE)

type Fired = readonly [time: number, node: string, member?: string]

/** The naive reading: all readings so far of the members present, asked anew at each moment at which something may change. */
function naive({ type, atLeast, within, fresh }: Counting, given: readonly Step[]): readonly Fired[] {
  const fired: Fired[] = []
  const present = new Map<string, { at: number; t: number }[]>(['a', 'b'].map((id) => [id, []]))
  const began = new Map<string, boolean>()
  const firedAt = new Map<string, number>()
  let known = false
  let isTrue: boolean | undefined
  const decide = (now: number): void => {
    const of = [...present.values()].flatMap((readings) => {
      const last = readings.at(-1)
      if (last === undefined || (fresh !== undefined && now >= last.at + fresh * MINUTE)) return []
      const met =
        within === undefined ? last.t > 50 : readings.some(({ at, t }) => t > 50 && now < at + within * MINUTE)
      return [met]
    })
    const count = of.filter(Boolean).length
    if (type === 'SHARE' && of.length === 0) return
    const next = type === 'SHARE' ? count / of.length >= atLeast : count >= atLeast
    if (next && isTrue !== true) fired.push([now, 'all'])
    if (!next && isTrue === true) fired.push([now, 'end'])
    isTrue = next
  }
  const until = (now: number, last: number): void => {
    const ends = [...present.values()]
      .flat()
      .flatMap(({ at }) => [within, fresh].flatMap((m) => (m === undefined ? [] : [at + m * MINUTE])))
    if (known) for (const end of [...new Set(ends)].toSorted((a, b) => a - b)) if (end > last && end <= now) decide(end)
  }
  let last = -1
  for (const step of given) {
    const now = timeOf(step)
    until(now, last)
    last = now
    const { id, what, t } = step
    const readings = present.get(id)
    if (what === 'join') present.set(id, readings ?? [])
    else if (what === 'leave') {
      present.delete(id)
      began.delete(id)
      firedAt.delete(id)
      if (readings !== undefined && readings.length > 0) decide(now)
    } else if (what === 'reading' && readings !== undefined) {
      readings.push({ at: now, t })
      known = true
      if (t <= 50) began.set(id, false)
      else if (began.get(id) !== true && now >= (firedAt.get(id) ?? Number.NEGATIVE_INFINITY) + 180_000) {
        began.set(id, true)
        firedAt.set(id, now)
        fired.push([now, 'one', id])
      }
      decide(now)
    }
  }
  until(Number.MAX_SAFE_INTEGER, last)
  return fired
}

interface Run {
  readonly fired: readonly Fired[]
  readonly events: readonly EngineEvent[]
  readonly saved: SavedTask
}

async function runEngine(rule: Rule, list: readonly Step[], restartAfter: (step: number) => boolean): Promise<Run> {
  const clock = new VirtualClock(0)
  const events: EngineEvent[] = []
  const start = () => {
    const made = createEngine({ plugs: builtins, scheduler: clock, seed: 1, ports: { members: () => ['a', 'b'] } })
    made.events$.subscribe((event) => events.push(event))
    return made
  }
  let engine = start()
  let task = await engine.start(rule, { id: 'task' })
  const present = new Set(['a', 'b'])
  const lastOf = new Map<string, { resource: string; timestamp: number; t: number }>()
  for (const [i, step] of list.entries()) {
    clock.advanceTo(timeOf(step))
    const { id, what, t } = step
    const last = lastOf.get(id)
    if (what === 'join') {
      task.changeMembers(GROUP, { joined: [id] })
      present.add(id)
    } else if (what === 'leave') {
      task.changeMembers(GROUP, { left: [id] })
      lastOf.delete(id)
      present.delete(id)
    } else if (what === 'reading') {
      const message = { resource: id, timestamp: timeOf(step), t }
      engine.receive(message)
      if (present.has(id)) lastOf.set(id, message)
    } else if (last !== undefined)
      engine.receive(what === 'late' ? { ...last, timestamp: last.timestamp - 1, t } : last)
    if (!restartAfter(i)) continue
    const saved = JSON.parse(JSON.stringify(task.save())) as SavedTask
    await engine.close()
    engine = start()
    task = await engine.restore(saved)
  }
  clock.advanceTo(1_000 * MINUTE)
  const saved = task.save()
  await engine.close()
  const fired = events.flatMap((event): Fired[] =>
    event.type !== 'fired'
      ? []
      : [event.member === undefined ? [event.time, event.node] : [event.time, event.node, event.member]],
  )
  return { fired, events, saved }
}

// Holds MEMBER-1, MEMBER-2
describe('a rule over a group', () => {
  it('decides what a fold over each member decides', async () => {
    await fc.assert(
      fc.asyncProperty(counting, steps, async (given, list) => {
        const { fired } = await runEngine(ruleOf(given), list, () => false)
        expect(fired).toEqual(naive(given, list))
      }),
      runs(300),
    )
  })

  it('is not changed by a restart after any step', async () => {
    await fc.assert(
      fc.asyncProperty(counting, steps, async (given, list) => {
        const whole = await runEngine(ruleOf(given), list, () => false)
        const restarted = await runEngine(ruleOf(given), list, () => true)
        expect(restarted.events).toEqual(whole.events)
        expect(restarted.saved).toEqual(whole.saved)
      }),
      runs(150),
    )
  })
})

interface Gathering {
  readonly statistic: 'count' | 'sum' | 'mean' | 'min' | 'max' | 'median' | 'spread'
  /** minutes */
  readonly fresh?: number
}

const gathering = fc.record(
  {
    statistic: fc.constantFrom<Gathering['statistic']>('count', 'sum', 'mean', 'min', 'max', 'median', 'spread'),
    fresh: fc.constantFrom(4, 7),
  },
  { requiredKeys: ['statistic'] },
)

function gatheringRule({ statistic, fresh }: Gathering): Rule {
  const properties = { value: 't', statistic, upperLimit: 50, ...(fresh !== undefined && { fresh: `${fresh}m` }) }
  return {
    sensors: [{ label: 'all', name: 'aggregate', group: GROUP, properties }],
    actuators: [{ label: 'act', name: 'log', properties: { message: '${nodes.all.rawData.value}' } }],
    triggers: [{ sourceLabel: 'all', destinationLabel: 'act', begins: ['Above'] }],
    task: { type: 'reactive' },
  }
}

type Shown = readonly [time: number, count: number, value: number | undefined]

/** Sorts the last numbers of the members present for each run, without the state of earlier runs. */
function naiveStatistic({ statistic, fresh }: Gathering, given: readonly Step[]): readonly Shown[] {
  const shown: Shown[] = []
  const present = new Map<string, { at: number; t: number } | undefined>(['a', 'b'].map((id) => [id, undefined]))
  const show = (now: number): void => {
    const known = [...present.values()].filter((one) => one !== undefined)
    const numbers = known
      .filter(({ at }) => fresh === undefined || now < at + fresh * MINUTE)
      .map(({ t }) => t)
      .toSorted((a, b) => a - b)
    const [count, sum] = [numbers.length, numbers.reduce((a, b) => a + b, 0)]
    const [first = Number.NaN, last = Number.NaN] = [numbers[0], numbers.at(-1)]
    const middle = ((numbers[Math.floor((count - 1) / 2)] ?? 0) + (numbers[Math.ceil((count - 1) / 2)] ?? 0)) / 2
    const all = { count, sum, mean: sum / count, min: first, max: last, median: middle, spread: last - first }
    shown.push([now, count, count === 0 ? undefined : all[statistic]])
  }
  const until = (now: number, last: number): void => {
    if (fresh === undefined) return
    const ends = [...present.values()].flatMap((one) => (one === undefined ? [] : [one.at + fresh * MINUTE]))
    for (const end of ends.toSorted((a, b) => a - b)) if (end > last && end <= now) show(end)
  }
  let last = -1
  for (const step of given) {
    const now = timeOf(step)
    until(now, last)
    last = now
    const { id, what, t } = step
    if (what === 'join' && !present.has(id)) present.set(id, undefined)
    else if (what === 'leave' && present.delete(id)) show(now)
    else if (what === 'reading' && present.has(id)) {
      present.set(id, { at: now, t })
      show(now)
    }
  }
  until(Number.MAX_SAFE_INTEGER, last)
  return shown
}

describe('a statistic over a group', () => {
  it('equals that of the last numbers of the members', async () => {
    await fc.assert(
      fc.asyncProperty(gathering, steps, async (given, list) => {
        const { events } = await runEngine(gatheringRule(given), list, () => false)
        const shown = events.flatMap((event): Shown[] => {
          if (event.type !== 'result' || event.node !== 'all') return []
          const { count = Number.NaN, value } = event.rawData as { count?: number; value?: number }
          return [[event.time, count, value]]
        })
        expect(shown).toEqual(naiveStatistic(given, list))
      }),
      runs(300),
    )
  })

  it('is not changed by a restart after any step', async () => {
    await fc.assert(
      fc.asyncProperty(gathering, steps, async (given, list) => {
        const whole = await runEngine(gatheringRule(given), list, () => false)
        const restarted = await runEngine(gatheringRule(given), list, () => true)
        expect(restarted.events).toEqual(whole.events)
      }),
      runs(100),
    )
  })
})
