/**
 * Compares common requirements as rules with plain TypeScript functions over the readings: both must agree, however
 * late, often or rarely readings arrive.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import type { EngineEvent } from '../../src/core/engine/events.ts'
import type { Rule, Sensor, TaskSettings, Trigger } from '../../src/core/rule/rule.ts'
import { createEngine, simulate, VirtualClock, type SavedTask } from '../../src/index.ts'
import { runs } from '../support/arbitraries/runs.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const ZONE = 'Europe/Brussels'

/** A message with its measurement time. */
interface Reading {
  readonly [key: string]: unknown
  readonly resource: string
  readonly timestamp: number
  readonly t?: number
  readonly pump: boolean
  readonly event: 'A' | 'B' | 'C'
  readonly counter: number
  readonly setpoint?: number
}

/** Times at which something was true or not; undefined: unknown. */
type Points = readonly (readonly [time: number, is: boolean | undefined])[]

interface Need {
  readonly sensors: readonly Sensor[]
  readonly triggers: readonly Trigger[]
  readonly relations?: Rule['relations']
  readonly task?: TaskSettings
  /** sending resources; default `p1` */
  readonly resources?: readonly string[]
  /** text written when the rule fires; default: the actuator's label */
  readonly message?: string
  /** returns the expected texts and times, computed from the readings */
  readonly means: (readings: readonly Reading[]) => readonly string[]
}

// Recomputes the expected result from all readings each time.

const only = (readings: readonly Reading[]): readonly (Reading & { readonly t: number })[] =>
  readings.flatMap((one) => (one.t === undefined ? [] : [{ ...one, t: one.t }]))

/** Returns the times at which the condition became true, compared with when it was last known. */
const begun = (points: Points): readonly number[] => {
  const known = points.filter(([, is]) => is !== undefined)
  return known.flatMap(([time, is], i) => (is && known[i - 1]?.[1] !== true ? [time] : []))
}

/** Returns the times at which the condition had been true for `ms`, including when it ends just then. */
const heldFor = (points: Points, ms: number): readonly number[] =>
  begun(points).flatMap((from) => {
    const end = points.find(([time, is]) => time > from && is === false)?.[0] ?? Infinity
    return end < from + ms ? [] : [from + ms]
  })

const written = (times: readonly number[], text: string): readonly string[] => times.map((time) => `${time} ${text}`)

const isWithin = ({ timestamp }: Reading, time: number, ms: number): boolean =>
  timestamp <= time && timestamp > time - ms

