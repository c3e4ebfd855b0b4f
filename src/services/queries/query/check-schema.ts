/** Holds a query against its JSON Schema, and says what is wrong in words of ours. */
import type { TSchema } from 'typebox'
import { type Issues, ownValue, shown, stepsOf } from '#kernel'
import { allErrors } from '#services/shared'

/** of one query */
const MAX_ISSUES = 100

export function checkSchema(schema: TSchema, value: unknown, issues: Issues, path = ''): void {
  const errors = allErrors(schema, value)
  const places = [...new Set(errors.map(({ instancePath }) => instancePath))]
  // what a part says is enough: that the whole does not fit follows
  const deepest = places.filter((place) => !places.some((other) => other.startsWith(`${place}/`)))
  for (const place of deepest.slice(0, MAX_ISSUES)) {
    const error = errors.findLast(({ instancePath }) => instancePath === place)
    const part = partOf(value, place)
    const { title, description } = errors.length === 0 ? {} : wordsOf(schema, value, stepsOf(place))
    if (error?.keyword === 'required' || error?.keyword === 'additionalProperties') {
      issues.wrong(`${path}${place}`, `${shown(part)} does not fit: ${error.message}`, formOf(description))
    } else {
      issues.wrong(`${path}${place}`, `${shown(part)} is no ${title ?? 'part of a query'}`, formOf(description))
    }
  }
}

interface Words {
  readonly title?: string
  readonly description?: string
}

interface Node extends Words {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
  readonly anyOf?: readonly Node[]
  readonly enum?: readonly unknown[]
}

/** The words of the schema at a place, that of the nearest part around it which has some. */
function wordsOf(schema: TSchema, value: unknown, steps: readonly string[]): Words {
  let node: Node | undefined = schema
  let words: Words = {}
  let part = value
  for (const step of ['', ...steps]) {
    if (step !== '') {
      node = branchOf(node, part)
      part = ownValue(part, step)
      node = Array.isArray(node?.items) ? undefined : (node?.properties?.[step] ?? node?.items)
    }
    if (node?.description !== undefined || node?.title !== undefined) words = node
  }
  return words
}

/** Of several forms, that of the value's kind. */
function branchOf(node: Node | undefined, value: unknown): Node | undefined {
  const kind = Array.isArray(value) ? 'array' : typeof value
  return node?.anyOf?.find(({ type }) => type === kind) ?? node
}

function partOf(value: unknown, place: string): unknown {
  return stepsOf(place).reduce<unknown>((part, step) => ownValue(part, step), value)
}

function formOf(description: string | undefined): string | undefined {
  return description === undefined ? undefined : `give ${description}`
}
