import { FORBIDDEN_KEYS, isPlainObject, ownValue } from '../../kernel/json.ts'
import type { Plug } from './plug.ts'
import { shown } from './problem.ts'

/** The longest chain of `then`. */
const MAX_CHAIN = 16

/** What a plug gave, checked. All fields are always there, so that every answer has one shape. */
export interface Answer {
  readonly ok: true
  /** position in the plug's states; -1 when no state was given */
  readonly state: number
  readonly rawData: Readonly<Record<string, unknown>> | undefined
  /** `undefined` leaves what the node kept before */
  readonly internalState: unknown
  readonly message: string | undefined
  /** ms */
  readonly after: number | undefined
  /** always with an `after` of its own */
  readonly then: Answer | undefined
}

export interface BadAnswer {
  readonly ok: false
  readonly error: string
}

/** The position of a state among the plug's states, -1 when it is not one of them. The short way for bare strings. */
export function stateIndex(plug: Plug, state: string): number {
  return plug.states.indexOf(state)
}

/**
 * Reads what `execute` returned (reference 7.2): nothing, a state, or an object with `state` (older scripts say
 * `observedState`), `rawData`, `internalState`, `message`, `after` and `then`. Other fields are ignored.
 * A wrong answer is a value with a text for people, never a throw.
 */
export function readAnswer(plug: Plug, answer: unknown): Answer | BadAnswer {
  return readStep(plug, answer, 0)
}

function readStep(plug: Plug, answer: unknown, depth: number): Answer | BadAnswer {
  if (typeof answer === 'string') return answerOfState(plug, answer)
  if (answer === undefined || answer === null) return NOTHING
  if (!isPlainObject(answer))
    return bad(plug, `answered ${shown(answer)}; give a state or an object such as { state, rawData }`)

  const given = ownValue(answer, 'state') ?? ownValue(answer, 'observedState')
  let state = -1
  if (typeof given === 'string') state = stateIndex(plug, given)
  if (state === -1 && given !== undefined && given !== null) return wrongState(plug, given)

  const rawData = ownValue(answer, 'rawData') ?? undefined
  if (rawData !== undefined && !isPlainObject(rawData)) {
    return bad(plug, `gave ${shown(rawData)} as rawData; it must be an object such as { value: 21.5 }`)
  }
  if (rawData !== undefined) {
    for (const key of FORBIDDEN_KEYS) {
      if (Object.hasOwn(rawData, key)) return bad(plug, `gave rawData with the key "${key}", which is not allowed`)
    }
  }

  const message = ownValue(answer, 'message') ?? undefined
  if (message !== undefined && typeof message !== 'string')
    return bad(plug, `gave ${shown(message)} as message; it must be text`)

  const after = ownValue(answer, 'after') ?? undefined
  if (after !== undefined && !isDelay(after)) {
    return bad(plug, `gave ${shown(after)} as after; it must be milliseconds, 0 or more`)
  }

  const next = ownValue(answer, 'then') ?? undefined
  let then: Answer | undefined
  if (next !== undefined) {
    if (depth + 1 > MAX_CHAIN) return bad(plug, `gave a chain of more than ${MAX_CHAIN} results by then`)
    const read = readStep(plug, next, depth + 1)
    if (!read.ok) return read
    if (read.after === undefined)
      return bad(plug, 'gave a result by then without its own after; say after how many milliseconds')
    then = read
  }
  return { ok: true, state, rawData, internalState: ownValue(answer, 'internalState'), message, after, then }
}

const NOTHING: Answer = Object.freeze(answerWith(-1))

function answerOfState(plug: Plug, state: string): Answer | BadAnswer {
  const index = stateIndex(plug, state)
  return index === -1 ? wrongState(plug, state) : answerWith(index)
}

function answerWith(state: number): Answer {
  return {
    ok: true,
    state,
    rawData: undefined,
    internalState: undefined,
    message: undefined,
    after: undefined,
    then: undefined,
  }
}

function wrongState(plug: Plug, state: unknown): BadAnswer {
  const text = typeof state === 'string' && state !== '' ? state : shown(state)
  const known = plug.states.length === 0 ? 'it has no states' : `it can be ${listed(plug.states)}`
  return { ok: false, error: `State ${text.slice(0, 200)} is invalid for plug ${plug.name}; ${known}` }
}

function listed(states: readonly string[]): string {
  const more = states.length - 20
  return more > 0 ? `${states.slice(0, 20).join(', ')} and ${more} more` : states.join(', ')
}

function bad(plug: Plug, what: string): BadAnswer {
  return { ok: false, error: `plug ${plug.name} ${what}` }
}

function isDelay(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
