/** Derives the tasks that a resource must have from the templates of its type. Pure. */
import { createHash } from 'node:crypto'
import { FORBIDDEN_KEYS, isPlainObject, type Json } from '#kernel'
import type { ResourceEntity, WantedTask } from '../contract.ts'

/** Settings determined by resource and entry; the entry cannot override them. */
const NOT_SETTINGS: ReadonlySet<string> = new Set([
  'templateName',
  'diagnosticTemplate',
  'template',
  'resource',
  'name',
  'start',
])

/** One task per entry in `templates` except diagnostic ones; equal entries require one task each. */
export function wantedTasks(
  resource: ResourceEntity | undefined,
  type: ResourceEntity | undefined,
): readonly WantedTask[] {
  if (resource === undefined || type === undefined || resource['resourceTypeId'] !== type.id) return []
  return entriesOf(type).map((entry) => ({ resource: resource.id, type: type.id, ...entry }))
}

export function entriesOf(type: ResourceEntity): readonly Pick<WantedTask, 'key' | 'templateName' | 'settings'>[] {
  const { templates } = type
  if (!Array.isArray(templates)) return []
  const seen = new Map<string, number>()
  return templates.flatMap((entry: Json) => {
    if (!isPlainObject(entry) || entry['diagnosticTemplate'] === true) return []
    const templateName = entry['templateName']
    if (typeof templateName !== 'string' || templateName === '') return []
    const settings = settingsOf(entry)
    const plain = keyOf(type.id, templateName, settings)
    const count = (seen.get(plain) ?? 0) + 1
    seen.set(plain, count)
    return [{ key: count === 1 ? plain : `${plain}-${count}`, templateName, settings }]
  })
}

function settingsOf(entry: Readonly<Record<string, unknown>>): WantedTask['settings'] {
  const kept = Object.entries(entry).filter(([key]) => !NOT_SETTINGS.has(key) && !FORBIDDEN_KEYS.has(key))
  return Object.fromEntries(kept) as WantedTask['settings']
}

/** Makes a key that does not depend on the order of the settings. */
function keyOf(type: string, templateName: string, settings: WantedTask['settings']): string {
  const text = JSON.stringify([type, templateName, ordered(settings)])
  return createHash('sha256').update(text).digest('base64url').slice(0, KEY_LENGTH)
}

const KEY_LENGTH = 22

function ordered(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => ordered(item))
  if (!isPlainObject(value)) return value
  const entries = Object.entries(value as Record<string, Json>)
  return Object.fromEntries(entries.toSorted(byKey).map(([key, part]) => [key, ordered(part)]))
}

function byKey([a]: readonly [string, Json], [b]: readonly [string, Json]): number {
  return a < b ? -1 : a > b ? 1 : 0
}
