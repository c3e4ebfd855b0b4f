/** Plans the actuator call for a command; `{{key}}` in properties stands for metadata of the resource. */
import { FORBIDDEN_KEYS, isPlainObject, type Json, ownValue } from '#kernel'
import type { ResourceEntity } from '../contract.ts'

export interface PlannedCall {
  readonly name: string
  /** an exact version, or `latest` */
  readonly version: string
  readonly properties: Readonly<Record<string, Json>>
}

const NOT_PROPERTIES: ReadonlySet<string> = new Set(['name', 'timestamp', 'resource'])

/** `resource` includes inherited values; properties of the mapped actuator are defaults for the command's. */
export function planCall(
  id: string,
  resource: ResourceEntity | undefined,
  command: Readonly<Record<string, Json>>,
): PlannedCall | { readonly errorMessage: string } {
  if (resource === undefined) return { errorMessage: `Resource '${id}' not found` }
  const { name } = command
  const entry = typeof name === 'string' ? commandOf(resource, name) : undefined
  if (entry === undefined) return { errorMessage: `Command '${textOf(name)}' not found for resource '${id}'` }
  const actuator = ownValue(entry, 'actuator')
  const plug = ownValue(actuator, 'name')
  if (typeof plug !== 'string' || plug === '') {
    return { errorMessage: `Command '${textOf(name)}' of resource '${id}' lacks an actuator` }
  }
  const version = ownValue(actuator, 'version')
  const defaults = ownValue(actuator, 'properties')
  const properties = Object.entries(command).filter(([key]) => !NOT_PROPERTIES.has(key) && !FORBIDDEN_KEYS.has(key))
  const merged = { ...(isPlainObject(defaults) && defaults), ...Object.fromEntries(properties) } as Record<string, Json>
  return {
    name: plug,
    version: typeof version === 'string' && version !== '' ? version : 'latest',
    properties: fillMetadata(merged, resource) as PlannedCall['properties'],
  }
}

function commandOf(resource: ResourceEntity, name: string): unknown {
  const { commands } = resource
  if (!Array.isArray(commands) || FORBIDDEN_KEYS.has(name)) return undefined
  for (const entry of commands as readonly Json[]) {
    const found = ownValue(entry, name)
    if (found !== undefined) return found
  }
  return undefined
}

function textOf(name: Json | undefined): string {
  return typeof name === 'string' ? name : JSON.stringify(name ?? null)
}

const OPEN = '{{'
const CLOSE = '}}'
const MAX_DEPTH = 100

/** A text that is a single placeholder becomes the metadata value itself; a missing value becomes the empty text. */
export function fillMetadata(value: Json, metadata: Readonly<Record<string, Json>>, depth = 0): Json {
  if (typeof value === 'string') return fillText(value, metadata)
  if (depth >= MAX_DEPTH) return value
  if (Array.isArray(value)) return value.map((item: Json) => fillMetadata(item, metadata, depth + 1))
  if (!isPlainObject(value)) return value
  const filled = Object.entries(value).flatMap(([key, part]) =>
    FORBIDDEN_KEYS.has(key) ? [] : [[key, fillMetadata(part, metadata, depth + 1)] as const],
  )
  return Object.fromEntries(filled)
}

function fillText(text: string, metadata: Readonly<Record<string, Json>>): Json {
  const parts: Json[] = []
  let at = 0
  for (;;) {
    const open = text.indexOf(OPEN, at)
    const close = open < 0 ? -1 : text.indexOf(CLOSE, open + OPEN.length)
    if (close < 0) break
    if (open > at) parts.push(text.slice(at, open))
    parts.push(read(metadata, text.slice(open + OPEN.length, close).trim()))
    at = close + CLOSE.length
  }
  if (parts.length === 0) return text
  if (at < text.length) parts.push(text.slice(at))
  return parts.length === 1 ? (parts[0] ?? '') : parts.map(shown).join('')
}

function read(metadata: Readonly<Record<string, Json>>, key: string): Json {
  const whole = ownValue(metadata, key)
  if (whole !== undefined) return (whole as Json) ?? ''
  let value: unknown = metadata
  for (const part of key.split('.')) value = FORBIDDEN_KEYS.has(part) ? undefined : ownValue(value, part)
  return (value as Json | undefined) ?? ''
}

function shown(value: Json): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '')
}
