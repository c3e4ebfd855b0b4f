/** Sensors with a bug each, as people write them, and what would be wanted of them. */
import { definePlug, type Plug, type PlugContext } from '../../../src/index.ts'
import {
  deterministic,
  latencyChangesNothing,
  restartChangesNothing,
  type CheckedRun,
  type PropertyLike,
} from '../../../src/testing/index.ts'

export interface PlugBug {
  readonly name: string
  /** made anew for each engine */
  readonly plugs: () => readonly Plug[]
  readonly property: PropertyLike
  /** a part of what is told */
  readonly told: string
}

type Body = (context: PlugContext, memory: { value?: unknown; count: number }) => unknown

/** A sensor `probe` that says Yes or No; its memory lives as long as the engine. */
function probe(execute: Body, more: Record<string, unknown> = {}): Plug {
  const memory = { count: 0 }
  return definePlug({
    name: 'probe',
    version: '1.0.0',
    kind: 'sensor',
    states: ['Yes', 'No'],
    ...more,
    execute: (context: PlugContext) => execute(context, memory) as 'Yes',
  })
}

/** The same, but what it remembers outlives engines, as what a module remembers does. */
function module(execute: Body): () => readonly Plug[] {
  const plug = probe(execute)
  return () => [plug]
}

const read = (context: PlugContext): number => Number(context.streamValue('t'))
const yes = (holds: boolean): 'Yes' | 'No' => (holds ? 'Yes' : 'No')

/** Fires exactly at messages at which this is so, given all messages until then. */
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
const UNHEARD = 'it does the same while nobody listens'

