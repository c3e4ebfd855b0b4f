/** Defines sensors with one typical bug each, and the property that each should have. */
import { type Plug, type PlugContext } from '../../../src/index.ts'
import {
  deterministic,
  latencyChangesNothing,
  restartChangesNothing,
  type CheckedRun,
  type PropertyLike,
} from '../../../src/testing/index.ts'
import { sensorPlug } from '../../support/make-plug.ts'

export interface PlugBug {
  readonly name: string
  /** creates new plugs for each engine */
  readonly plugs: () => readonly Plug[]
  readonly property: PropertyLike
  /** a part of the reported text */
  readonly told: string
}

type Body = (context: PlugContext, memory: { value?: unknown; count: number }) => unknown

/** Creates a sensor `probe` with the states Yes and No, whose memory lives as long as the engine. */
function probe(execute: Body, more: Record<string, unknown> = {}): Plug {
  const memory = { count: 0 }
  return sensorPlug('probe', ['Yes', 'No'], {
    ...more,
    execute: (context: PlugContext) => execute(context, memory) as 'Yes',
  })
}

/** Same, but with memory that outlives engines, like the variables of a module. */
function module(execute: Body): () => readonly Plug[] {
  const plug = probe(execute)
  return () => [plug]
}

const read = (context: PlugContext): number => Number(context.streamValue('t'))
const yes = (holds: boolean): 'Yes' | 'No' => (holds ? 'Yes' : 'No')

/** Requires firings at exactly the messages for which `says` returns true, given all messages so far. */
function firesWhen(says: (values: readonly number[], times: readonly number[]) => boolean): PropertyLike {
  return function firesAsWanted({ moments }: CheckedRun) {
    const values: number[] = []
    const times: number[] = []
    for (const { message, time, fired } of moments) {
      if (message === undefined) {
        if (fired.length > 0) return `it fires at ${time} without a message`
        continue
      }
      values.push(Number(message['t']))
      times.push(time)
      const wanted = says(values, times)
      if (wanted !== fired.length > 0) return `at message ${values.length} it ${wanted ? 'does not fire' : 'fires'}`
    }
    return undefined
  }
}

const isHigh = firesWhen((values) => (values.at(-1) ?? 0) > 50)
const steps = (cut: number, states: readonly ['Yes' | 'No', 'Yes' | 'No', 'Yes' | 'No']) => ({
  steps: () => ({ parameter: 't', cuts: [cut], states }),
})
const high = (context: PlugContext) => yes(read(context) > 50)
const UNHEARD = 'the rule does the same without subscribers'

const bug = (name: string, told: string, property: PropertyLike, ...of: Parameters<typeof probe>): PlugBug => ({
  name,
  plugs: () => [probe(...of)],
  property,
  told,
})