/** Returns the last measurement of each resource that is younger than `ms`. */
function fresh(readings: readonly Reading[], time: number, ms: number): readonly number[] {
  const last = new Map(only(readings).flatMap((one) => (one.timestamp <= time ? [[one.resource, one] as const] : [])))
  return [...last.values()].flatMap((one) => (isWithin(one, time, ms) ? [one.t] : []))
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

const localDay = (time: number): string => new Date(time).toLocaleDateString('en-CA', { timeZone: ZONE })
const isOffice = (time: number): boolean => {
  const hour = Number(new Date(time).toLocaleTimeString('en-GB', { timeZone: ZONE }).slice(0, 2))
  const day = new Date(time).toLocaleDateString('en-GB', { timeZone: ZONE, weekday: 'short' })
  return hour >= 8 && hour < 18 && !day.startsWith('S')
}

/** Becomes on above 80, and stays on until below 75. */
const hysteresis = (readings: readonly Reading[]): Points => {
  let on = false
  return only(readings).map(({ timestamp, t }) => [timestamp, (on = on ? t >= 75 : t > 80)] as const)
}

const increases = (readings: readonly Reading[]): readonly number[] =>
  readings.map(({ counter }, i) => (counter - (readings[i - 1]?.counter ?? counter) + 65_536) % 65_536)

const sensor = (label: string, name: string, properties: Sensor['properties'], more: Partial<Sensor> = {}): Sensor => {
  return { label, name, resource: 'p1', ...(properties && { properties }), ...more }
}
/** Creates a sensor that only runs after others. */
const after = (label: string, name: string, properties: Sensor['properties']): Sensor => {
  return { label, name, ...(properties && { properties }) }
}
const begins = (sourceLabel: string, state: string, destinationLabel = 'act'): Trigger => {
  return { sourceLabel, destinationLabel, begins: [state] }
}
const follows = (sourceLabel: string, destinationLabel: string): Trigger => ({ sourceLabel, destinationLabel })
const PUMPS = ['p1', 'p2', 'p3']
const today = `day(now, "${ZONE}")`

const NEEDS: Readonly<Record<string, Need>> = {
  'a level with a hysteresis, kept for two minutes': {
    sensors: [
      sensor('level', 'hysteresis', { value: 't', enter: 80, leave: 75 }),
      after('on', 'holdsFor', { condition: 'nodes.level.state == "On"', duration: '2m' }),
      after('off', 'holdsFor', { condition: 'nodes.level.state == "Off"', duration: '2m' }),
    ],
    triggers: [follows('level', 'on'), follows('level', 'off'), begins('on', 'Holds'), begins('off', 'Holds')],
    means: (readings) => {
      const points = hysteresis(readings)
      const off = points.map(([time, is]) => [time, !is] as const)
      return written(
        [...heldFor(points, 2 * MINUTE), ...heldFor(off, 2 * MINUTE)].toSorted((a, b) => a - b),
        'act',
      )
    },
  },
  'three of the last five': {
    sensors: [sensor('often', 'windowStats', { value: 't > 90 ? 1 : 0', samples: 5, statistic: 'sum', upperLimit: 2 })],
    triggers: [begins('often', 'Above')],
    means: (readings) => {
      const hot = only(readings).map(({ timestamp, t }) => [timestamp, t > 90] as const)
      const often = (i: number): boolean => hot.slice(Math.max(0, i - 4), i + 1).filter(([, is]) => is).length > 2
      return written(begun(hot.map(([time], i) => [time, often(i)])), 'act')
    },
  },
  'all of several within five minutes': {
    resources: PUMPS,
    sensors: PUMPS.map((resource) =>
      sensor(
        resource,
        'streamingDataSensor',
        { parameter: 't', threshold: 90 },
        { resource, evictionTime: 5 * MINUTE },
      ),
    ),
    relations: [{ label: 'all', type: 'AND', parentLabels: PUMPS, combinations: [PUMPS.map(() => 'Above')] }],
    triggers: [begins('all', 'TRUE')],
    means: (readings) =>
      written(
        begun(
          only(readings).map(({ timestamp }) => {
            const known = fresh(readings, timestamp, 5 * MINUTE)
            if (known.some((t) => t <= 90)) return [timestamp, false]
            return [timestamp, known.length === PUMPS.length ? true : undefined]
          }),
        ),
        'act',
      ),
  },
  'one event, then another within five minutes, and no third between': {
    sensors: [
      sensor('second', 'condition', {
        condition: `event == "B" && now - (nodes.first.rawData.at ?? 0) <= ${5 * MINUTE}`,
      }),
      sensor(
        'first',
        'transformer',
        { transformer: '{ at: event == "A" ? now : event == "C" ? 0 : (nodes.first.rawData.at ?? 0) }' },
        { sequence: 2 },
      ),
    ],
    triggers: [{ sourceLabel: 'second', destinationLabel: 'act', statesTrigger: ['True'] }],
    means: (readings) =>
      readings.flatMap(({ event, timestamp }, i) => {
        const last = readings.slice(0, i).findLast((one) => one.event !== 'B')
        const isArmed = last?.event === 'A' && timestamp - last.timestamp <= 5 * MINUTE
        return event === 'B' && isArmed ? [`${timestamp} act`] : []
      }),
  },
  'a change over ten minutes': {
    sensors: [
      sensor('high', 'windowStats', { value: 't', duration: '10m', statistic: 'max' }),
      sensor('low', 'windowStats', { value: 't', duration: '10m', statistic: 'min' }),
      after('fast', 'condition', { condition: 'nodes.high.rawData.value - nodes.low.rawData.value > 15' }),
    ],
    triggers: [follows('high', 'fast'), begins('fast', 'True')],
    means: (readings) =>
      written(
        begun(
          only(readings).map((one) => {
            const near = only(readings).filter((other) => isWithin(other, one.timestamp, 10 * MINUTE))
            const values = near.map(({ t }) => t)
            return [one.timestamp, Math.max(...values) - Math.min(...values) > 15]
          }),
        ),
        'act',
      ),
  },
  'the mean of a group, of those that were heard of lately': {
    resources: PUMPS,
    sensors: [
      ...PUMPS.map((resource) =>
        sensor(resource, 'transformer', { transformer: '{ v: t }' }, { resource, evictionTime: 15 * MINUTE }),
      ),
      after('mean', 'condition', {
        condition: `(${PUMPS.map((p) => `(nodes.${p}.rawData.v ?? 0)`).join(' + ')}) / (${PUMPS.map((p) => `(isKnown(nodes.${p}.rawData.v) ? 1 : 0)`).join(' + ')}) > 82`,
      }),
    ],
    triggers: [...PUMPS.map((p) => follows(p, 'mean')), begins('mean', 'True')],
    means: (readings) =>
      written(
        begun(
          only(readings).map(({ timestamp }) => {
            const known = fresh(readings, timestamp, 15 * MINUTE)
            return [timestamp, sum(known) / known.length > 82]
          }),
        ),
        'act',
      ),
  },
  'two things at the same time': {
    resources: ['p1', 'p2'],
    sensors: [
      ...['p1', 'p2'].map((resource) =>
        sensor(resource, 'transformer', { transformer: '{ v: t }' }, { resource, evictionTime: 30 * SECOND }),
      ),
      after('apart', 'condition', {
        condition:
          'isKnown(nodes.p1.rawData.v) && isKnown(nodes.p2.rawData.v) && Math.abs(nodes.p1.rawData.v - nodes.p2.rawData.v) > 5',
      }),
    ],
    triggers: [follows('p1', 'apart'), follows('p2', 'apart'), begins('apart', 'True')],
    means: (readings) =>
      written(
        begun(
          only(readings).map(({ timestamp }) => {
            const known = fresh(readings, timestamp, 30 * SECOND)
            return [timestamp, known.length === 2 && Math.max(...known) - Math.min(...known) > 5]
          }),
        ),
        'act',
      ),
  },
  'a level while the office is open': {
    sensors: [
      sensor('office', 'condition', {
        condition: `t > 90 && hour(now, "${ZONE}") >= 8 && hour(now, "${ZONE}") < 18 && !(weekday(now, "${ZONE}") in ["Saturday", "Sunday"])`,
      }),
    ],
    triggers: [begins('office', 'True')],
    means: (readings) =>
      written(begun(only(readings).map(({ timestamp, t }) => [timestamp, t > 90 && isOffice(timestamp)])), 'act'),
  },
  'a level that holds for five minutes': {
    sensors: [sensor('still', 'holdsFor', { condition: 't > 90', duration: '5m' })],
    triggers: [begins('still', 'Holds')],
    means: (readings) =>
      written(
        heldFor(
          only(readings).map(({ timestamp, t }) => [timestamp, t > 90]),
          5 * MINUTE,
        ),
        'act',
      ),
  },
  'the highest of a day, when the day is over': {
    sensors: [
      sensor('closes', 'condition', { condition: `isKnown(t) && ${today} != (nodes.day.rawData.day ?? ${today})` }),
      sensor(
        'day',
        'transformer',
        {
          transformer: `{ day: ${today}, max: ${today} == (nodes.day.rawData.day ?? 0) ? Math.max(nodes.day.rawData.max, t) : t }`,
        },
        { sequence: 2 },
      ),
    ],
    triggers: [{ sourceLabel: 'closes', destinationLabel: 'act', statesTrigger: ['True'] }],
    message: '${nodes.day.rawData.max}',
    means: (readings) =>
      only(readings).flatMap(({ timestamp }, i, all) => {
        const day = localDay(all[i - 1]?.timestamp ?? timestamp)
        if (localDay(timestamp) === day) return []
        const values = all.slice(0, i).filter((one) => localDay(one.timestamp) === day)
        return [`${timestamp} ${Math.max(...values.map(({ t }) => t))}`]
      }),
  },
  'more than so many starts a day': {
    sensors: [
      sensor('runs', 'condition', { condition: 'pump == true' }),
      after('count', 'transformer', {
        transformer: `{ day: ${today}, n: ${today} == (nodes.count.rawData.day ?? 0) ? nodes.count.rawData.n + 1 : 1 }`,
      }),
      after('many', 'condition', { condition: 'nodes.count.rawData.n > 3' }),
    ],
    triggers: [begins('runs', 'True', 'count'), follows('count', 'many'), begins('many', 'True')],
    means: (readings) => {
      const starts = begun(readings.map(({ timestamp, pump }) => [timestamp, pump]))
      const startsOf = (time: number): number =>
        starts.filter((one) => one <= time && localDay(one) === localDay(time)).length
      return written(begun(starts.map((time) => [time, startsOf(time) > 3])), 'act')
    },
  },
  'silence of ten minutes': {
    sensors: [sensor('silent', 'noDataFor', { duration: '10m' })],
    triggers: [begins('silent', 'No Data')],
    means: (readings) =>
      readings.flatMap(({ timestamp }, i) => {
        const next = readings[i + 1]?.timestamp ?? Infinity
        return next - timestamp < 10 * MINUTE ? [] : [`${timestamp + 10 * MINUTE} act`]
      }),
  },
  'the use of an hour, by a counter that wraps': {
    sensors: [
      sensor('use', 'transformer', {
        transformer: '{ inc: (counter - (nodes.use.rawData.last ?? counter) + 65536) % 65536, last: counter }',
      }),
      after('hour', 'windowStats', {
        value: 'nodes.use.rawData.inc',
        duration: '1h',
        statistic: 'sum',
        upperLimit: 12_000,
      }),
    ],
    triggers: [follows('use', 'hour'), begins('hour', 'Above')],
    means: (readings) => {
      const all = increases(readings)
      const used = ({ timestamp }: Reading): number =>
        sum(readings.flatMap((one, i) => (isWithin(one, timestamp, HOUR) ? [all[i] ?? 0] : [])))
      return written(begun(readings.map((one) => [one.timestamp, used(one) > 12_000])), 'act')
    },
  },
  'a fast value beside a slow one, at most every five minutes': {
    sensors: [sensor('off', 'condition', { condition: 'Math.abs(t - setpoint) > 3' })],
    triggers: [{ ...begins('off', 'True'), invocationPolicy: 300 }],
    task: { streamValidity: 2 * HOUR },
    means: (readings) => {
      const last = (name: 't' | 'setpoint', until: number): number | undefined => {
        const found = readings.findLast((one) => one.timestamp <= until && one[name] !== undefined)
        return found !== undefined && until - found.timestamp < 2 * HOUR ? found[name] : undefined
      }
      const fired: number[] = []
      let told = false
      for (const { timestamp, t, setpoint } of readings) {
        const [fast, slow] = [last('t', timestamp), last('setpoint', timestamp)]
        if ((t === undefined && setpoint === undefined) || fast === undefined || slow === undefined) continue
        const isOff = Math.abs(fast - slow) > 3
        if (isOff && !told && timestamp - (fired.at(-1) ?? -Infinity) >= 5 * MINUTE) fired.push(timestamp)
        told = isOff && (told || fired.at(-1) === timestamp)
      }
      return written(fired, 'act')
    },
  },
  'a change by so much': {
    sensors: [sensor('moved', 'changedBy', { value: 't', by: 5 })],
    triggers: [{ sourceLabel: 'moved', destinationLabel: 'act', statesTrigger: ['Changed'] }],
    means: (readings) => {
      let reference: number | undefined
      return only(readings).flatMap(({ timestamp, t }) => {
        const hasMoved = reference !== undefined && Math.abs(t - reference) >= 5
        if (hasMoved || reference === undefined) reference = t
        return hasMoved ? [`${timestamp} act`] : []
      })
    },
  },
}

// How readings come.

/** A reading, with its delay in ms, and ms after which it is repeated. */
interface Sent {
  readonly message: Reading
  readonly delay: number
  readonly again: number | undefined
  readonly isLost: boolean
}

const COUNT = 150
/** maximum ms by which a reading is late */
const LATE = 25 * SECOND
/** ms until the final comparison, after the last reading */
const REST = 20 * MINUTE

const seldom = <T>(rare: fc.Arbitrary<T>, usual: T): fc.Arbitrary<T> =>
  fc.nat(19).chain((n) => (n === 19 ? rare : fc.constant(usual)))

const step = fc.record({
  gap: fc.constantFrom(5, 17, 60, 60, 60, 120, 290, 600).map((seconds) => seconds * SECOND),
  resource: fc.nat(5),
  t: seldom(fc.constant(undefined), true),
  change: fc.nat(3),
  level: fc.constantFrom(68, 74, 75, 79, 80, 81, 88, 90, 91, 96),
  pump: fc.boolean(),
  event: fc.constantFrom('A' as const, 'A' as const, 'B' as const, 'C' as const),
  used: fc.nat(900),
  setpoint: fc.option(fc.constantFrom(75, 80, 90), { nil: undefined, freq: 2 }),
  delay: seldom(fc.nat(LATE), 0),
  again: seldom(fc.nat(15 * MINUTE), undefined as unknown as number),
  isLost: seldom(fc.constant(true), false),
})

/** Generates streams that span the end of a working day, midnight, and both clock changes. */
const streamsOf = (resources: readonly string[]): fc.Arbitrary<readonly Sent[]> =>
  fc
    .record({
      start: fc.constantFrom(
        Date.UTC(2026, 2, 27, 15),
        Date.UTC(2026, 2, 27, 13),
        Date.UTC(2026, 2, 28, 22),
        Date.UTC(2026, 9, 24, 21),
      ),
      steps: fc.array(step, { minLength: 1, maxLength: COUNT, size: 'max' }),
    })
    .map(({ start, steps }) => {
      let [time, level, counter] = [start, 70, 64_000]
      return steps.map(({ gap, t, change, used, setpoint, resource, level: other, pump, event, ...fate }): Sent => {
        time += gap
        level = change === 0 ? other : level
        counter = (counter + used) % 65_536
        const message: Reading = {
          resource: resources[resource % resources.length] ?? '',
          timestamp: time,
          ...(t !== undefined && { t: level }),
          ...(setpoint !== undefined && change === 1 && { setpoint }),
          pump,
          event,
          counter,
        }
        return { message, ...fate }
      })
    })

interface Delivery {
  readonly at: number
  readonly message: Reading
}

/** Orders the readings by their arrival times. */
const delivered = (sent: readonly Sent[], arrival: (one: Sent) => number): readonly Delivery[] =>
  sent
    .flatMap((one): Delivery[] => {
      const { message, again } = one
      const at = arrival(one)
      return [{ at, message }, ...(again === undefined ? [] : [{ at: at + again, message: { ...message } }])]
    })
    .toSorted((a, b) => a.at - b.at)

/** Returns what a live task writes, with its own times; the task is saved and restored after every few deliveries. */
async function lived(
  rule: Rule,
  deliveries: readonly Delivery[],
  until: number,
  restartEvery = Infinity,
): Promise<string[]> {
  const lines: string[] = []
  const clock = new VirtualClock((deliveries[0]?.at ?? 0) - 1)
  const open = () => {
    const engine = createEngine({ plugs: builtins, scheduler: clock, seed: 1, ids: () => 't' })
    engine.events({ types: ['log'] }).subscribe((event) => lines.push(...lineOf(event, until)))
    return engine
  }
  let engine = open()
  let task = await engine.start(rule)
  for (const [i, { at, message }] of deliveries.entries()) {
    clock.advanceTo(at)
    engine.receive(message)
    if ((i + 1) % restartEvery !== 0) continue
    const saved = JSON.parse(JSON.stringify(task.save())) as SavedTask
    await engine.close()
    engine = open()
    task = await engine.restore(saved)
  }
  clock.advanceTo(clock.now() + 2 * REST)
  await engine.close()
  return lines
}

function lineOf(event: EngineEvent, until: number): string[] {
  return event.type === 'log' && event.node === 'act' && event.time <= until ? [`${event.time} ${event.message}`] : []
}

const ruleOf = ({ sensors, triggers, relations = [], task, message = 'act' }: Need, more: TaskSettings = {}): Rule => ({
  sensors,
  relations,
  triggers,
  actuators: [{ label: 'act', name: 'log', properties: { message } }],
  task: { type: 'reactive', ...task, ...more },
})

// Holds READING-2, READING-3
describe('the changes that explanations list', () => {
  it.each(Object.entries(NEEDS))('%s', async (_, need) => {
    const { resources = ['p1'], means } = need
    const ordering: TaskSettings = { late: { reorder: '30s' } }
    let wrote = 0
    await fc.assert(
      fc.asyncProperty(
        streamsOf(resources),
        fc.integer({ min: 1, max: 40 }),
        fc.nat(LATE),
        async (all, every, salt) => {
          const sent = all.filter(({ isLost }) => !isLost)
          const readings = sent.map(({ message }) => message)
          const until = (readings.at(-1)?.timestamp ?? 0) + REST
          const expected = means(readings)
          wrote += expected.length

          const { events } = await simulate(ruleOf(need), { messages: readings, plugs: builtins, until })
          expect(events.flatMap((event) => lineOf(event, until))).toEqual(expected)

          const disturbed = delivered(sent, ({ message, delay }) => message.timestamp + delay)
          expect(await lived(ruleOf(need, ordering), disturbed, until)).toEqual(expected)
          expect(await lived(ruleOf(need, ordering), disturbed, until, every)).toEqual(expected)
          // delays each reading differently
          const shaken = delivered(sent, ({ message }) => message.timestamp + ((message.timestamp * 31 + salt) % LATE))
          expect(await lived(ruleOf(need, ordering), shaken, until)).toEqual(expected)
          const burst = delivered(sent, () => until + 2 * HOUR)
          expect(await lived(ruleOf(need), burst, until)).toEqual(expected)
        },
      ),
      runs(40),
    )
    expect(wrote).toBeGreaterThan(0)
  })
})
