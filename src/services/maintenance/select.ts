/** Decides which alarms and tasks a window is about, and whether two windows may be about the same. */
import { ownValue } from '#kernel'
import type { NewbornAlarm } from '#services/alarms/contract'
import type { WindowSelection } from './window-schema.ts'

export function isAboutAlarm(select: WindowSelection, { source, type, properties }: NewbornAlarm): boolean {
  const { types, query } = select
  return (
    (types === undefined || types.includes(type)) &&
    isAboutResource(select, source.id) &&
    hasValues(select.tags, source) &&
    hasValues(query, properties)
  )
}

export function isAboutTask(
  select: WindowSelection,
  { resource, tags }: { readonly resource?: string | undefined; readonly tags: object },
): boolean {
  return isAboutResource(select, resource) && hasValues(select.tags, tags)
}

/** False only if nothing can be selected by both. */
export function mayShare(one: WindowSelection, other: WindowSelection): boolean {
  const lists = ['resources', 'types'] as const
  if (lists.some((list) => areApart(one[list], other[list]))) return false
  return isReached(one, other) && isReached(other, one)
}

function isReached({ prefix }: WindowSelection, { resources, prefix: other }: WindowSelection): boolean {
  if (prefix === undefined) return true
  if (resources !== undefined) return resources.some((id) => id.startsWith(prefix))
  return other === undefined || other.startsWith(prefix) || prefix.startsWith(other)
}

function areApart(one: readonly string[] | undefined, other: readonly string[] | undefined): boolean {
  return one !== undefined && other !== undefined && !one.some((value) => other.includes(value))
}

function isAboutResource({ resources, prefix }: WindowSelection, id: string | undefined): boolean {
  if (resources !== undefined && (id === undefined || !resources.includes(id))) return false
  return prefix === undefined || id?.startsWith(prefix) === true
}

function hasValues(wanted: Readonly<Record<string, string>> | undefined, values: object | undefined): boolean {
  return Object.entries(wanted ?? {}).every(([name, value]) => String(ownValue(values, name)) === value)
}
