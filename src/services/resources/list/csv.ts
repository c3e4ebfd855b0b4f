/** Resources as CSV. */
import type { ResourceEntity } from '../contract.ts'
import { csvText, withoutFormula } from '#kernel'
import { valueAt } from './project.ts'

/** One line of names, then a line for each resource; lists and objects as JSON (RFC 4180). */
export function csvOf(fields: readonly string[], entities: readonly ResourceEntity[]): string {
  const lines = entities.map((entity) => fields.map((field) => cellOf(valueAt(entity, field))).join(','))
  return [fields.map(cellOf).join(','), ...lines].map((line) => `${line}\r\n`).join('')
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const safe = typeof value === 'string' ? withoutFormula(text) : text
  return csvText(safe)
}
