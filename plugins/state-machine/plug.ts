/** A sensor whose states and transitions are declared in the rule. */
import { AppError, definePlug, hasNewData, readerOf } from '#plug'
import { type Machine, machineOf, readMachine, statesIn, type Transition } from './transitions.ts'

/** Nodes have the states of their properties. */
const NONE: readonly string[] = []

export const stateMachine = definePlug({
  name: 'stateMachine',
  version: '1.0.0',
  kind: 'sensor',
  description:
    'A state machine: the node has the declared states, and each run makes at most one transition by a condition, the first whose condition holds. Transitions by time alone happen without a run, at most 16 in a row. A run without a new value of the message makes no transition by a condition, and neither does one whose values are missing.',
  category: 'Logic',
  parameters: (properties) => [
    ...new Set(readMachine(properties).machine.transitions.flatMap(({ when }) => when?.names ?? [])),
  ],
  nodes: (properties) => [
    ...new Set(readMachine(properties).machine.transitions.flatMap(({ when }) => when?.nodes ?? [])),
  ],
  statesOf: statesIn,
  states: NONE,
  input: {
    states: { type: 'array', mandatory: true, description: 'the states, 1 to 100 texts', example: ['Idle', 'Running'] },
    initial: { type: 'string', description: 'the first state; default: the first of the list', example: 'Idle' },
    transitions: {
      type: 'array',
      mandatory: true,
      description:
        'list of { from, to, when, after }: from is a state, a list of states, or absent for all; when is a condition as in condition; after is the time in the state from which on the transition may happen, such as 5m. With after alone it happens then, even without a run',
      example: [
        { from: 'Idle', to: 'Running', when: 'pump == true' },
        { from: 'Running', to: 'Idle', when: 'pump == false' },
      ],
    },
  },
  output: {
    since: { type: 'long', description: 'begin of the state, in epoch milliseconds', unit: 'ms' },
    previous: { type: 'string', description: 'the state before; absent at first' },
  },
  check: (properties) =>
    properties.states === undefined || properties.transitions === undefined ? [] : readMachine(properties).problems,
  prepare: (properties) => machineOf(properties),
  execute(context) {
    const { now, prepared: machine } = context
    const memory = overTime(machine, memoryOf(context.internalState, machine, now), now)
    const read = readerOf(context)
    const next = machine.transitions.find(({ from, when, after }) => {
      if (when === undefined || !from.includes(memory.state) || now - memory.since < after) return false
      if (!hasNewData(context, when)) return false
      try {
        return when.holds(read, now)
      } catch (error) {
        if (error instanceof AppError && error.code === 'BINDING') return false
        throw error
      }
    })
    const after = next === undefined ? memory : { state: next.to, since: now, previous: memory.state }
    return { ...shown(after), internalState: after, ...comingOf(machine, after, now) }
  },
})

interface Memory {
  readonly state: string
  /** epoch ms */
  readonly since: number
  readonly previous?: string
}

const MAX_CAUGHT_UP = 100
const MAX_IN_A_ROW = 16

function memoryOf(state: unknown, { states, initial }: Machine, now: number): Memory {
  const isMemory = typeof state === 'object' && state !== null && 'state' in state && 'since' in state
  const known = isMemory ? (state as Memory) : undefined
  return known !== undefined && states.includes(known.state) ? known : { state: initial, since: now }
}

function shown({ state, since, previous }: Memory) {
  return { state, rawData: { since, ...(previous !== undefined && { previous }) } }
}

/** The earliest transition by time alone. */
function byTime({ transitions }: Machine, { state }: Memory): Transition | undefined {
  const all = transitions.filter(({ from, when }) => when === undefined && from.includes(state))
  return all.reduce<Transition | undefined>(
    (first, one) => (first === undefined || one.after < first.after ? one : first),
    undefined,
  )
}

/** Makes the transitions by time that are due. */
function overTime(machine: Machine, memory: Memory, now: number): Memory {
  let at = memory
  for (let i = 0; i < MAX_CAUGHT_UP; i++) {
    const next = byTime(machine, at)
    if (next === undefined || at.since + next.after > now) return at
    at = { state: next.to, since: at.since + next.after, previous: at.state }
  }
  return at
}

/** The transitions by time that happen unless the node runs before. */
function comingOf(machine: Machine, memory: Memory, now: number, left = MAX_IN_A_ROW): { then?: Coming } {
  const next = left === 0 ? undefined : byTime(machine, memory)
  if (next === undefined) return {}
  const since = memory.since + next.after
  const then = { state: next.to, since, previous: memory.state }
  return {
    then: {
      ...shown(then),
      after: Math.max(0, since - now),
      whole: next.after,
      ...comingOf(machine, then, since, left - 1),
    },
  }
}

interface Coming {
  readonly state: string
  readonly rawData: Record<string, unknown>
  readonly after: number
  readonly whole: number
  readonly then?: Coming
}
