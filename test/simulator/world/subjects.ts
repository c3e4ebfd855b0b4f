/**
 * What runs are about whose faults want few things to meet within a short time, which seldom comes about where everything
 * may happen: each says which operations there are, and which faults follow them how soon. None names an order of steps,
 * so that a run finds whatever comes of such things, and not one fault alone.
 */
import type { JsonObject } from '../../../src/kernel/json.ts'
import { NONE_AT_FIRST } from '../services/schedules.ts'
import type { FaultKind } from './draw-fault.ts'

/** Faults that follow an operation, one after the other, and those of the meetings before it in the list. */
export interface Meeting {
  /** operations, as in `messages.post`; absent: any */
  readonly after?: readonly string[]
  /** probability that they come */
  readonly is: number
  readonly kinds: readonly (readonly [weight: number, FaultKind])[]
  /** how many come: least and most */
  readonly count: readonly [least: number, most: number]
  /** ms from one to the next; one of them is drawn for each */
  readonly apartMs: readonly number[]
  /** the same from the operation to the first; absent: it comes in the middle of the operation */
  readonly pauseMs?: readonly number[]
}

export interface Subject {
  readonly name: string
  /** services that take part, with those they live on; one of these lists is drawn */
  readonly services: readonly (readonly string[])[]
  /** of services that have variants: those that take part; absent: some */
  readonly variants?: Readonly<Record<string, readonly string[]>>
  /** by their weights, in place of their own; of services that are not named, all operations are drawn */
  readonly operations?: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** arguments that are the same each time, by operation, as in `messages.post` */
  readonly always?: Readonly<Record<string, JsonObject>>
  /** how many there are: least and most */
  readonly count: readonly [least: number, most: number]
  /** ms between two, in the mean; one of them is drawn for each, or for the run */
  readonly gapsMs: readonly number[]
  /** what is so from the beginning, each with a probability of its own */
  readonly first: readonly (readonly [probability: number, FaultKind])[]
  readonly meetings: readonly Meeting[]
  /** probability that what comes next does so just as a fault ends that is still on; default: 0 */
  readonly atEnds?: number
}

const HOUR_MS = 3_600_000

/** A store that takes its time, and does what it is asked. */
const slowStore: FaultKind = (chance) => ({
  fault: 'manners',
  manners: { writeMs: chance.of([0, 20, 100, 500, 1000]), readMs: chance.of([0, 20, 100, 300]), refused: 0 },
})

const slowWrites: FaultKind = (chance) => ({
  fault: 'manners',
  manners: { writeMs: chance.of([20, 300, 1000]), readMs: chance.of([0, 20]), refused: 0 },
})

const verySlowWrites: FaultKind = (chance) => ({
  fault: 'manners',
  manners: { writeMs: chance.of([1000, 3000]), readMs: 0, refused: 0 },
})

/** One that is quick enough for what was answered to be written down soon. */
const quickStore: FaultKind = (chance) => ({
  fault: 'manners',
  manners: { writeMs: chance.of([0, 1, 10, 20, 100]), readMs: chance.of([0, 1, 10]), refused: 0 },
})

/** One whose answers come later than what happened since. */
const lateStore: FaultKind = (chance) => ({
  fault: 'manners',
  manners: {
    writeMs: chance.of([0, 20, 100]),
    readMs: chance.of([0, 20]),
    refused: 0,
    lateMs: chance.of([100, 300, 1000, 3000]),
  },
})

const veryLateStore: FaultKind = (chance) => ({
  fault: 'manners',
  manners: { writeMs: chance.of([0, 20]), readMs: 0, refused: 0, lateMs: chance.of([300, 1000]) },
})

const refusingStore: FaultKind = (chance) => ({
  fault: 'manners',
  manners: { writeMs: chance.of([0, 20, 500]), readMs: chance.of([0, 20]), refused: chance.of([0.05, 0.2, 0.5]) },
})

/** A start reads more than anything else. */
const unreadStore: FaultKind = (chance) => ({
  fault: 'manners',
  manners: { writeMs: 0, readMs: chance.of([0, 10]), refused: 0, unread: chance.of([0.02, 0.05, 0.1]) },
})

function trouble(kind: 'away' | 'stuck' | 'full', least: number, most: number): FaultKind {
  return (chance) => ({ fault: 'trouble', kind, ms: chance.between(least, most) })
}

const crash: FaultKind = (chance) => ({ fault: 'crash', downMs: chance.of([1, 100, 3000]) })
const restart: FaultKind = (chance) => ({ fault: 'restart', downMs: chance.of([1, 1000]) })
const clockBack: FaultKind = (chance) => ({ fault: 'clock', ms: -chance.of([5000, HOUR_MS, HOUR_MS]) })
const clockForward: FaultKind = (chance) => ({ fault: 'clock', ms: chance.of([5000, 120_000, HOUR_MS]) })
/** So far that a host takes it for a sleep, whatever is under way. */
const leap: FaultKind = (chance) => ({ fault: 'clock', ms: chance.of([120_000, HOUR_MS, HOUR_MS]) })

