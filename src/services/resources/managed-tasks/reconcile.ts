/** Reconciles the managed tasks of one resource. Idempotent. */
import { createHash } from 'node:crypto'
import { AppError, FORBIDDEN_KEYS, isPlainObject, type Json, messageOf } from '#kernel'
import type { ResourceCollections } from '../collections.ts'
import type { ManagedTasks, ResourceEntity, WantedTask } from '../contract.ts'

export interface Failure {
  readonly type: string
  readonly templateName: string
  readonly error: string
}

export type Existing = Awaited<ReturnType<ManagedTasks['of']>>

/** Returns failures instead of throwing them; rejects only if the call must be repeated. */
export async function reconcile(
  { resources, types }: ResourceCollections,
  tasks: ManagedTasks,
  id: string,
  existing: Existing,
): Promise<readonly Failure[]> {
  const resource = (await resources.get(id))?.value.own
  const typeId = resource?.['resourceTypeId']
  const type = typeof typeId === 'string' ? (await types.get(typeId))?.value : undefined
  const rights = type?.rights
  const missing = new Map(wantedTasks(resource, type?.own).map((wanted) => [wanted.key, wanted]))
  for (const task of existing) {
    const wanted = missing.get(task.key)
    // keep the first task of each key; a crash between two makers may have left a second task
    if (wanted?.type === task.type) missing.delete(task.key)
    else await tasks.remove(task.taskId)
  }
  const failures: Failure[] = []
  for (const wanted of missing.values()) {
    try {
      await tasks.make({ ...wanted, ...(rights && { rights }) })
    } catch (error) {
      if (isClosed(error)) throw error
      failures.push({ type: wanted.type, templateName: wanted.templateName, error: messageOf(error) })
    }
  }
  return failures
}

export function isClosed(error: unknown): boolean {
  return error instanceof AppError && error.code === 'CLOSED'
}

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
