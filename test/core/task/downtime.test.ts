/** What sensors wait for while the host is away. */
import { describe, expect, it } from 'vitest'
import type { DowntimePolicy } from '../../../src/core/plug/downtime.ts'
import type { Rule, Sensor } from '../../../src/core/rule/rule.ts'
import { startBuiltins } from '../../support/builtin-task.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

type Sent = readonly [time: number, values: Record<string, unknown>]

interface Row {
  readonly sensor: Pick<Sensor, 'name' | 'properties'> & Partial<Sensor>
  readonly task?: Rule['task']
  /** default: a reading at 0 */
  readonly before?: readonly Sent[]
  /** from when to when the host is away */
  readonly away: readonly [from: number, until: number]
  readonly after?: readonly Sent[]
  /** until when it is looked at; default: a minute */
  readonly end?: number
  /** what the sensor became, each state once */
  readonly states: readonly string[]
}

const HEARD: readonly Sent[] = [[0, { v: 9 }]]
const silence = (duration: string, more: Partial<Sensor> = {}) => {
  return { name: 'noDataFor', properties: { duration }, ...more }
}
const holding = (more: Partial<Sensor> = {}) => {
  return { name: 'holdsFor', properties: { condition: 'v > 5', duration: '5m' }, ...more }
}
const delay = (downtime?: DowntimePolicy) => {
  return { name: 'delaySensor', properties: { delay: 8000 }, ...(downtime && { downtime }) }
}

/** A state in a row of equal ones counts once. */
function changes(states: readonly string[]): readonly string[] {
  const stateOf = (line = ''): string => line.slice(line.indexOf(' '))
  return states.filter((line, i) => stateOf(line) !== stateOf(states[i - 1]))
}

// Holds DOWNTIME-1
// Holds DOWNTIME-2
describe('a downtime', () => {
  it.each<[string, Row]>([
    [
      'begins a silence again',
      { sensor: silence('8s'), away: [5 * SECOND, 17 * SECOND], states: ['0 Data', '25000 No Data'] },
    ],
    [
      'begins it again where clocks run its sensor',
      {
        sensor: silence('8s', { pollingPeriod: SECOND }),
        away: [5 * SECOND, 17 * SECOND],
        states: ['0 Data', '25000 No Data'],
      },
    ],
    [
      'of two seconds is none',
      { sensor: silence('8s'), away: [5 * SECOND, 7 * SECOND], states: ['0 Data', '8000 No Data'] },
    ],
    [
      'that is no longer than readings wait to be put in order is none',
      {
        sensor: silence('20s'),
        task: { late: { reorder: '10s' } },
        before: [[0, { v: 9, timestamp: 0 }]],
        away: [12 * SECOND, 22 * SECOND],
        states: ['0 Data', '20000 No Data'],
      },
    ],
    [
      'moves a long silence by its length',
      {
        sensor: silence('1h'),
        away: [SECOND, 5 * SECOND],
        end: 2 * HOUR,
        states: ['0 Data', `${HOUR + 4 * SECOND} No Data`],
      },
    ],
    [
      'has a long silence that was nearly over wait for ten more minutes',
      {
        sensor: silence('1h'),
        away: [59 * MINUTE, 61 * MINUTE],
        end: 2 * HOUR,
        states: ['0 Data', `${71 * MINUTE} No Data`],
      },
    ],
    [
      'ends no silence that was reported',
      {
        sensor: silence('8s', { pollingPeriod: SECOND }),
        away: [10 * SECOND, 20 * SECOND],
        states: ['0 Data', '8000 No Data'],
      },
    ],
    [
      'begins a silence again from when a lagging resource is',
      {
        sensor: silence('8s'),
        before: [[HOUR, { v: 9, timestamp: HOUR - MINUTE }]],
        away: [HOUR + 5 * SECOND, HOUR + 17 * SECOND],
        end: HOUR + 2 * MINUTE,
        states: [`${HOUR - MINUTE} Data`, `${HOUR - MINUTE + 25 * SECOND} No Data`],
      },
    ],
    [
      'begins a silence again that a reading of before the start begins after it',
      {
        sensor: silence('8s'),
        before: [[0, { v: 9, timestamp: 0 }]],
        away: [5 * SECOND, 17 * SECOND],
        after: [[17_500, { v: 9, timestamp: 6000 }]],
        states: ['0 Data', '25000 No Data'],
      },
    ],
    [
      'is silence for a sensor that says so',
      {
        sensor: silence('8s', { downtime: 'continue' }),
        away: [5 * SECOND, 17 * SECOND],
        states: ['0 Data', '17000 No Data'],
      },
    ],
    [
      'is silence for a task that says so',
      {
        sensor: silence('8s'),
        task: { downtime: 'continue' },
        away: [5 * SECOND, 17 * SECOND],
        states: ['0 Data', '17000 No Data'],
      },
    ],
    [
      'has what holds wait for a reading',
      { sensor: holding(), away: [10 * SECOND, 10 * MINUTE], end: HOUR, states: ['0 Pending'] },
    ],
    [
      'has what holds wait for a reading, whatever clocks run it',
      {
        sensor: holding({ pollingPeriod: MINUTE }),
        away: [10 * SECOND, 10 * MINUTE],
        end: HOUR,
        states: ['0 Pending'],
      },
    ],
    [
      'lets what holds go on from its beginning, once a reading says so',
      {
        sensor: holding({ pollingPeriod: MINUTE }),
        away: [10 * SECOND, 10 * MINUTE],
        after: [[10 * MINUTE + SECOND, { v: 9 }]],
        end: HOUR,
        states: ['0 Pending', `${10 * MINUTE + SECOND} Holds`],
      },
    ],
    [
      'lets what is not due yet hold when it is, once a reading says so',
      {
        sensor: holding(),
        away: [10 * SECOND, MINUTE],
        after: [[2 * MINUTE, { v: 9 }]],
        end: HOUR,
        states: ['0 Pending', `${5 * MINUTE} Holds`],
      },
    ],
    [
      'ends what a reading says is over',
      {
        sensor: holding(),
        away: [10 * SECOND, 10 * MINUTE],
        after: [[11 * MINUTE, { v: 1 }]],
        end: HOUR,
        states: ['0 Pending', `${11 * MINUTE} No`],
      },
    ],
    [
      'leaves what held before it',
      {
        sensor: holding({ pollingPeriod: MINUTE }),
        away: [6 * MINUTE, 10 * MINUTE],
        end: HOUR,
        states: ['0 Pending', `${5 * MINUTE} Holds`],
      },
    ],
    [
      'is time that passed for a delay',
      { sensor: delay(), away: [5000, 17_000], states: ['0 Idle', '17000 Triggered'] },
    ],
    [
      'begins a delay again that says so',
      { sensor: delay('restart'), away: [5000, 17_000], states: ['0 Idle', '25000 Triggered'] },
    ],
    ['ends a delay that must be confirmed', { sensor: delay('confirm'), away: [5000, 17_000], states: ['0 Idle'] }],
  ])('%s', async (_, { sensor, task = {}, before = HEARD, away: [from, until], after = [], end = MINUTE, states }) => {
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
    // what is known of it is saved as well
    live = await live.restart(until)
    play(after)
    live.clock.advanceTo(end)
    expect(changes(live.states('s'))).toEqual(states)
  })

  it('after another begins a silence again that was not over when that one ended', async () => {
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