export const PLUG_BUGS: readonly PlugBug[] = [
  bug('at least for above', 'it fires', isHigh, (c) => yes(read(c) >= 50)),
  bug('a limit that is one off', 'does not fire', isHigh, (c) => yes(read(c) > 51)),
  bug('numbers compared as texts', 'fire', isHigh, (c) => yes(String(c.streamValue('t')) > '50')),
  bug('rounded before it is compared', 'fire', isHigh, (c) => yes(Math.round(read(c)) > 50)),
  bug('nought is taken for nothing', 'it fires', isHigh, (c) => yes(Number(c.streamValue('t') || 60) > 50)),
  bug('steps with another cut', UNHEARD, deterministic(), high, steps(60, ['No', 'No', 'Yes'])),
  bug('steps that count the limit', UNHEARD, deterministic(), high, steps(50, ['No', 'Yes', 'Yes'])),
  bug('steps the wrong way round', UNHEARD, deterministic(), high, steps(50, ['Yes', 'No', 'No'])),
  bug(
    'a calculation that is not what it does',
    UNHEARD,
    deterministic(),
    (c) => ({ state: yes(read(c) * 2 > 100), rawData: { double: read(c) * 2 } }),
    {
      output: { double: { type: 'double' } },
      calculates: {
        rawData: { double: 'streamdata.t * 3' },
        states: { Yes: 'rawData.double > 100' },
        otherwise: 'No',
      },
    },
  ),
  bug('a state that is not declared', 'Maybe', deterministic(), (c) => (read(c) > 99 ? 'Maybe' : high(c))),
  bug('the clock of the machine', 'when repeated', deterministic(), (c) => ({
    state: high(c),
    rawData: { at: performance.now() },
  })),
  bug('chance of its own', 'when repeated', deterministic(), () => yes(Math.random() > 0.5)),
  bug('a memory that dies', 'when killed after message', restartChangesNothing(), (_, memory) =>
    yes(++memory.count % 3 === 0),
  ),
  {
    name: 'a memory that outlives the run',
    plugs: module((_, memory) => yes(++memory.count % 3 === 0)),
    property: deterministic(),
    told: 'it differs at',
  },
  bug('a cache that never forgets', 'when killed after message', restartChangesNothing(), (c, memory) => {
    memory.value ??= read(c)
    return { state: high(c), rawData: { first: memory.value } }
  }),
  bug('a date as memory', 'the class Date', restartChangesNothing(), (c) => {
    const before = c.internalState as { at?: unknown } | undefined
    return { state: yes(before?.at instanceof Date), internalState: { at: new Date(c.now) } }
  }),
  bug('a map as memory', 'the class Map', restartChangesNothing(), (c) => {
    const before = c.internalState instanceof Map ? c.internalState : new Map<string, number>()
    return { state: yes(before.size > 0), internalState: new Map(before).set('t', read(c)) }
  }),
  bug('a throw at the limit', 'on the fence', isHigh, (c) => {
    if (read(c) === 50) throw new Error('on the fence')
    return high(c)
  }),
  bug('no answer at all', 'did not return', deterministic(), (c) =>
    read(c) > 50 ? new Promise(() => undefined) : 'No',
  ),
  bug(
    'a count that is not reset',
    'it fires',
    firesWhen((values) => values.length >= 3 && values.slice(-3).every((value) => value > 50)),
    (c) => {
      const count = Number(c.internalState ?? 0) + (read(c) > 50 ? 1 : 0)
      return { state: yes(count >= 3), internalState: count }
    },
  ),
  bug(
    'an average that forgets the last',
    'fire',
    firesWhen((values) => {
      const last = values.slice(-3)
      return last.reduce((sum, value) => sum + value, 0) / last.length > 50
    }),
    (c) => {
      const before = (c.internalState ?? []) as number[]
      const mean = before.reduce((sum, value) => sum + value, 0) / Math.max(1, before.length)
      return { state: yes(mean > 50), internalState: [...before, read(c)].slice(-3) }
    },
  ),
  bug(
    'a debounce that is a second short',
    'it fires',
    firesWhen((values, times) => {
      let i = values.length - 1
      while (i >= 0 && (values[i] ?? 0) > 50) i--
      return i < values.length - 1 && (times.at(-1) ?? 0) - (times[i + 1] ?? 0) >= 600_000
    }),
    (c) => {
      const since = read(c) > 50 ? Number(c.internalState ?? c.now) : null
      return { state: yes(since !== null && c.now - since >= 599_000), internalState: since }
    },
    { input: { lasts: { type: 'string', format: { type: 'duration' }, defaultValue: '10m' } } },
  ),
  bug('the timestamp of the device for the time', 'does not fire', isHigh, (c) => {
    const at = Number(c.streamValue('timestamp'))
    const late = c.internalState !== undefined && at < Number(c.internalState)
    return { state: yes(!late && read(c) > 50), internalState: at }
  }),
  bug(
    'a memory, although it says that it reads the message alone',
    'with late results',
    latencyChangesNothing(),
    (c) => {
      const count = Number(c.internalState ?? 0) + 1
      return { state: yes(count % 3 === 0), internalState: count }
    },
    { reads: 'message' },
  ),
]
