/** Which fields a message has: rows take messages only as long as all have the same. */
import type { Message } from '../task/origin.ts'
import type { Generate } from '../engine/executor.ts'

export interface Fields {
  /** those that are not undefined; never `__proto__` */
  readonly names: readonly string[]
  /** Whether a message has just these. */
  match(message: Message): boolean
}

/** The fields of a message; undefined for one that no row takes. */
export function fieldsOf(message: Message, generate: Generate | undefined): Fields | undefined {
  const names = fieldNames(message)
  if (names.includes('__proto__')) return undefined
  return { names, match: generate === undefined ? interpreted(names) : generated(names, generate) }
}

export function fieldNames(message: Message): readonly string[] {
  return Object.keys(message).filter((field) => message[field] !== undefined)
}

/** Source that leaves when `message` has more or fewer fields, or one of those named is missing. */
export function fieldsSource(count: number, names: readonly string[], leave: string): string {
  const missing = names.map((name) => `message[${JSON.stringify(name)}] === undefined`)
  return [
    'let fields = 0',
    'for (const _ in message) fields++',
    `if (${[`fields !== ${count}`, ...missing].join(' || ')}) ${leave}`,
  ].join('\n')
}

function generated(names: readonly string[], generate: Generate): Fields['match'] {
  return generate(['message'], `${fieldsSource(names.length, names, 'return false')}\nreturn true`) as Fields['match']
}

function interpreted(names: readonly string[]): Fields['match'] {
  return (message) => {
    let fields = 0
    for (const _ in message) fields++
    if (fields !== names.length) return false
    for (const name of names) if (message[name] === undefined) return false
    return true
  }
}
