/** Checks and copies units of work, reporting all problems at once. */
import { isPlainObject, JsonText, kindOf, messageOf } from '#kernel'
import { checkName, checkText, checkWhole } from './check-text.ts'
import type { Expectation, Write } from './contract.ts'
import { AUDIT_COLLECTION, MAX_BODIES, MAX_JSON_BYTES, MAX_NAME_BYTES, MAX_WRITES } from './limits.ts'
import { Problems } from './problems.ts'
import { type FieldValue, type KnownSpec, readFields, type Specs } from './spec.ts'

/** A write in the form that a medium receives: documents as JSON text, with their fields computed. */
export type PreparedWrite =
  | {
      readonly kind: 'put'
      readonly known: KnownSpec
      readonly id: string
      readonly text: string
      /** values by index of the field */
      readonly fields: readonly FieldValue[]
      readonly expect: Expectation
    }
  | { readonly kind: 'delete'; readonly known: KnownSpec; readonly id: string; readonly expect: Expectation }
  | { readonly kind: 'expect'; readonly known: KnownSpec; readonly id: string; readonly expect: number }
  | { readonly kind: 'append'; readonly log: string; readonly texts: readonly string[] }

/** Paths of issues begin with the index of the write. */
export function prepareWrites(writes: readonly Write[], specs: Specs): readonly PreparedWrite[] {
  const problems = new Problems()
  const count = writes.length > MAX_WRITES ? changesIn(writes) : writes.length
  if (count > MAX_WRITES) {
    problems.tooLarge('', `${count} writes are too many for one unit`, `at most ${MAX_WRITES}`)
    problems.throwIfAny('The unit of work')
  }
  const prepared = writes.flatMap((write, i) => {
    const one = prepareWrite(write, `/${i}`, specs, problems)
    return one === undefined ? [] : [one]
  })
  problems.throwIfAny('The unit of work')
  return prepared
}

/** Counts the writes of the caller that have an effect, and half of the others, which stores add. */
function changesIn(writes: readonly Write[]): number {
  const changes = writes.filter((write) => write.kind !== 'expect' && !isEntry(write)).length
  return Math.max(changes, Math.ceil(writes.length / 2))
}

function isEntry(write: Write): boolean {
  return write.kind === 'put' && write.collection.name === AUDIT_COLLECTION
}

function prepareWrite(write: Write, base: string, specs: Specs, problems: Problems): PreparedWrite | undefined {
  if (write.kind === 'append') return prepareAppend(write, base, problems)
  const known = specs.know(write.collection)
  const { id, expect } = write
  const named = checkText(id, `${base}/id`, 'an id', { max: MAX_NAME_BYTES }, problems)
  if (write.kind === 'expect') {
    const expected = checkWhole(write.expect, `${base}/expect`, { min: 1, max: Number.MAX_SAFE_INTEGER }, problems)
    return named && expected ? { kind: 'expect', known, id, expect: write.expect } : undefined
  }
  const expectable = checkExpectation(expect, `${base}/expect`, problems)
  if (write.kind === 'delete') return named && expectable ? { kind: 'delete', known, id, expect } : undefined
  const path = `${base}/value`
  if (!isPlainObject(write.value)) {
    problems.wrong(path, `a document of ${known.name} is a plain object, not ${kindOf(write.value)}`)
    return undefined
  }
  const text = jsonText(write.value, path, problems)
  if (text === undefined) return undefined
  const before = problems.count
  const fields = readFields(known, write.value, path, problems)
  return named && expectable && problems.count === before ? { kind: 'put', known, id, text, fields, expect } : undefined
}

function prepareAppend(
  write: Extract<Write, { kind: 'append' }>,
  base: string,
  problems: Problems,
): PreparedWrite | undefined {
  const { log, bodies } = write
  const before = problems.count
  checkName(log, `${base}/log`, 'a log', problems)
  if (!Array.isArray(bodies) || bodies.length === 0) {
    problems.wrong(`${base}/bodies`, 'the append has no bodies', 'use a list of at least one body')
    return undefined
  }
  if (bodies.length > MAX_BODIES) {
    problems.tooLarge(`${base}/bodies`, `${bodies.length} bodies are too many for one append`, `at most ${MAX_BODIES}`)
    return undefined
  }
  const texts = bodies.map((body, i) => jsonText(body, `${base}/bodies/${i}`, problems) ?? '')
  return problems.count === before ? { kind: 'append', log, texts } : undefined
}

function checkExpectation(expect: unknown, path: string, problems: Problems): expect is Expectation {
  if (expect === 'any' || expect === 'absent') return true
  if (typeof expect === 'number') return checkWhole(expect, path, { min: 1, max: Number.MAX_SAFE_INTEGER }, problems)
  problems.wrong(
    path,
    `${typeof expect === 'string' ? JSON.stringify(expect) : kindOf(expect)} is not a valid expectation`,
    'use a version, "absent" or "any"',
  )
  return false
}

/** Undefined when the value has no JSON form. */
export function jsonText(value: unknown, path: string, problems: Problems): string | undefined {
  let text: string | undefined
  try {
    text = value instanceof JsonText ? value.text : JSON.stringify(value)
  } catch (error) {
    problems.wrong(path, `is not JSON: ${messageOf(error)}`, 'use plain JSON')
    return undefined
  }
  if (text === undefined) {
    problems.wrong(path, `${kindOf(value)} is not JSON`, 'use plain JSON')
    return undefined
  }
  // UTF-8 takes at most three bytes per UTF-16 unit
  const bytes = text.length * 3 > MAX_JSON_BYTES ? Buffer.byteLength(text) : 0
  if (bytes <= MAX_JSON_BYTES) return text
  problems.tooLarge(path, `has ${bytes} bytes as JSON`, `at most ${MAX_JSON_BYTES} are kept`)
  return undefined
}