export const PLUG_BUGS: readonly PlugBug[] = [
  { name: 'at least for above', plugs: () => [probe((c) => yes(read(c) >= 50))], property: isHigh, told: 'it fires' },
  {
    name: 'a limit that is one off',
    plugs: () => [probe((c) => yes(read(c) > 51))],
    property: isHigh,
    told: 'does not fire',
  },
  {
    name: 'numbers compared as texts',
    plugs: () => [probe((c) => yes(String(c.streamValue('t')) > '50'))],
    property: isHigh,
    told: 'fire',
  },
  {
    name: 'rounded before it is compared',
    plugs: () => [probe((c) => yes(Math.round(read(c)) > 50))],
    property: isHigh,
    told: 'fire',
  },
  {
    name: 'nought is taken for nothing',
    plugs: () => [probe((c) => yes(Number(c.streamValue('t') || 60) > 50))],
    property: isHigh,
    told: 'it fires',
  },
  {
    name: 'steps with another cut',
    plugs: () => [probe(high, steps(60, ['No', 'No', 'Yes']))],
    property: deterministic(),
    told: UNHEARD,
  },
  {
    name: 'steps that count the limit',
    plugs: () => [probe(high, steps(50, ['No', 'Yes', 'Yes']))],
    property: deterministic(),
    told: UNHEARD,
  },
  {
    name: 'steps the wrong way round',
    plugs: () => [probe(high, steps(50, ['Yes', 'No', 'No']))],
    property: deterministic(),
    told: UNHEARD,
  },
  {
    name: 'a calculation that is not what it does',
    plugs: () => [
      probe((c) => ({ state: yes(read(c) * 2 > 100), rawData: { double: read(c) * 2 } }), {
        output: { double: { type: 'double' } },
        calculates: {
          rawData: { double: 'streamdata.t * 3' },
          states: { Yes: 'rawData.double > 100' },
          otherwise: 'No',
        },
      }),
    ],
    property: deterministic(),
    told: UNHEARD,
  },
  {
    name: 'a state that is not declared',
    plugs: () => [probe((c) => (read(c) > 99 ? 'Maybe' : high(c)))],
    property: deterministic(),
    told: 'Maybe',
  },
  {
    name: 'the clock of the machine',
    plugs: () => [probe((c) => ({ state: high(c), rawData: { at: performance.now() } }))],
    property: deterministic(),
    told: 'run again',
  },
  {
    name: 'chance of its own',
    plugs: () => [probe(() => yes(Math.random() > 0.5))],
    property: deterministic(),
    told: 'run again',
  },
  {
    name: 'a memory that dies',
    plugs: () => [probe((_, memory) => yes(++memory.count % 3 === 0))],
    property: restartChangesNothing(),
    told: 'dying after message',
  },
  {
    name: 'a memory that outlives the run',
    plugs: module((_, memory) => yes(++memory.count % 3 === 0)),
    property: deterministic(),
    told: 'it differs at',
  },
  {
    name: 'a cache that never forgets',
    plugs: () => [
      probe((c, memory) => {
        memory.value ??= read(c)
        return { state: high(c), rawData: { first: memory.value } }
      }),
    ],
    property: restartChangesNothing(),
    told: 'dying after message',
  },
  {
    name: 'a date as memory',
    plugs: () => [
      probe((c) => {
        const before = c.internalState as { at?: unknown } | undefined
        return { state: yes(before?.at instanceof Date), internalState: { at: new Date(c.now) } }
      }),
    ],
    property: restartChangesNothing(),
    told: 'the class Date',
  },
  {
    name: 'a map as memory',
    plugs: () => [
      probe((c) => {
        const before = c.internalState instanceof Map ? c.internalState : new Map<string, number>()
        return { state: yes(before.size > 0), internalState: new Map(before).set('t', read(c)) }
      }),
    ],
    property: restartChangesNothing(),
    told: 'the class Map',
  },
  {
    name: 'a throw at the limit',
    plugs: () => [
      probe((c) => {
        if (read(c) === 50) throw new Error('on the fence')
        return high(c)
      }),
    ],
    property: isHigh,
    told: 'on the fence',
  },
  {
    name: 'no answer at all',
    plugs: () => [probe((c) => (read(c) > 50 ? new Promise(() => undefined) : 'No'))],
    property: deterministic(),
    told: 'did not answer',
  },
  {
    name: 'a count that is not reset',
    plugs: () => [
      probe((c) => {
        const count = Number(c.internalState ?? 0) + (read(c) > 50 ? 1 : 0)
        return { state: yes(count >= 3), internalState: count }
      }),
    ],
    property: firesWhen((values) => values.length >= 3 && values.slice(-3).every((value) => value > 50)),
    told: 'it fires',
  },
  {
    name: 'an average that forgets the last',
    plugs: () => [
      probe((c) => {
        const before = (c.internalState ?? []) as number[]
        const mean = before.reduce((sum, value) => sum + value, 0) / Math.max(1, before.length)
        return { state: yes(mean > 50), internalState: [...before, read(c)].slice(-3) }
      }),
    ],
    property: firesWhen((values) => {
      const last = values.slice(-3)
      return last.reduce((sum, value) => sum + value, 0) / last.length > 50
    }),
    told: 'fire',
  },
  {
    name: 'a debounce that is a second short',
    plugs: () => [
      probe(
        (c) => {
          const since = read(c) > 50 ? Number(c.internalState ?? c.now) : null
          return { state: yes(since !== null && c.now - since >= 599_000), internalState: since }
        },
        { input: { lasts: { type: 'string', format: { type: 'duration' }, defaultValue: '10m' } } },
      ),
    ],
    property: firesWhen((values, times) => {
      let i = values.length - 1
      while (i >= 0 && (values[i] ?? 0) > 50) i--
      return i < values.length - 1 && (times.at(-1) ?? 0) - (times[i + 1] ?? 0) >= 600_000
    }),
    told: 'it fires',
  },
  {
    name: 'the timestamp of the device for the time',
    plugs: () => [
      probe((c) => {
        const at = Number(c.streamValue('timestamp'))
        const late = c.internalState !== undefined && at < Number(c.internalState)
        return { state: yes(!late && read(c) > 50), internalState: at }
      }),
    ],
    property: isHigh,
    told: 'does not fire',
  },
  {
    name: 'a memory, although it says that it reads the message alone',
    plugs: () => [
      probe(
        (c) => {
          const count = Number(c.internalState ?? 0) + 1
          return { state: yes(count % 3 === 0), internalState: count }
        },
        { reads: 'message' },
      ),
    ],
    property: latencyChangesNothing(),
    told: 'with late answers',
  },
]
