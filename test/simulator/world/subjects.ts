/**
 * Defines subjects: runs that look for faults which need few things to coincide, which rarely happens in mixed runs.
 * Each subject lists operations and the faults that follow them, but no order of steps, so that a run can find any
 * problem of this kind.
 */
import type { JsonObject } from '../../../src/kernel/json.ts'
import { NONE_AT_FIRST } from '../services/schedules.ts'
import type { FaultKind } from './draw-fault.ts'

/** Faults that follow an operation one after the other, after those of earlier meetings in the list. */
export interface Meeting {
  /** operations, such as `messages.post`; absent: any */
  readonly after?: readonly string[]
  /** probability that the faults occur */
  readonly is: number
  readonly kinds: readonly (readonly [weight: number, FaultKind])[]
  /** minimum and maximum number of faults */
  readonly count: readonly [least: number, most: number]
  /** ms from one fault to the next; one value is drawn each time */
  readonly apartMs: readonly number[]
  /** ms from the operation to the first fault; absent: it occurs in the middle of the operation */
  readonly pauseMs?: readonly number[]
}

export interface Subject {
  readonly name: string
  /** services that take part, with those they need; one of these lists is drawn */
  readonly services: readonly (readonly string[])[]
  /** for services with variants: those that take part; absent: some */
  readonly variants?: Readonly<Record<string, readonly string[]>>
  /** weights that replace those of the operations; all operations of unlisted services are drawn */
  readonly operations?: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** fixed arguments by operation, such as `messages.post` */
  readonly always?: Readonly<Record<string, JsonObject>>
  /** minimum and maximum number of operations */
  readonly count: readonly [least: number, most: number]
  /** mean ms between two operations; one value is drawn for each, or for the whole run */
  readonly gapsMs: readonly number[]
  /** faults from the beginning, each with its own probability */
  readonly first: readonly (readonly [probability: number, FaultKind])[]
  readonly meetings: readonly Meeting[]
  /** probability that the next step is timed to the end of an active fault; default: 0 */
  readonly atEnds?: number
}

const HOUR_MS = 3_600_000

/** A value, or a list from which one is drawn. */
type Drawn = number | readonly number[]
type Manners = Partial<Record<'refused' | 'lateMs' | 'unread', Drawn>>

/** Returns a fault that sets these manners of the store. */
function store(writeMs: Drawn, readMs: Drawn, { refused = 0, ...more }: Manners = {}): FaultKind {
  return (chance) => {
    const drawn = (one: Drawn) => (typeof one === 'number' ? one : chance.of(one))
    const usual = { writeMs: drawn(writeMs), readMs: drawn(readMs), refused: drawn(refused) }
    const others = Object.entries(more).map(([name, one]) => [name, drawn(one)] as const)
    return { fault: 'manners', manners: { ...usual, ...Object.fromEntries(others) } }
  }
}

function trouble(kind: 'away' | 'stuck' | 'full', least: number, most: number): FaultKind {
  return (chance) => ({ fault: 'trouble', kind, ms: chance.between(least, most) })
}

function clock(...ms: readonly number[]): FaultKind {
  return (chance) => ({ fault: 'clock', ms: chance.of(ms) })
}

const KINDS = {
  /** Slow, but does what it is asked. */
  slowStore: store([0, 20, 100, 500, 1000], [0, 20, 100, 300]),
  slowWrites: store([20, 300, 1000], [0, 20]),
  verySlowWrites: store([1000, 3000], 0),
  /** Fast enough that a result is durable soon. */
  quickStore: store([0, 1, 10, 20, 100], [0, 1, 10]),
  /** Its responses arrive later than newer events. */
  lateStore: store([0, 20, 100], [0, 20], { lateMs: [100, 300, 1000, 3000] }),
  veryLateStore: store([0, 20], 0, { lateMs: [300, 1000] }),
  refusingStore: store([0, 20, 500], [0, 20], { refused: [0.05, 0.2, 0.5] }),
  /** A start reads more than anything else does. */
  unreadStore: store(0, [0, 10], { unread: [0.02, 0.05, 0.1] }),
  crash: (chance) => ({ fault: 'crash', downMs: chance.of([1, 100, 3000]) }),
  restart: (chance) => ({ fault: 'restart', downMs: chance.of([1, 1000]) }),
  clockBack: clock(-5000, -HOUR_MS, -HOUR_MS),
  clockForward: clock(5000, 120_000, HOUR_MS),
  /** So far that a host treats it as a sleep, whatever is open. */
  leap: clock(120_000, HOUR_MS, HOUR_MS),
  slowPlugs: (chance) => ({ fault: 'plugs', fails: 0, hangs: 0, slowMs: chance.of([500, 5000]) }),
  hangingPlugs: (chance) => {
    const hangs = chance.of([0.3, 0.6, 1])
    return { fault: 'plugs', fails: chance.of([0, 1 - hangs]), hangs, slowMs: chance.of([0, 500, 3000]), late: 0 }
  },
  failingPlugs: (chance) => {
    const fails = chance.of([0.5, 1])
    return { fault: 'plugs', fails, hangs: chance.of([0, 1 - fails]), slowMs: chance.of([0, 500, 3000]), late: 0 }
  },
} satisfies Readonly<Record<string, FaultKind>>

/** Returns weights, or probabilities, of fault kinds, in order. */
const of = (odds: Partial<Readonly<Record<keyof typeof KINDS, number>>>) =>
  Object.entries(odds).map(([name, odd]) => [odd, KINDS[name as keyof typeof KINDS]] as const)

