/** Reads the states and transitions of a state machine, and reports all problems of them. */
import { AppError, compileCondition, isPlainObject, lengthOf, messageOf, type PropertyProblem } from '#plug'

export interface Transition {
  readonly from: readonly string[]
  readonly to: string
  /** undefined: time alone */
  readonly when: ReturnType<typeof compileCondition> | undefined
  /** ms in the state */
  readonly after: number
}

const MAX_STATES = 100
const MAX_TRANSITIONS = 1000
const KEYS = ['from', 'to', 'when', 'after']

export interface Machine {
  readonly states: readonly string[]
  readonly initial: string
  readonly transitions: readonly Transition[]
}

export interface Written {
  readonly states?: readonly unknown[] | undefined
  readonly initial?: string | undefined
  readonly transitions?: readonly unknown[] | undefined
}

/** Returns the states if they are a list of distinct texts. */
export function statesIn({ states }: Written): readonly string[] | undefined {
  const isList = states?.every((one) => typeof one === 'string' && one.trim() !== '' && one !== '*')
  if (states === undefined || isList !== true || new Set(states).size !== states.length) return undefined
  return states.length > 0 && states.length <= MAX_STATES ? states.map(String) : undefined
}

/** Throws `PLUG_FAILED` with the first problem. */
export function machineOf(written: Written): Machine {
  const { machine, problems } = readMachine(written)
  const [problem] = problems
  if (problem === undefined) return machine
  throw new AppError('PLUG_FAILED', `${problem.property}: ${problem.message}`)
}

export function readMachine(written: Written): { machine: Machine; problems: readonly PropertyProblem[] } {
  const problems: PropertyProblem[] = []
  const states = statesIn(written)
  if (states === undefined) {
    problems.push({
      property: 'states',
      message: 'the states are not a list of 1 to 100 distinct texts',
      suggestion: 'use a list such as ["Idle", "Running"]',
    })
    return { machine: { states: [], initial: '', transitions: [] }, problems }
  }
  const initial = written.initial ?? states[0] ?? ''
  if (!states.includes(initial))
    problems.push({
      property: 'initial',
      message: `"${initial}" is not one of the states`,
      suggestion: `use one of ${states.join(', ')}`,
    })
  const list = written.transitions ?? []
  if (list.length > MAX_TRANSITIONS)
    problems.push({
      property: 'transitions',
      message: `${list.length} transitions are too many; use at most ${MAX_TRANSITIONS}`,
    })
  const transitions = list.slice(0, MAX_TRANSITIONS).flatMap((one, index) => {
    const read = transitionOf(one, states)
    if (typeof read !== 'string') return [read]
    problems.push({
      property: 'transitions',
      message: `transition ${index}: ${read}`,
      suggestion: 'use a form such as { "from": "Idle", "to": "Running", "when": "pump == true" }',
    })
    return []
  })
  const machine = { states, initial, transitions }
  if (problems.length === 0) problems.push(...unreachable(machine))
  return { machine, problems }
}

/** A transition, or what is wrong with it. */
function transitionOf(written: unknown, states: readonly string[]): Transition | string {
  if (!isPlainObject(written)) return 'it is not an object'
  const unknown = Object.keys(written).find((key) => !KEYS.includes(key))
  if (unknown !== undefined) return `"${unknown}" is not one of ${KEYS.join(', ')}`
  const { from = '*', to, when, after } = written
  const sources: readonly unknown[] = from === '*' ? states : Array.isArray(from) ? from : [from]
  const wrong = [...sources, to].find((state) => typeof state !== 'string' || !states.includes(state))
  if (wrong !== undefined || typeof to !== 'string') return `${JSON.stringify(wrong ?? to)} is not one of the states`
  if (when === undefined && after === undefined) return 'when and after are both missing'
  try {
    if (after !== undefined && typeof after !== 'string') return 'after is not a duration such as 5m'
    return {
      from: sources.map(String).filter((state) => state !== to || from !== '*'),
      to,
      when: when === undefined ? undefined : compileCondition(when),
      after: after === undefined ? 0 : lengthOf(after),
    }
  } catch (error) {
    return messageOf(error)
  }
}

function unreachable({ states, initial, transitions }: Machine): readonly PropertyProblem[] {
  const reached = new Set([initial])
  for (let before = 0; before !== reached.size;) {
    before = reached.size
    for (const { from, to } of transitions) if (from.some((state) => reached.has(state))) reached.add(to)
  }
  return states.flatMap((state) =>
    reached.has(state)
      ? []
      : [
          {
            property: 'states',
            message: `the state "${state}" is unreachable from "${initial}"`,
            suggestion: 'add a transition to it, or remove it',
          },
        ],
  )
}
