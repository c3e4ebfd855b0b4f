/**
 * Identifies the field lists of messages. Which sensors a message runs and which earlier values remain visible is
 * computed once per list or pair of lists, not per message.
 */
import type { Message } from '../task/origin.ts'
import type { Generate } from '../engine/executor.ts'

export interface Fields {
  /** index in the table */
  readonly id: number
  /** fields that are not undefined, in any order; never `__proto__` */
  readonly names: readonly string[]
  has(name: string): boolean
  /** Returns whether the message has exactly these fields. */
  match(message: Message): boolean
  /** Returns whether this list contains all of `fields`. */
  covers(fields: Fields): boolean
}

const MAX_LISTS = 250
const RECENT = 8

/** Stores the field lists of one engine. */
export class FieldsTable {
  readonly #generate: Generate
  readonly #all = new Map<string, Fields>()
  readonly #recent: Fields[] = []

  constructor(generate: Generate) {
    this.#generate = generate
  }

  /** Returns the fields of a message, or undefined if no row takes the message. */
  of(message: Message): Fields | undefined {
    for (const fields of this.#recent) if (fields.match(message)) return fields
    const fields = this.#find(message)
    if (fields === undefined || !fields.match(message)) return undefined
    this.#recent.unshift(fields)
    if (this.#recent.length > RECENT) this.#recent.pop()
    return fields
  }

  #find(message: Message): Fields | undefined {
    const names = Object.keys(message).filter((field) => message[field] !== undefined)
    if (names.includes('__proto__')) return undefined
    const key = JSON.stringify(names.toSorted())
    const known = this.#all.get(key)
    if (known !== undefined || this.#all.size >= MAX_LISTS) return known
    const made = fieldsOf(this.#all.size, names, this.#generate)
    this.#all.set(key, made)
    return made
  }
}

function fieldsOf(id: number, names: readonly string[], generate: Generate): Fields {
  const own = new Set(names)
  const match = generated(names, generate)
  const covered: (boolean | undefined)[] = []
  const covers = (fields: Fields): boolean => (covered[fields.id] ??= fields.names.every((name) => own.has(name)))
  return { id, names, has: (name) => own.has(name), match, covers }
}

/** Generates code that runs `leave` unless `message` has exactly `count` fields, including all of `names`. */
export function fieldsSource(count: number, names: readonly string[], leave: string): string {
  const missing = names.map((name) => `message[${JSON.stringify(name)}] === undefined`)
  return [
    // Looking up a name is cheaper than counting, and usually distinguishes the lists.
    ...(missing.length === 0 ? [] : [`if (${missing.join(' || ')}) ${leave}`]),
    'let fields = 0',
    'for (const _ in message) fields++',
    `if (fields !== ${count}) ${leave}`,
  ].join('\n')
}

function generated(names: readonly string[], generate: Generate): Fields['match'] {
  return generate(['message'], `${fieldsSource(names.length, names, 'return false')}\nreturn true`) as Fields['match']
}
