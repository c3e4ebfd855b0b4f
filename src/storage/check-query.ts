/** Checks queries of a collection. */
import { kindOf } from '#kernel'
import { checkText, checkWhole, isStorable } from './check-text.ts'
import type { Condition, Query } from './contract.ts'
import {
  DEFAULT_LIMIT,
  MAX_ANY_DEPTH,
  MAX_CONDITIONS,
  MAX_FIELD_BYTES,
  MAX_GET_MANY,
  MAX_IN,
  MAX_LIMIT,
  MAX_NAME_BYTES,
  MAX_SORT_FIELDS,
  MAX_STARS,
} from './limits.ts'
import { Problems } from './problems.ts'
import type { FieldType, KnownField, KnownSpec } from './spec.ts'

export interface CheckedQuery {
  readonly where: readonly Condition[]
  readonly sort: readonly { readonly field: KnownField | 'id'; readonly descending: boolean }[]
  readonly offset: number
  readonly limit: number
  readonly afterId: string | undefined
}

const COMPARING = ['eq', 'ne', 'in', 'gt', 'gte', 'lt', 'lte', 'exists']
const OPERATORS: Readonly<Record<FieldType, ReadonlySet<string>>> = {
  text: new Set([...COMPARING, 'contains', 'startsWith', 'like']),
  number: new Set(COMPARING),
  texts: new Set(['eq', 'in', 'exists']),
  place: new Set(['box', 'exists']),
}

export function checkQuery(known: KnownSpec, query: Query): CheckedQuery {
  const problems = new Problems()
  const where = query.where ?? []
  new Conditions(known, problems).check(where, '/where', 0)
  const sort = checkSort(known, query.sort ?? [], problems)
  const { offset = 0, limit = DEFAULT_LIMIT, afterId } = query
  checkWhole(offset, '/offset', { min: 0, max: Number.MAX_SAFE_INTEGER }, problems)
  checkWhole(limit, '/limit', { min: 0, max: MAX_LIMIT }, problems)
  if (afterId !== undefined) {
    checkText(afterId, '/afterId', 'an id', { max: MAX_NAME_BYTES, empty: true }, problems)
    if (sort.length > 0) problems.wrong('/afterId', 'a walk by id cannot have another order', 'omit sort or afterId')
  }
  problems.throwIfAny(`The query of ${known.name}`)
  return { where, sort, offset, limit, afterId }
}

export function checkWhere(known: KnownSpec, where: readonly Condition[] = []): readonly Condition[] {
  const problems = new Problems()
  new Conditions(known, problems).check(where, '', 0)
  problems.throwIfAny(`The query of ${known.name}`)
  return where
}

/** Returns the text field whose values `countBy` counts. */
export function checkCountField(known: KnownSpec, name: string): KnownField {
  const field = known.byName.get(name)
  if (field?.type === 'text') return field
  const problems = new Problems()
  problems.wrong(
    '/field',
    `${name} is not a text field of ${known.name}`,
    suggestFields(known, (one) => one.type === 'text'),
  )
  problems.throwIfAny(`The count of ${known.name}`)
  throw new Error('a problem was reported')
}

export function checkIds(ids: readonly string[]): readonly string[] {
  const problems = new Problems()
  if (ids.length > MAX_GET_MANY)
    problems.tooLarge('/ids', `are ${ids.length}`, `request at most ${MAX_GET_MANY} at once`)
  problems.throwIfAny('The list of ids')
  return ids.filter(isId)
}

export function isId(id: string): boolean {
  return isStorable(id, MAX_NAME_BYTES)
}

function checkSort(known: KnownSpec, sort: NonNullable<Query['sort']>, problems: Problems): CheckedQuery['sort'] {
  if (sort.length > MAX_SORT_FIELDS)
    problems.tooLarge('/sort', `has ${sort.length} fields`, `at most ${MAX_SORT_FIELDS}`)
  return sort.flatMap(({ field: name, descending = false }, i): CheckedQuery['sort'] => {
    if (name === 'id') return [{ field: name, descending }]
    const field = known.byName.get(name)
    if (field?.type === 'text' || field?.type === 'number') return [{ field, descending }]
    const message =
      field === undefined
        ? `${known.name} has no field ${name}`
        : `${name} is of type ${field.type}, which has no order`
    problems.wrong(
      `/sort/${i}/field`,
      message,
      suggestFields(known, (one) => one.type === 'text' || one.type === 'number'),
    )
    return []
  })
}

