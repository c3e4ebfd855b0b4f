/** Provides named actuator results of all kinds: those that rows keep, those they cannot keep, and invalid ones. */
import type { PlugAnswer, PlugContext } from '../../src/core/plug/plug.ts'

/** Results that a row keeps. */
export const ORDINARY_ANSWERS = ['message', 'raw data', 'both', 'the same object', 'nothing in it'] as const
export const ODD_ANSWERS = [
  'null',
  'a number',
  'a state',
  'no state',
  'an older state',
  'no text',
  'after',
  'after nothing',
  'then',
  'memory',
  'a list as raw data',
  'reserved',
  'bigint',
  'a date within',
  'no number',
  'a thenable',
  'without prototype',
  'of a class',
  'later message',
  'later nonsense',
] as const

export type AnswerName = (typeof ORDINARY_ANSWERS)[number] | (typeof ODD_ANSWERS)[number]

class Said {
  readonly message = 'of a class'
}

/** Returned repeatedly, and changed in between. */
const same = { message: '', rawData: { told: '' } }

/**
 * Includes the time of the message, which reveals a result of another message. `later`: wraps the result in a promise.
 */
export function answerNamed(
  name: AnswerName,
  context: Pick<PlugContext, 'now' | 'streamValue'>,
  later: <T>(answer: T) => Promise<T>,
): PlugAnswer<never> | PromiseLike<PlugAnswer<never>> {
  const { now } = context
  const message = `at ${now}`
  const answers: Readonly<Record<AnswerName, () => unknown>> = {
    message: () => ({ message }),
    'raw data': () => ({ rawData: { now, a: context.streamValue('a') } }),
    both: () => ({ rawData: { now }, message }),
    'the same object': () => Object.assign(same, { message, rawData: { told: message } }),
    'nothing in it': () => ({ other: now }),
    null: () => null,
    'a number': () => now,
    'a state': () => ({ state: 'High', message }),
    'no state': () => ({ state: undefined, observedState: null, message }),
    'an older state': () => ({ observedState: 'High', message }),
    'no text': () => ({ message: now }),
    after: () => ({ message, after: 3 }),
    'after nothing': () => ({ message, after: 0 }),
    then: () => ({ message, then: { message: 'then', after: 2 } }),
    memory: () => ({ message, internalState: { now } }),
    'a list as raw data': () => ({ rawData: [now] }),
    reserved: () => ({ rawData: { constructor: now }, message }),
    bigint: () => ({ rawData: { now: BigInt(now) } }),
    'a date within': () => ({ rawData: { list: [{ at: new Date(now) }] }, message }),
    'no number': () => ({ rawData: { now: Number.NaN }, message }),
    // Calls back at once, several times, and returns nothing.
    'a thenable': () => ({
      then(fulfil: (answer: unknown) => void) {
        fulfil({ message })
        fulfil({ message: 'again' })
      },
    }),
    'without prototype': () => ({ __proto__: null, message }),
    'of a class': () => new Said(),
    'later message': () => later({ message }),
    'later nonsense': () => later(now),
  }
  return answers[name]() as PlugAnswer<never>
}

export function isAnswerName(name: unknown): name is AnswerName {
  return [...ORDINARY_ANSWERS, ...ODD_ANSWERS].some((one) => one === name)
}
