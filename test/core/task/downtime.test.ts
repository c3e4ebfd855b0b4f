/** Tests the waits of sensors while the host is down. */
import { describe, expect, it } from 'vitest'
import type { DowntimePolicy } from '../../../src/core/plug/downtime.ts'
import type { Rule, Sensor } from '../../../src/core/rule/rule.ts'
import { startBuiltins } from '../../support/builtin-task.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

type Sent = readonly [time: number, values: Record<string, unknown>]

/** Further properties of the sensor in a case, the time of the downtime, and the states of the sensor, each once. */
interface More {
  readonly task?: Rule['task']
  /** default: a reading at 0 */
  readonly before?: readonly Sent[]
  readonly after?: readonly Sent[]
  /** end of the observation; default: a minute */
  readonly end?: number
}

type Row = readonly [
  string,
  sensor: Pick<Sensor, 'name' | 'properties'> & Partial<Sensor>,
  away: readonly [from: number, until: number],
  states: readonly string[],
  more?: More,
]

const silence = (duration: string, more: Partial<Sensor> = {}) => ({
  name: 'noDataFor',
  properties: { duration },
  ...more,
})
const holding = (more: Partial<Sensor> = {}) => ({
  name: 'holdsFor',
  properties: { condition: 'v > 5', duration: '5m' },
  ...more,
})
const delay = (downtime?: DowntimePolicy) => ({
  name: 'delaySensor',
  properties: { delay: 8000 },
  ...(downtime && { downtime }),
})
const POLLED = { pollingPeriod: SECOND }
const EACH_MINUTE = { pollingPeriod: MINUTE }
const AWAY = [5 * SECOND, 17 * SECOND] as const
const LONG = [10 * SECOND, 10 * MINUTE] as const
const AGAIN = ['0 Data', '25000 No Data']

/** A state in a row of equal ones counts once. */
function changes(states: readonly string[]): readonly string[] {
  const stateOf = (line = ''): string => line.slice(line.indexOf(' '))
  return states.filter((line, i) => stateOf(line) !== stateOf(states[i - 1]))
}

const LAGGING: More = { before: [[HOUR, { v: 9, timestamp: HOUR - MINUTE }]], end: HOUR + 2 * MINUTE }

const SILENCES: readonly Row[] = [
  ['begins a silence again', silence('8s'), AWAY, AGAIN],
  ['begins it again where clocks run its sensor', silence('8s', POLLED), AWAY, AGAIN],
  ['of two seconds is none', silence('8s'), [5 * SECOND, 7 * SECOND], ['0 Data', '8000 No Data']],
  [
    'that is no longer than readings wait to be put in order is none',
    silence('20s'),
    [12 * SECOND, 22 * SECOND],
    ['0 Data', '20000 No Data'],
    { task: { late: { reorder: '10s' } }, before: [[0, { v: 9, timestamp: 0 }]] },
  ],
  [
    'moves a long silence by its length',
    silence('1h'),
    [SECOND, 5 * SECOND],
    ['0 Data', `${HOUR + 4 * SECOND} No Data`],
    { end: 2 * HOUR },
  ],
  [
    'has a long silence that was nearly over wait for ten more minutes',
    silence('1h'),
    [59 * MINUTE, 61 * MINUTE],
    ['0 Data', `${71 * MINUTE} No Data`],
    { end: 2 * HOUR },
  ],
  ['ends no silence that was reported', silence('8s', POLLED), [10 * SECOND, 20 * SECOND], ['0 Data', '8000 No Data']],
  [
    'begins a silence again from when a lagging resource is',
    silence('8s'),
    [HOUR + 5 * SECOND, HOUR + 17 * SECOND],
    [`${HOUR - MINUTE} Data`, `${HOUR - MINUTE + 25 * SECOND} No Data`],
    LAGGING,
  ],
  [
    'begins a silence again that a reading of before the start begins after it',
    silence('8s'),
    AWAY,
    AGAIN,
    { before: [[0, { v: 9, timestamp: 0 }]], after: [[17_500, { v: 9, timestamp: 6000 }]] },
  ],
  ['is silence for a sensor that says so', silence('8s', { downtime: 'continue' }), AWAY, ['0 Data', '17000 No Data']],
  [
    'is silence for a task that says so',
    silence('8s'),
    AWAY,
    ['0 Data', '17000 No Data'],
    { task: { downtime: 'continue' } },
  ],
]

const HOLDS: readonly Row[] = [
  ['has what holds wait for a reading', holding(), LONG, ['0 Pending']],
  ['has what holds wait for a reading, whatever clocks run it', holding(EACH_MINUTE), LONG, ['0 Pending']],
  [
    'lets what holds go on from its beginning, once a reading says so',
    holding(EACH_MINUTE),
    LONG,
    ['0 Pending', `${10 * MINUTE + SECOND} Holds`],
    { after: [[10 * MINUTE + SECOND, { v: 9 }]] },
  ],
  [
    'lets what is not due yet hold when it is, once a reading says so',
    holding(),
    [10 * SECOND, MINUTE],
    ['0 Pending', `${5 * MINUTE} Holds`],
    { after: [[2 * MINUTE, { v: 9 }]] },
  ],
  [
    'ends what a reading says is over',
    holding(),
    LONG,
    ['0 Pending', `${11 * MINUTE} No`],
    { after: [[11 * MINUTE, { v: 1 }]] },
  ],
  ['leaves what held before it', holding(EACH_MINUTE), [6 * MINUTE, 10 * MINUTE], ['0 Pending', `${5 * MINUTE} Holds`]],
]

const DELAYS: readonly Row[] = [
  ['is time that passed for a delay', delay(), AWAY, ['0 Idle', '17000 Triggered']],
  ['begins a delay again that says so', delay('restart'), AWAY, ['0 Idle', '25000 Triggered']],
  ['ends a delay that must be confirmed', delay('confirm'), AWAY, ['0 Idle']],
]

// Holds DOWNTIME-1
// Holds DOWNTIME-2
describe('a downtime', () => {
  const rows = [...SILENCES, ...HOLDS, ...DELAYS].map((row): [string, Row] => [row[0], row])
  it.each(rows)('%s', async (_, [, sensor, [from, until], states, more = {}]) => {
    const { task = {}, before = [[0, { v: 9 }]], after = [], end = sensor.name === 'holdsFor' ? HOUR : MINUTE } = more
    let live = await startBuiltins({ sensors: [{ label: 's', resource: '$', ...sensor }], task })
    const play = (list: readonly Sent[]) => {
      for (const [time, values] of list) {
        live.clock.advanceTo(time)
        live.send(values)
      }
    }
    play(before)
    live.clock.advanceTo(from)
    live = await live.restart(until, { from, until })
    // its known data is saved as well
    live = await live.restart(until)
    play(after)
    live.clock.advanceTo(end)
    expect(changes(live.states('s'))).toEqual(states)
  })

  it('after another downtime restarts a silence that had not ended', async () => {
    let live = await startBuiltins({
      sensors: [{ label: 's', resource: '$', ...silence('8s', { pollingPeriod: SECOND }) }],
    })
    live.send({ v: 1 })
    for (const from of [5000, 15_000, 25_000]) {
      live.clock.advanceTo(from)
      live = await live.restart(from + 5000, { from, until: from + 5000 })
    }
    live.clock.advanceTo(MINUTE)
    expect(changes(live.states('s'))).toEqual(['0 Data', '38000 No Data'])
  })
})