function suggestFields(known: KnownSpec, fits: (field: KnownField) => boolean): string {
  const names = known.fields.filter(fits).map((field) => field.name)
  return names.length === 0 ? 'no index matches' : `use one of ${names.join(', ')}`
}

class Conditions {
  readonly #known: KnownSpec
  readonly #problems: Problems
  #count = 0

  constructor(known: KnownSpec, problems: Problems) {
    this.#known = known
    this.#problems = problems
  }

  check(where: readonly Condition[], path: string, depth: number): void {
    for (const [i, condition] of where.entries()) {
      this.#count += 1
      if (this.#count === MAX_CONDITIONS + 1) {
        this.#problems.tooLarge(
          path,
          'the query has too many conditions',
          `use at most ${MAX_CONDITIONS}, including nested ones`,
        )
      }
      if (this.#count > MAX_CONDITIONS) return
      const conditionPath = `${path}/${i}`
      if (!('any' in condition)) {
        this.#checkOne(condition, conditionPath)
      } else if (depth >= MAX_ANY_DEPTH) {
        this.#problems.wrong(conditionPath, 'any is nested too deep', `at most ${MAX_ANY_DEPTH} levels`)
      } else {
        for (const [j, list] of condition.any.entries()) {
          // an empty list counts as well, since many of them would be expensive for a medium
          this.#count += list.length === 0 ? 1 : 0
          this.check(list, `${conditionPath}/any/${j}`, depth + 1)
        }
      }
    }
  }

  #checkOne(condition: Exclude<Condition, { any: unknown }>, path: string): void {
    const { field, op } = condition
    const type = field === 'id' ? 'text' : this.#known.byName.get(field)?.type
    if (type === undefined) {
      this.#problems.wrong(
        `${path}/field`,
        `${this.#known.name} has no field ${field}`,
        suggestFields(this.#known, () => true),
      )
      return
    }
    if (!OPERATORS[type].has(op)) {
      this.#problems.wrong(
        `${path}/op`,
        `${op} is not supported for ${field}, which is of type ${type}`,
        `use ${[...OPERATORS[type]].join(', ')}`,
      )
      return
    }
    switch (op) {
      case 'exists':
        return
      case 'in':
        return this.#checkIn(type, condition.values, `${path}/values`)
      case 'like':
        return this.#checkPattern(condition.pattern, `${path}/pattern`)
      case 'box':
        return this.#checkBox(condition, path)
      default:
        this.#checkValue(type, condition.value, `${path}/value`)
    }
  }

  #checkValue(type: FieldType, value: unknown, path: string): boolean {
    if (type !== 'number')
      return checkText(value, path, 'a value of a text field', { max: MAX_FIELD_BYTES, empty: true }, this.#problems)
    if (typeof value === 'number' && Number.isFinite(value)) return true
    this.#problems.wrong(path, `is ${kindOf(value)}`, 'use a finite number')
    return false
  }

  #checkIn(type: FieldType, values: readonly unknown[], path: string): void {
    if (values.length > MAX_IN) return this.#problems.tooLarge(path, `are ${values.length}`, `use at most ${MAX_IN}`)
    for (const [i, value] of values.entries()) this.#checkValue(type, value, `${path}/${i}`)
  }

  #checkPattern(pattern: string, path: string): void {
    if (!checkText(pattern, path, 'a pattern', { max: MAX_FIELD_BYTES, empty: true }, this.#problems)) return
    const stars = pattern.split('*').length - 1
    if (stars > MAX_STARS) this.#problems.tooLarge(path, `has ${stars} stars`, `at most ${MAX_STARS}`)
  }

  #checkBox(box: Extract<Condition, { op: 'box' }>, path: string): void {
    const edges = [
      ['south', box.south, 90],
      ['north', box.north, 90],
      ['west', box.west, 180],
      ['east', box.east, 180],
    ] as const
    for (const [edge, value, most] of edges) {
      if (typeof value !== 'number' || !(Math.abs(value) <= most)) {
        this.#problems.wrong(
          `${path}/${edge}`,
          `${String(value)} is not a valid coordinate`,
          `use degrees from -${most} to ${most}`,
        )
      }
    }
    if (box.south > box.north)
      this.#problems.wrong(`${path}/south`, `${box.south} is north of ${box.north}`, 'swap south and north')
  }
}
