/** Collects the facts about messages that a programmer would use in code for exactly these messages. */
import type { Message } from '#core'

export interface ParameterFacts {
  readonly always: boolean
  /** kind of the values; `holes`: numbers, with some null or NaN */
  readonly kind: 'number' | 'holes' | 'boolean' | 'other'
}

export class MessageFacts {
  readonly #messages: readonly Message[]
  readonly #known = new Map<string, ParameterFacts>()
  readonly #hasOneOf = new Map<string, boolean>()

  constructor(messages: readonly Message[]) {
    this.#messages = messages
  }

  of(parameter: string): ParameterFacts {
    const known = this.#known.get(parameter)
    if (known !== undefined) return known
    const facts = this.#look(parameter)
    this.#known.set(parameter, facts)
    return facts
  }

  hasOneOf(parameters: readonly string[]): boolean {
    const key = JSON.stringify(parameters)
    const known = this.#hasOneOf.get(key)
    if (known !== undefined) return known
    const has =
      parameters.some((parameter) => this.of(parameter).always) ||
      this.#messages.every((message) => parameters.some((parameter) => message[parameter] !== undefined))
    this.#hasOneOf.set(key, has)
    return has
  }

  #look(parameter: string): ParameterFacts {
    let always = true
    const kinds = new Set<ParameterFacts['kind']>()
    for (const message of this.#messages) {
      const value = message[parameter]
      if (value === undefined) always = false
      else kinds.add(kindOf(value))
    }
    const [first = 'number', ...more] = kinds
    if (more.length === 0) return { always, kind: first }
    const isNumeric = [first, ...more].every((kind) => kind === 'number' || kind === 'holes')
    return { always, kind: isNumeric ? 'holes' : 'other' }
  }
}

function kindOf(value: unknown): ParameterFacts['kind'] {
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value === 'number' && Number.isFinite(value)) return 'number'
  return value === null || typeof value === 'number' ? 'holes' : 'other'
}
