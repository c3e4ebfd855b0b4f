/** Names the things that calls touch, so that calls on one thing keep their order. */
import { seedOf } from '#kernel'
import { parseResource } from '../language/placeholders/resource.ts'
import type { TouchContext } from './plug.ts'

/** Number of groups per kind of thing. */
const GROUPS = 64

/**
 * Returns names for `touches`: the thing as `kind:name`, and its group. A call whose thing is unknown (`undefined`)
 * touches all groups, so that it keeps its order among all calls of that kind.
 */
export function touching(kind: string, thing: string | undefined): readonly string[] {
  if (thing !== undefined) return [`${kind}:${thing}`, groupOf(kind, seedOf(thing) % GROUPS)]
  return Array.from({ length: GROUPS }, (_, group) => groupOf(kind, group))
}

function groupOf(kind: string, group: number): string {
  return `${kind}#${group}`
}

export function touchingResource(named: string | undefined, context: TouchContext): readonly string[] {
  return touching('resource', touchedResource(named, context))
}

export function touchingAlarm(named: string | undefined, type: string, context: TouchContext): readonly string[] {
  const source = touchedResource(named, context)
  return touching('alarm', source === undefined ? undefined : `${source}/${type}`)
}

/**
 * Returns the resource of a call (`resourceOf`) if it is known before the call; undefined when a task variable names
 * it, and for `$`, since a node's resource may differ from its task's.
 */
function touchedResource(named: string | undefined, context: TouchContext): string | undefined {
  if (named === undefined || named === '') return context.resource
  try {
    const spec = parseResource(named)
    if (spec.kind === 'literal') return spec.id
    return spec.kind === 'taskId' ? context.taskId : undefined
  } catch {
    // the call itself will report the problem
    return undefined
  }
}
