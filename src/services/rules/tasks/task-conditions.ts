/** Converts the filters of a listing to query conditions on stored tasks. */
import type { Condition, Query } from '#storage'
import type { TaskFilter } from './task-schema.ts'
import { tagKey } from './task-record.ts'

export const NEWEST_FIRST: NonNullable<Query['sort']> = [{ field: 'createTime', descending: true }]

export function taskConditions(where: TaskFilter): readonly Condition[] {
  const conditions: Condition[] = []
  const equals = (field: string, value: string | number | undefined): void => {
    if (value !== undefined) conditions.push({ field, op: 'eq', value })
  }
  if (where.ids !== undefined) conditions.push({ field: 'id', op: 'in', values: where.ids })
  equals('status', where.status)
  equals('type', where.type)
  equals('resource', where.resource)
  if (where.resources !== undefined) conditions.push(oneOf('resource', where.resources))
  equals('user', where.user)
  if (where.name !== undefined) conditions.push(nameCondition(where.name))
  if (where.template === null) conditions.push({ field: 'template', op: 'exists', value: false })
  else equals('template', where.template)
  equals('templateVersion', where.templateVersion?.toString())
  if (where.plugin !== undefined) equals('plug', where.plugin.replace('@', ':'))
  if (where.createdAfter !== undefined) conditions.push({ field: 'createTime', op: 'gt', value: where.createdAfter })
  if (where.createdBefore !== undefined) conditions.push({ field: 'createTime', op: 'lt', value: where.createdBefore })
  if (where.finishedBefore !== undefined) {
    conditions.push({ field: 'finishedTime', op: 'lt', value: where.finishedBefore })
  }
  conditions.push(...tagConditions(where))
  conditions.push(...wordConditions(where.filter))
  return conditions
}

export function nameCondition(name: string): Condition {
  return name.includes('*') ? { field: 'name', op: 'like', pattern: name } : { field: 'name', op: 'eq', value: name }
}

const AT_ONCE = 1000

function oneOf(field: string, values: readonly string[]): Condition {
  if (values.length <= AT_ONCE) return { field, op: 'in', values }
  const count = Math.ceil(values.length / AT_ONCE)
  const parts = Array.from({ length: count }, (_, part) => values.slice(part * AT_ONCE, (part + 1) * AT_ONCE))
  return { any: parts.map((some) => [{ field, op: 'in', values: some }]) }
}

/** Every tag in `tags`, with one of its listed values, and at least one of `tagKeys`. */
export function tagConditions({ tags = [], tagKeys }: Pick<TaskFilter, 'tags' | 'tagKeys'>): readonly Condition[] {
  const byKey = new Map<string, string[]>()
  for (const { key, value } of tags) byKey.set(key, [...(byKey.get(key) ?? []), tagKey(key, value)])
  const each = [...byKey.values(), ...(tagKeys === undefined ? [] : [tagKeys.map((key) => tagKey(key))])]
  return each.map((values): Condition => ({ field: 'tag', op: 'in', values }))
}

export function wordConditions(filter: string | undefined): readonly Condition[] {
  const words = (filter ?? '').split(/\s+/).filter((word) => word !== '')
  return words.slice(0, MAX_WORDS).map((value) => ({ field: 'words', op: 'contains', value }))
}

const MAX_WORDS = 20