const slowPlugs: FaultKind = (chance) => ({ fault: 'plugs', fails: 0, hangs: 0, slowMs: chance.of([500, 5000]) })
const hangingPlugs: FaultKind = (chance) => {
  const hangs = chance.of([0.3, 0.6, 1])
  return { fault: 'plugs', fails: chance.of([0, 1 - hangs]), hangs, slowMs: chance.of([0, 500, 3000]), late: 0 }
}
const failingPlugs: FaultKind = (chance) => {
  const fails = chance.of([0.5, 1])
  return { fault: 'plugs', fails, hangs: chance.of([0, 1 - fails]), slowMs: chance.of([0, 500, 3000]), late: 0 }
}

const TWO_NOTING = { tasks: ['note pump', 'note boiler'] } as const
/** Tasks act on each message. */
const ALL_HIGH = { 'messages.post': { level: 90 } } as const

export const SUBJECTS: readonly Subject[] = [
  {
    name: 'keys',
    services: [['keys']],
    variants: { keys: ['lost'] },
    operations: { keys: { make: 3, remove: 2, use: 6 } },
    count: [10, 40],
    gapsMs: [5000, 10_000, 20_000],
    first: [[0.2, slowStore]],
    meetings: [],
  },
  {
    name: 'commands',
    services: [['commands']],
    count: [2, 12],
    gapsMs: [100, 1000, 5000],
    first: [
      [0.7, slowPlugs],
      [0.3, slowStore],
    ],
    meetings: [
      {
        after: ['commands.send'],
        is: 0.4,
        kinds: [
          [2, crash],
          [1, restart],
          [2, clockBack],
          [1, clockForward],
        ],
        count: [1, 3],
        apartMs: [0, 5, 300, 3000],
      },
    ],
  },
  {
    name: 'jobs',
    services: [['alarms'], ['templates']],
    operations: {
      alarms: { raise: 2, batch: 4, look: 1 },
      templates: { create: 3, replace: 1, makeTask: 2, reloadAll: 4 },
    },
    count: [2, 10],
    gapsMs: [50, 500, 5000],
    first: [[0.4, refusingStore]],
    meetings: [
      {
        after: ['alarms.batch', 'templates.reloadAll'],
        is: 0.7,
        kinds: [
          [2, trouble('away', 10, 20_000)],
          [1, trouble('full', 10, 20_000)],
          [1, trouble('stuck', 10, 20_000)],
          [1, refusingStore],
          [1, crash],
        ],
        count: [1, 2],
        apartMs: [0, 5, 300, 3000],
      },
      {
        after: ['alarms.batch', 'templates.reloadAll'],
        is: 0.5,
        kinds: [
          [3, clockBack],
          [1, clockForward],
        ],
        count: [1, 1],
        apartMs: [5, 300, 1000, 3000],
      },
    ],
  },
  {
    name: 'types in an outage',
    services: [['types'], ['types', 'resources']],
    count: [2, 12],
    gapsMs: [5, 500, 5000],
    first: [
      [0.3, slowStore],
      [0.3, refusingStore],
    ],
    meetings: [
      {
        after: ['types.change', 'types.place', 'types.remove', 'resources.put', 'resources.patch'],
        is: 0.4,
        kinds: [
          [2, trouble('away', 10, 30_000)],
          [1, trouble('full', 10, 30_000)],
          [1, trouble('stuck', 10, 30_000)],
          [1, refusingStore],
        ],
        count: [1, 2],
        apartMs: [0, 100, 3000],
      },
    ],
  },
  {
    name: 'resources close together',
    services: [['resources']],
    operations: { resources: { put: 5, create: 3, remove: 3, patch: 1 } },
    count: [2, 6],
    gapsMs: [100, 500, 1000, 2000, 3000],
    first: [[1, veryLateStore]],
    meetings: [],
  },
  {
    name: 'types close together',
    services: [['types'], ['types', 'resources']],
    operations: { types: { change: 4, remove: 1, place: 6, template: 1 } },
    always: { 'types.place': { width: 20 } },
    count: [2, 8],
    gapsMs: [1, 20, 100, 300, 1000],
    first: [[1, lateStore]],
    meetings: [],
  },
  {
    name: 'changes close together',
    services: [['templates'], ['objects'], ['alarms', 'alarmEvents'], ['converters'], ['queries'], ['keys']],
    count: [2, 12],
    gapsMs: [1, 20, 100, 300, 1000],
    first: [[1, lateStore]],
    meetings: [],
  },
  {
    name: 'starts',
    services: [['templates'], ['resources'], ['resources'], ['types']],
    operations: {
      templates: { create: 3, replace: 1, makeTask: 5, removeTask: 1, reload: 1 },
      resources: { put: 4, patch: 2, create: 3, remove: 1 },
      types: { change: 4, place: 5, template: 4, drop: 1 },
    },
    count: [8, 24],
    gapsMs: [500, 3000, 8000],
    first: [[1, unreadStore]],
    meetings: [
      {
        is: 0.25,
        kinds: [
          [6, crash],
          [2, restart],
          [1, unreadStore],
          [1, trouble('away', 10, 10_000)],
        ],
        count: [1, 3],
        apartMs: [5, 300, 3000],
      },
    ],
  },
  {
    name: 'schedules',
    services: [['schedules']],
    operations: { schedules: { make: 6, stop: 1, look: 1 }, messages: { post: 4, look: 0 } },
    variants: { tasks: ['count pump', 'count boiler'], schedules: [NONE_AT_FIRST] },
    count: [2, 6],
    gapsMs: [5, 100, 500],
    first: [[0.8, verySlowWrites]],
    meetings: [
      {
        is: 0.3,
        kinds: [
          [3, trouble('stuck', 1000, 30_000)],
          [1, trouble('away', 100, 30_000)],
        ],
        count: [1, 1],
        apartMs: [0],
      },
      {
        is: 0.6,
        kinds: [
          [3, leap],
          [1, clockBack],
          [1, crash],
        ],
        count: [1, 1],
        apartMs: [0],
        pauseMs: [0, 5, 100, 300],
      },
    ],
    atEnds: 0.2,
  },
  {
    name: 'calls in an outage',
    services: [['tasks']],
    variants: TWO_NOTING,
    always: ALL_HIGH,
    operations: { messages: { post: 6, look: 0 }, tasks: { create: 0, stop: 0, look: 6 } },
    count: [4, 20],
    gapsMs: [50, 1000, 5000, 12_000],
    first: [
      [0.7, hangingPlugs],
      [0.4, failingPlugs],
      [0.8, slowWrites],
      [0.3, refusingStore],
    ],
    meetings: [
      {
        is: 0.35,
        kinds: [
          [4, trouble('stuck', 10_000, 58_000)],
          [1, trouble('stuck', 100, 10_000)],
          [2, trouble('away', 1000, 58_000)],
          [1, hangingPlugs],
          [1, failingPlugs],
        ],
        count: [1, 2],
        apartMs: [0, 300, 3000],
      },
    ],
    atEnds: 0.6,
  },
  {
    name: 'calls in a crash',
    services: [['tasks']],
    variants: TWO_NOTING,
    always: ALL_HIGH,
    operations: { messages: { post: 8, look: 0 }, tasks: { create: 0, stop: 0, look: 1 } },
    count: [2, 12],
    gapsMs: [300, 1000, 3000],
    first: [
      [0.9, hangingPlugs],
      [0.4, quickStore],
    ],
    meetings: [
      {
        is: 0.4,
        kinds: [
          [4, leap],
          [1, clockForward],
          [1, clockBack],
        ],
        count: [1, 1],
        apartMs: [0],
        pauseMs: [0, 300, 1000, 3000],
      },
      {
        is: 0.35,
        kinds: [
          [3, crash],
          [1, restart],
        ],
        count: [1, 1],
        apartMs: [0],
        pauseMs: [0, 300, 1000, 3000],
      },
    ],
  },
  {
    name: 'first calls in a crash',
    services: [['tasks'], ['commands', 'tasks']],
    variants: TWO_NOTING,
    always: ALL_HIGH,
    operations: { messages: { post: 6, look: 0 }, tasks: { create: 0, stop: 0, look: 0 } },
    count: [1, 6],
    gapsMs: [5, 300, 3000],
    first: [
      [0.9, quickStore],
      [0.3, slowPlugs],
    ],
    meetings: [{ is: 0.5, kinds: [[1, crash]], count: [1, 2], apartMs: [5, 300] }],
  },
  {
    name: 'ends of runs',
    services: [['tasks']],
    variants: TWO_NOTING,
    always: { ...ALL_HIGH, 'tasks.look': { what: '/deliveries' } },
    operations: { messages: { post: 4, look: 0 }, tasks: { create: 0, stop: 3, look: 4 } },
    count: [4, 16],
    gapsMs: [5, 50, 300, 1000],
    first: [
      [0.8, quickStore],
      [0.4, slowStore],
      [0.3, slowPlugs],
    ],
    meetings: [
      {
        after: ['tasks.stop'],
        is: 0.5,
        kinds: [
          [3, crash],
          [1, restart],
        ],
        count: [1, 1],
        apartMs: [0],
        pauseMs: [0, 5, 100, 1000],
      },
    ],
  },
]