/** Returns the weights of store troubles that last from `least` to `most` ms. */
const troubles = (least: number, most: number, odds: Readonly<Partial<Record<'away' | 'full' | 'stuck', number>>>) =>
  Object.entries(odds).map(([kind, odd]) => [odd, trouble(kind as 'away', least, most)] as const)

const TWO_NOTING = { tasks: ['note pump', 'note boiler'] } as const
/** Makes tasks act on each message. */
const ALL_HIGH = { 'messages.post': { level: 90 } } as const

export const SUBJECTS: readonly Subject[] = [
  {
    name: 'keys',
    services: [['keys']],
    variants: { keys: ['lost'] },
    operations: { keys: { make: 3, remove: 2, use: 6 } },
    count: [10, 40],
    gapsMs: [5000, 10_000, 20_000],
    first: of({ slowStore: 0.2 }),
    meetings: [],
  },
  {
    name: 'commands',
    services: [['commands']],
    count: [2, 12],
    gapsMs: [100, 1000, 5000],
    first: of({ slowPlugs: 0.7, slowStore: 0.3 }),
    meetings: [
      {
        after: ['commands.send'],
        is: 0.4,
        kinds: of({ crash: 2, restart: 1, clockBack: 2, clockForward: 1 }),
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
    first: of({ refusingStore: 0.4 }),
    meetings: [
      {
        after: ['alarms.batch', 'templates.reloadAll'],
        is: 0.7,
        kinds: [...troubles(10, 20_000, { away: 2, full: 1, stuck: 1 }), ...of({ refusingStore: 1, crash: 1 })],
        count: [1, 2],
        apartMs: [0, 5, 300, 3000],
      },
      {
        after: ['alarms.batch', 'templates.reloadAll'],
        is: 0.5,
        kinds: of({ clockBack: 3, clockForward: 1 }),
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
    first: of({ slowStore: 0.3, refusingStore: 0.3 }),
    meetings: [
      {
        after: ['types.change', 'types.place', 'types.remove', 'resources.put', 'resources.patch'],
        is: 0.4,
        kinds: [...troubles(10, 30_000, { away: 2, full: 1, stuck: 1 }), ...of({ refusingStore: 1 })],
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
    first: of({ veryLateStore: 1 }),
    meetings: [],
  },
  {
    name: 'types close together',
    services: [['types'], ['types', 'resources']],
    operations: { types: { change: 4, remove: 1, place: 6, template: 1 } },
    always: { 'types.place': { width: 20 } },
    count: [2, 8],
    gapsMs: [1, 20, 100, 300, 1000],
    first: of({ lateStore: 1 }),
    meetings: [],
  },
  {
    name: 'changes close together',
    services: [['templates'], ['objects'], ['alarms', 'alarmEvents'], ['converters'], ['queries'], ['keys']],
    count: [2, 12],
    gapsMs: [1, 20, 100, 300, 1000],
    first: of({ lateStore: 1 }),
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
    first: of({ unreadStore: 1 }),
    meetings: [
      {
        is: 0.25,
        kinds: [...of({ crash: 6, restart: 2, unreadStore: 1 }), ...troubles(10, 10_000, { away: 1 })],
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
    first: of({ verySlowWrites: 0.8 }),
    meetings: [
      {
        is: 0.3,
        kinds: [...troubles(1000, 30_000, { stuck: 3 }), ...troubles(100, 30_000, { away: 1 })],
        count: [1, 1],
        apartMs: [0],
      },
      {
        is: 0.6,
        kinds: of({ leap: 3, clockBack: 1, crash: 1 }),
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
    first: of({ hangingPlugs: 0.7, failingPlugs: 0.4, slowWrites: 0.8, refusingStore: 0.3 }),
    meetings: [
      {
        is: 0.35,
        kinds: [
          ...troubles(10_000, 58_000, { stuck: 4 }),
          ...troubles(100, 10_000, { stuck: 1 }),
          ...troubles(1000, 58_000, { away: 2 }),
          ...of({ hangingPlugs: 1, failingPlugs: 1 }),
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
    first: of({ hangingPlugs: 0.9, quickStore: 0.4 }),
    meetings: [
      {
        is: 0.4,
        kinds: of({ leap: 4, clockForward: 1, clockBack: 1 }),
        count: [1, 1],
        apartMs: [0],
        pauseMs: [0, 300, 1000, 3000],
      },
      {
        is: 0.35,
        kinds: of({ crash: 3, restart: 1 }),
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
    first: of({ quickStore: 0.9, slowPlugs: 0.3 }),
    meetings: [{ is: 0.5, kinds: of({ crash: 1 }), count: [1, 2], apartMs: [5, 300] }],
  },
  {
    name: 'ends of runs',
    services: [['tasks']],
    variants: TWO_NOTING,
    always: { ...ALL_HIGH, 'tasks.look': { what: '/deliveries' } },
    operations: { messages: { post: 4, look: 0 }, tasks: { create: 0, stop: 3, look: 4 } },
    count: [4, 16],
    gapsMs: [5, 50, 300, 1000],
    first: of({ quickStore: 0.8, slowStore: 0.4, slowPlugs: 0.3 }),
    meetings: [
      {
        after: ['tasks.stop'],
        is: 0.5,
        kinds: of({ crash: 3, restart: 1 }),
        count: [1, 1],
        apartMs: [0],
        pauseMs: [0, 5, 100, 1000],
      },
    ],
  },
]
