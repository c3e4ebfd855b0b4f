/** Plain JSON on its way into a medium: checked, bounded, and as the text that is kept. */
import { at, FORBIDDEN_KEYS, isPlainObject, JsonText } from '#kernel'
import { kindOf } from './check-text.ts'
import { MAX_JSON_BYTES, MAX_JSON_DEPTH } from './limits.ts'
import type { Problems } from './problems.ts'

/**
 * The text of a value, which parses to a copy of it without members that are `undefined`. Undefined when something is
 * wrong: then `problems` has all of it, each at its place under `path`.
 */
export function jsonText(value: unknown, path: string, problems: Problems): string | undefined {
  if (value instanceof JsonText) return bounded(value.text, path, problems)
  const before = problems.count
  new Walk(path, problems).visit(value)
  return problems.count > before ? undefined : bounded(JSON.stringify(value), path, problems)
}

function bounded(text: string, path: string, problems: Problems): string | undefined {
  if (text.length * 3 > MAX_JSON_BYTES) {
    const bytes = Buffer.byteLength(text)
    if (bytes > MAX_JSON_BYTES) {
      problems.tooLarge(path, `has ${bytes} bytes as JSON`, `at most ${MAX_JSON_BYTES} are kept`)
      return undefined
    }
  }
  return text
}

class Walk {
  readonly #root: string
  readonly #problems: Problems
  readonly #trail: (string | number)[] = []
  /** What is left of the bound at the least: a value that unfolds without end (one list in many places) uses it up. */
  #room = MAX_JSON_BYTES
  #over = false

  constructor(root: string, problems: Problems) {
    this.#root = root
    this.#problems = problems
  }

  visit(value: unknown): void {
    if (!this.#isLeaf(value)) this.#visitOther(value)
  }

  #visitOther(value: unknown): void {
    if (typeof value === 'number') return this.#wrong(`${value} is no number of JSON`, 'give a finite number or null')
    if (typeof value === 'object' && value !== null) return this.#visitInside(value)
    this.#wrong(`${kindOf(value)} is no JSON`, 'give plain JSON')
  }

  /** True when there is nothing inside of it, and nothing wrong with it, which holds for most. */
  #isLeaf(value: unknown): boolean {
    this.#room -= typeof value === 'string' ? value.length + 2 : 1
    if (this.#room < 0) {
      this.#tooLarge(this.#root, `has more than ${MAX_JSON_BYTES} bytes as JSON`)
      return true
    }
    return typeof value === 'string' || typeof value === 'boolean' || value === null || Number.isFinite(value)
  }

  #visitInside(value: object): void {
    if (this.#trail.length >= MAX_JSON_DEPTH) {
      return this.#tooLarge(this.#place(), `is nested more than ${MAX_JSON_DEPTH} deep, or holds itself`)
    }
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length && !this.#over; i += 1) this.#visitAt(i, value[i])
      return
    }
    if (!isPlainObject(value)) return this.#wrong('an instance of a class is no JSON', 'give a plain object')
    for (const key of Object.keys(value)) {
      if (this.#over) return
      if (FORBIDDEN_KEYS.has(key)) {
        this.#trail.push(key)
        this.#wrong(`the key ${key} is refused, because it reaches a prototype`, 'rename it')
        this.#trail.pop()
      } else if (value[key] !== undefined) {
        this.#room -= key.length + 3
        this.#visitAt(key, value[key])
      }
    }
  }

  /** Its place is noted only where somebody may have to be told of it. */
  #visitAt(key: string | number, value: unknown): void {
    if (this.#isLeaf(value)) return
    this.#trail.push(key)
    this.#visitOther(value)
    this.#trail.pop()
  }

  #wrong(message: string, suggestion: string): void {
    this.#problems.wrong(this.#place(), message, suggestion)
  }

  #tooLarge(path: string, message: string): void {
    this.#over = true
    this.#problems.tooLarge(path, message)
  }

  #place(): string {
    return at(this.#root, ...this.#trail)
  }
}
