/** From a command that came to the call of an actuator: what the resource says about it. Pure. */
import { FORBIDDEN_KEYS, isPlainObject, type Json, ownValue } from '#kernel'
import type { ResourceEntity } from '../contract.ts'
import { fillMetadata } from './fill-metadata.ts'

export interface PlannedCall {
  readonly name: string
  /** exact, or `latest` */
  readonly version: string
  readonly properties: Readonly<Record<string, Json>>
}

/** Members of a command that say what it is, not what to do it with. */
const NOT_PROPERTIES: ReadonlySet<string> = new Set(['name', 'timestamp', 'resource'])

/**
 * The call, or why there is none. The properties of the mapped actuator are defaults: what the command brings wins.
 * `resource`: with inherited values; undefined when there is none.
 */
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
    return { errorMessage: `Command '${textOf(name)}' of resource '${id}' names no actuator` }
  }
  const version = ownValue(actuator, 'version')
  const defaults = ownValue(actuator, 'properties')
  const own = Object.entries(command).filter(([key]) => !NOT_PROPERTIES.has(key) && !FORBIDDEN_KEYS.has(key))
  const merged = { ...(isPlainObject(defaults) && defaults), ...Object.fromEntries(own) } as Record<string, Json>
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
